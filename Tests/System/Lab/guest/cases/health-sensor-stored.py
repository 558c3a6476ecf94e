"""A generic health sensor whose memory is asked for, over a link that breaks."""

import datetime

from labkit.kinds import STORING_HEALTH_SENSOR
from labkit.payloads import health_observation
from labkit.waiting import expect, expect_equal

SHOWN_BY_UNITS = True
TITLE = "a generic health sensor's stored observations, over a link that breaks: one record each, later the new ones"
FIRST, LATER = range(70_001, 70_006), range(70_006, 70_008)
START = datetime.datetime(2026, 10, 1, 8, tzinfo=datetime.timezone.utc)
# In the middle of the second observation, which has two segments as all do.
BROKEN_AFTER = 3
# Combined Report: all records; those from a record number on.
REPORT_ALL, REPORT_FROM = "0701", "070301"


def run(lab):
    sensor = lab.add("storing-health-sensor", STORING_HEALTH_SENSOR)
    lab.gateway.start(sensor)
    sensor.fault(drop_after_notifications=BROKEN_AFTER)
    read(lab, sensor, FIRST, FIRST)
    expect(len(sensor.links) > 1, "the link did not break")
    asked = [value for _, _, value in sensor.requests]
    # After the break from the last record on that was committed.
    expect_equal(set(asked), {REPORT_ALL, report_from(FIRST[0])}, "requests until all was read")
    read(lab, sensor, LATER, range(FIRST.start, LATER.stop))
    later = [value for _, _, value in sensor.requests][len(asked):]
    expect_equal(later, [report_from(FIRST[-1])], "requests for what is new")
    for name in ("decode-error", "duplicate-ignored"):
        expect_equal(lab.journal.events(name, sensor), [], f"events {name}")


def report_from(number):
    return REPORT_FROM + number.to_bytes(4, "little").hex()


def read(lab, sensor, added, known):
    """Adds to the memory, and waits until the receiver has all that was ever in it, once."""
    sensor.store(*(stored(number) for number in added))
    sensor.wait_asleep()
    received = lab.receiver.wait_different(sensor, len(known))
    expect_equal(sorted(record["sequence"] for record in received.values()), list(known), "record numbers received")
    lab.journal.wait("submitted", sensor, count=len(known))
    expect_equal(len(lab.journal.events("read", sensor)), len(known), "number of read")


def stored(number):
    segments = health_observation(
        START + datetime.timedelta(minutes=number), 90 + number % 10, patient=1, number=number, counter=number * 2)
    return [number, [["2BDD", segment] for segment in segments]]
