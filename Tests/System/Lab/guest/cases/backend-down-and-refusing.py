"""Delivery against a backend that is down for a while, and against one that refuses a record."""

from labkit.kinds import CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal

TITLE = "503 is retried until it is over; 400 costs one record and no other"
READINGS = 3


def run(lab):
    cuff = lab.add("cuff", CUFF)
    lab.gateway.start(cuff)

    lab.receiver.answer(503)
    cuff.give(*readings(hour=9))
    lab.journal.wait("read", cuff, count=READINGS)
    lab.journal.wait("destination-down", http_status=503)
    lab.journal.wait("retrying", http_status=503)
    expect_equal(lab.receiver.records(cuff), [], "records accepted during the outage")
    lab.receiver.answer(200)
    lab.receiver.wait(cuff, count=READINGS)
    lab.journal.wait("submitted", cuff, count=READINGS)
    lab.journal.wait("destination-up")
    for name in ("destination-down", "destination-up"):
        expect_equal(len(lab.journal.events(name)), 1, f"number of {name}")

    second = readings(hour=10)
    bad = second[1]
    lab.receiver.refuse(bad)
    cuff.give(*second)
    failed, = lab.journal.wait("failed", cuff)
    expect_equal(failed.get("INGEST_HTTP_STATUS"), "400", "status of the failed record")
    lab.journal.wait("submitted", cuff, count=2 * READINGS - 1)
    accepted = [record["raw"]["hex"] for record in lab.receiver.wait(cuff, count=2 * READINGS - 1)]
    expect(bad not in accepted, "the refused record was accepted")
    expect_equal(len(set(accepted)), len(accepted), "different records accepted")
    submitted = [entry["INGEST_RECORD_ID"] for entry in lab.journal.events("submitted", cuff)]
    expect(failed["INGEST_RECORD_ID"] not in submitted, "the failed record was also submitted")
    expect_equal(len(lab.journal.events("failed")), 1, "number of failed")
    check_sequence(lab)


def readings(hour):
    return [blood_pressure((130 + number, 0), (85, 0), (99, 0), DateTime(2024, 4, 2, hour, number, 0))
            for number in range(READINGS)]


def check_sequence(lab):
    """The numbers of all events about records and destinations, over all cases so far, have no gap."""
    numbers = {int(entry["INGEST_SEQ"]) for entry in lab.journal.events(since_mark=False) if "INGEST_SEQ" in entry}
    expect(numbers, "no event has a number")
    missing = set(range(min(numbers), max(numbers) + 1)) - numbers
    expect_equal(sorted(missing), [], "missing numbers of events")
