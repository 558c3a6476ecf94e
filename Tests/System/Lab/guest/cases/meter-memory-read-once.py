"""A glucose meter's memory: read whole once, then what is new; and whose its readings are."""

from labkit.gateway import HISTORICAL, LIVE, local_time
from labkit.kinds import GLUCOSE_METER, INFORMATION
from labkit.payloads import DateTime, glucose_record, payloads_of, record_id
from labkit.waiting import expect_equal

SHOWN_BY_UNITS = True
TITLE = "50 stored readings arrive once each; later, no more than the new ones cross the air"
LIMIT_S = 300
STORED, NEW, SKIPPED = 50, 3, 5
CONTEXT_EVERY = 5
SUBJECT = "patient-17"


def run(lab):
    meter = lab.add("meter", GLUCOSE_METER, information=INFORMATION, battery=70)
    forgetful = lab.add("meter-without-history", GLUCOSE_METER)
    lab.gateway.start(meter, forgetful, settings={
        meter: {"subject": SUBJECT}, forgetful: {"subject": SUBJECT, "history": "none"}})

    old = [glucose_record(number, DateTime(2026, 3, 1 + number // 24, number % 24, 5, 0), 90 + number,
                          grams=number if number % CONTEXT_EVERY == 0 else None)
           for number in range(1, STORED + 1)]
    meter.store(*old)
    meter.wait_link_ended(1)
    check(lab, meter, old, count=STORED + STORED // CONTEXT_EVERY, stage=HISTORICAL, subject=None)
    expect_equal(crossed(meter, 1), STORED, "readings that crossed the air at first")

    new = [glucose_record(STORED + number, DateTime.of(local_time()), 120 + number, grams=number)
           for number in range(1, NEW + 1)]
    meter.store(*new)
    meter.wait_link_ended(2)
    count = STORED + STORED // CONTEXT_EVERY + 2 * NEW
    check(lab, meter, new, count, stage=LIVE, subject=SUBJECT)
    again = crossed(meter, 2)
    expect_equal(again, NEW + 1, "readings that crossed the air later: the new ones, and the one at the mark")
    lab.journal.wait("submitted", meter, count=count)
    expect_equal(len(lab.journal.events("read", meter)), count, "number of read")
    expect_equal(lab.journal.events("read-failed", meter), [], "failures")

    check_without_history(lab, forgetful)
    return f"{STORED} readings at first, {again} later"


def check_without_history(lab, meter):
    meter.store(*(glucose_record(number, DateTime(2026, 4, 1, number, 0, 0), 100) for number in range(1, SKIPPED + 1)))
    meter.wait_link_ended(1)
    lab.journal.wait("history-skipped", meter)
    expect_equal(lab.receiver.records(meter), [], "records from before")
    new = [glucose_record(SKIPPED + 1, DateTime.of(local_time()), 101)]
    meter.store(*new)
    check(lab, meter, new, count=1, stage=LIVE, subject=SUBJECT)
    expect_equal(len(lab.journal.events("history-skipped", meter)), 1, "number of history-skipped")


def check(lab, meter, stored, count, stage, subject):
    records = lab.receiver.wait_different(meter, count)
    for payload in payloads_of(stored, "2A18"):
        record = records[payload]
        expect_equal(record["id"], record_id(meter.address, "2A18", payload), "record id")
        expect_equal(record["kind"], "glucose", "kind")
    for _, packets in stored:
        for _, payload in packets:
            record = records[payload]
            expect_equal((record["stage"], record.get("subject")), (stage, subject), f"stage and subject of {payload}")
        if len(packets) == 2:
            (_, measurement), (_, context) = packets
            expect_equal(records[context]["kind"], "glucose-context", "kind of a context")
            expect_equal(records[context].get("related"), records[measurement]["id"], "what a context belongs to")


def crossed(meter, link):
    return len([payload for number, payload in meter.notifications() if number == link])
