"""Cuffs of Blood Pressure Service 1.1.1: with enhanced measurements, and with a memory that is asked for."""

import datetime
import struct

from labkit.gateway import local_time
from labkit.kinds import ENHANCED_CUFF, STORING_CUFF
from labkit.payloads import blood_pressure_record, enhanced_blood_pressure, payloads_of, record_id
from labkit.waiting import expect, expect_equal

SHOWN_BY_UNITS = True
TITLE = "enhanced blood pressures: one record with the time that the display shows; stored ones over a link that breaks"
PLAIN, ENHANCED, STORED = "2A35", "2B34", "2B36"
WRITE_REQUEST = "12"
START = datetime.datetime(2026, 10, 1, 8)
# In the middle of the second reading, which has two segments as all do.
BROKEN_AFTER = 3


def run(lab):
    cuff = lab.add("enhanced-cuff", ENHANCED_CUFF)
    storing = lab.add("storing-cuff", STORING_CUFF)
    lab.gateway.start(cuff, storing)
    moment = local_time().replace(microsecond=0)
    payload = enhanced_blood_pressure(128, 82, 97, moment, pulse=64, user=1)
    cuff.give(payload)
    record, = lab.receiver.wait(cuff)
    expect_equal(record["id"], record_id(cuff.address, ENHANCED, payload), "record id")
    expect_equal(record["raw"], {"characteristic": ENHANCED, "hex": payload}, "raw")
    values = {entry["type"]: str(entry["value"]) for entry in record["measurements"]}
    expect_equal(
        values, {"systolic": "128", "diastolic": "82", "mean-arterial-pressure": "97", "pulse-rate": "64"},
        "measurements")
    expect_equal(record["time"]["device"], moment.replace(tzinfo=None).isoformat(), "the device's time")
    written = [pdu[2:6] for _, direction, pdu in cuff.wait_link_ended(1)["pdus"]
               if direction == ">" and pdu.startswith(WRITE_REQUEST)]
    handles = cuff.report()["handles"]
    # Behind each value is its configuration. The plain form would be the same reading under another name.
    subscriptions = [uuid for uuid in (PLAIN, ENHANCED) if struct.pack("<H", handles[uuid] + 1).hex() in written]
    expect_equal(subscriptions, [ENHANCED], "subscriptions")

    storing.fault(drop_after_notifications=BROKEN_AFTER)
    read(lab, storing, range(5), range(5))
    expect(len(storing.links) > 1, "the link did not break")
    read(lab, storing, range(5, 7), range(7))
    for name in ("decode-error", "duplicate-ignored"):
        expect_equal(lab.journal.events(name, storing), [], f"events {name}")


def read(lab, cuff, added, known):
    """Adds to the memory, and waits until the receiver has all that was ever in it, once."""
    cuff.store(*(stored(number) for number in added))
    cuff.wait_asleep()
    received = lab.receiver.wait_different(cuff, len(known))
    expect_equal(sorted(record["sequence"] for record in received.values()), list(known), "numbers received")
    # A reading has the name that it would have had as it was measured.
    expect_equal({record["id"] for record in received.values()},
                 {record_id(cuff.address, ENHANCED, measured(number)) for number in known}, "record ids")
    lab.journal.wait("submitted", cuff, count=len(known))
    expect_equal(len(lab.journal.events("read", cuff)), len(known), "number of read")


def measured(number):
    return enhanced_blood_pressure(
        120 + number, 80, 93, START + datetime.timedelta(days=number), pulse=60 + number, user=1)


def stored(number):
    return [number, [[STORED, segment] for segment in blood_pressure_record(
        number, ENHANCED, measured(number), counter=number * 2)]]
