"""Killed at the two sides of a commit. The disk is stopped to hit them exactly: see labkit/disk.py."""

from labkit import disk
from labkit.kinds import CUFF, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.tags import tag
from labkit.waiting import Failure, expect, expect_equal

TITLE = "killed before the commit: given again; between commit and confirmation: given again, one record"
LIMIT_S = 300
RESTARTS = 3
TRIES = 3


def run(lab):
    before = lab.add("cuff-before-commit", CUFF)
    after = lab.add("cuff-after-commit", CUFF)
    undated = lab.add("thermometer-after-commit", THERMOMETER)
    lab.gateway.start(before, after, undated)

    payload = blood_pressure((121, 0), (79, 0), (93, 0), DateTime(2024, 3, 1, 8, 0, 0))
    link = give_held(lab, before, payload)
    with disk.frozen():
        pid = kill_blocked(lab, before, link)
        expect(not disk.log_has(payload), "a commit that was not begun is in the log")
    expect_given_again(lab, before, [payload], link, pid)
    expect_equal(outcome(lab, before), ["read"], "events of the reading that was not committed")

    kill_after_commit(lab, after, [blood_pressure((122, 0), (80, 0), (94, 0), DateTime(2024, 3, 1, 8, minute, 0))
                                   for minute in range(5, 5 + TRIES)])
    kill_after_commit(lab, undated, [temperature(3712 + number, -2) for number in range(TRIES)])


def kill_after_commit(lab, peripheral, payloads):
    """Kills ingestd when a commit is whole in the log. A reading whose commit waits for another one is read as any
    other is, and the next one is tried.
    """
    for number, payload in enumerate(payloads):
        link = give_held(lab, peripheral, payload)
        with disk.unsynced():
            pid = kill_blocked(lab, peripheral, link, unless=lambda: not disk.unsynced_log_has(payload))
        if pid:
            expect_given_again(lab, peripheral, payloads[:number + 1], link, pid)
            lab.journal.wait("duplicate-ignored", peripheral)
            expect_equal(outcome(lab, peripheral), ["read"] * number + ["read", "duplicate-ignored"],
                         "events of the committed reading and of those before it")
            return
        lab.journal.wait("submitted", peripheral, count=number + 1)
        peripheral.wait_link_ended(link)
    raise Failure(f"each of {len(payloads)} commits waited for another one")


def give_held(lab, peripheral, payload):
    """Returns the number of the link on which the reading waits."""
    peripheral.hold()
    peripheral.give(payload)
    peripheral.wait_subscribed()
    disk.wait_quiet()
    return len(peripheral.links)


def kill_blocked(lab, peripheral, link, unless=lambda: False):
    """Lets the reading go, waits until its commit hangs in the disk and kills ingestd, unless that is in vain. Returns
    the number of the process that was killed.
    """
    peripheral.hold(False)
    peripheral.wait_indicated(link)
    disk.wait_blocked(lab.gateway)
    return None if unless() else lab.gateway.kill()


def expect_given_again(lab, peripheral, payloads, killed_link, pid):
    """Returns when the last reading was given on a later link than the one that the kill ended, and was delivered."""
    lab.gateway.wait_restarted(pid)
    peripheral.wait_given(len(payloads))
    expect_equal([reading for _, reading in peripheral.given], payloads, "readings given")
    expect(peripheral.given[-1][0] > killed_link, "the reading was not given again")
    ended = peripheral.links[killed_link - 1]
    confirmations = [pdu for _, direction, pdu in ended["pdus"] if direction == ">" and pdu == "1e"]
    expect_equal(confirmations, [], "confirmations on the link that the kill ended")
    record, = (record for record in lab.receiver.wait(peripheral, len(payloads))
               if record["raw"]["hex"] == payloads[-1])
    lab.journal.wait("submitted", peripheral, record_id=tag(record["id"]))


def outcome(lab, peripheral):
    """What became of the reading; an event that a crash repeated has its number twice, and counts once."""
    entries = {entry["INGEST_SEQ"]: entry["INGEST_EVENT"] for entry in lab.journal.events(peripheral=peripheral)
               if entry["INGEST_EVENT"] in ("read", "duplicate-ignored", "decode-error")}
    return list(entries.values())
