"""Killed at the two sides of a commit. The disk is stopped to hit them exactly: see labkit/disk.py."""

from labkit import disk
from labkit.kinds import CUFF, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.tags import tag
from labkit.waiting import expect_equal

TITLE = "killed before the commit: given again; between commit and confirmation: given again, one record"
LIMIT_S = 300
RESTARTS = 3


def run(lab):
    before = lab.add("cuff-before-commit", CUFF)
    after = lab.add("cuff-after-commit", CUFF)
    undated = lab.add("thermometer-after-commit", THERMOMETER)
    lab.gateway.start(before, after, undated)

    payload = blood_pressure((121, 0), (79, 0), (93, 0), DateTime(2024, 3, 1, 8, 0, 0))
    kill_during_commit(lab, before, payload, disk.frozen)
    expect_equal(outcome(lab, before), ["read"], "events of the reading that was not committed")

    payload = blood_pressure((122, 0), (80, 0), (94, 0), DateTime(2024, 3, 1, 8, 5, 0))
    kill_during_commit(lab, after, payload, disk.unsynced)
    lab.journal.wait("duplicate-ignored", after)
    expect_equal(outcome(lab, after), ["read", "duplicate-ignored"], "events of the committed reading")

    kill_during_commit(lab, undated, temperature(3712, -2), disk.unsynced)
    lab.journal.wait("duplicate-ignored", undated)
    expect_equal(outcome(lab, undated), ["read", "duplicate-ignored"], "events of the committed undated reading")


def kill_during_commit(lab, peripheral, payload, stopped_disk):
    """Kills ingestd in the commit of this reading; returns when the reading was given again and delivered."""
    peripheral.hold()
    peripheral.give(payload)
    peripheral.wait_subscribed()
    with stopped_disk():
        peripheral.hold(False)
        peripheral.wait_indicated(1)
        disk.wait_blocked(lab.gateway)
        pid = lab.gateway.kill()
    lab.gateway.wait_restarted(pid)
    peripheral.wait_given()
    expect_equal([reading for _, reading in peripheral.given], [payload], "readings given")
    first = peripheral.links[0]
    confirmations = [pdu for _, direction, pdu in first["pdus"] if direction == ">" and pdu == "1e"]
    expect_equal(confirmations, [], "confirmations on the link that the kill ended")
    record, = lab.receiver.wait(peripheral)
    lab.journal.wait("submitted", peripheral, record_id=tag(record["id"]))


def outcome(lab, peripheral):
    """What became of the reading; an event that a crash repeated has its number twice, and counts once."""
    entries = {entry["INGEST_SEQ"]: entry["INGEST_EVENT"] for entry in lab.journal.events(peripheral=peripheral)
               if entry["INGEST_EVENT"] in ("read", "duplicate-ignored", "decode-error")}
    return list(entries.values())
