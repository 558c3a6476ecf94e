"""A box as an earlier version left it, upgraded: all that it held counts as before."""

import os

from labkit import commands, gateway, package
from labkit.gateway import CONFIGURATION, UNIT
from labkit.kinds import CUFF, GLUCOSE_METER, THERMOMETER
from labkit.pairing import PROGRAM, pair
from labkit.payloads import DateTime, blood_pressure, glucose_record, temperature
from labkit.tags import tag
from labkit.waiting import expect, expect_equal, wait_until

TITLE = ("upgraded from an earlier version: the edited configuration, waiting records, dead letters, a bond and the "
         "place in a meter's memory are kept")
LIMIT_S = 400
NEEDS_PREVIOUS = True
START_LIMIT_S = 90
STORED, NEW = 5, 2
SUBJECT = "patient-17"


def run(lab):
    earlier, newer = package.path("previous"), package.path("newer")
    package.remove_by_hand()
    package.apt("install", earlier)
    wait_until("the earlier version runs", START_LIMIT_S, lambda: commands.is_active(UNIT))

    cuff = lab.add("cuff", CUFF, bonding={"refuses": "authentication"})
    thermometer = lab.add("thermometer", THERMOMETER)
    meter = lab.add("meter", GLUCOSE_METER)
    lab.gateway.configure(cuff, thermometer, meter, settings={
        cuff: {"require_bond": True, "subject": SUBJECT}, meter: {"subject": SUBJECT}})
    edited = package.read(CONFIGURATION)
    commands.run("systemctl", "restart", UNIT)
    lab.journal.wait("adapter-ready", seconds=START_LIMIT_S)

    # All of it is done by the earlier version.
    readings = [blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2024, 5, 5, 8, number, 0))
                for number in range(2)]
    cuff.pairing_mode()
    pair(cuff.address)
    cuff.give(readings[0])
    lab.receiver.wait(cuff)
    meter.store(*records(0, STORED))
    lab.receiver.wait(meter, count=STORED)
    refused, waiting = temperature(366, -1), temperature(367, -1)
    lab.receiver.refuse(refused)
    thermometer.give(refused)
    dead, = lab.journal.wait("failed", thermometer)
    lab.receiver.answer(503)
    thermometer.give(waiting)
    held = lab.journal.wait("read", thermometer, count=2)[1]
    expect_equal(failed(), 1, "dead letters before the upgrade")

    before, version = lab.gateway.pid, package.version()
    package.apt("install", newer)
    lab.gateway.wait_restarted(before)
    expect(package.version() != version, "the version has changed")
    expect_equal(package.read(CONFIGURATION), edited, "the configuration")
    expect(os.path.isfile("/usr/lib/systemd/system/ingestd.service"), "the unit is there")
    check = commands.run(PROGRAM, "check")
    expect(check.endswith(" 0 warnings"), f"check says of the configuration: {check}")
    expect_equal(failed(), 1, "dead letters after the upgrade")

    lab.receiver.answer(200)
    lab.receiver.refuse("")
    submitted = lab.journal.wait("submitted", thermometer)
    expect_equal([entry["INGEST_RECORD_ID"] for entry in submitted], [name_of(held)], "the waiting record")
    commands.run(PROGRAM, "failed", "retry", "--all", "--yes")
    submitted = lab.journal.wait("submitted", thermometer, count=2)
    expect_equal(submitted[1]["INGEST_RECORD_ID"], name_of(dead), "the dead letter, sent again")
    taken = lab.receiver.wait(thermometer, count=2)
    expect_equal([record["raw"]["hex"] for record in taken], [waiting, refused], "what the backend has")
    expect_equal([tag(record["id"]) for record in taken], [entry["INGEST_RECORD_ID"] for entry in submitted], "its ids")

    # The bond and the place in the memory.
    cuff.give(readings[1])
    lab.receiver.wait(cuff, count=2)
    for number, _ in cuff.given:
        expect_equal(cuff.links[number - 1]["encrypted"], 0, f"PDUs of link {number} before it was encrypted")
    expect_equal(len(lab.journal.events("paired", cuff)), 1, "number of paired")
    expect_equal(lab.journal.events("bond-lost", cuff), [], "lost bonds")
    links = len(meter.links)
    meter.store(*records(STORED, NEW))
    lab.receiver.wait(meter, count=STORED + NEW)
    crossed = len([payload for number, payload in meter.notifications() if number > links])
    expect_equal(crossed, NEW + 1, "readings that crossed the air: the new ones, and the one at the mark")
    problems = [entry for entry in lab.journal.entries[lab.journal.start:] if int(entry["PRIORITY"]) <= 3]
    expect_equal([entry["MESSAGE"] for entry in problems if entry.get("INGEST_EVENT") != "failed"], [],
                 "errors in the journal")

    package.apt("purge", "ingestd")
    expect_equal(package.left_behind(), [], "left by the purge")
    gateway.install(mounts=False)
    return f"from {version}"


def records(first, count):
    return [glucose_record(number, DateTime(2026, 4, 1, number, 0, 0), 100 + number)
            for number in range(first + 1, first + count + 1)]


def name_of(event):
    """The tag of an event's record; earlier versions named the record by its id."""
    name = event["INGEST_RECORD_ID"]
    return tag(name) if "-" in name else name


def failed():
    """How many lines with records `ingestd failed list --json` has."""
    return len(commands.run(PROGRAM, "failed", "list", "--json").splitlines())
