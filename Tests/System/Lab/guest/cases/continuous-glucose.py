"""A continuous glucose monitor: readings without a time of their own, counted from the start of the session."""

import datetime

from labkit.gateway import local_time
from labkit.kinds import CGM
from labkit.payloads import DateTime, cgm, cgm_session_start, cgm_status, payloads_of
from labkit.waiting import expect_equal

SHOWN_BY_UNITS = True
TITLE = "continuous glucose: times from the session's start, a wrong checksum set aside, later only the new readings"
LIMIT_S = 240
STEP_MINUTES = 5
FIRST, NEW = 20, 3
SESSION_HOURS = 4


def run(lab):
    start = local_time(hours=SESSION_HOURS).replace(microsecond=0)
    zone_quarters = start.utcoffset() // datetime.timedelta(minutes=15)
    monitor = lab.add("monitor", CGM, values={
        **CGM.values, "2AA9": cgm_status(SESSION_HOURS * 60),
        "2AAA": cgm_session_start(DateTime.of(start), zone_quarters)})
    lab.gateway.start(monitor)

    old = [stored(number) for number in range(FIRST)]
    monitor.store(*old)
    monitor.wait_asleep()
    check(lab, monitor, old, FIRST, start)
    monitor.wait_link_ended(1)

    damaged = stored(FIRST, damage=1)
    new = [stored(number) for number in range(FIRST + 1, FIRST + 1 + NEW)]
    monitor.store(damaged, *new)
    monitor.wait_asleep()
    check(lab, monitor, new, FIRST + NEW, start)
    monitor.wait_link_ended(2)
    expect_equal(crossed(monitor, 2), payloads_of([*old[-1:], damaged, *new], "2AA7"), "readings of the second link")
    undecoded, = lab.journal.events("decode-error", monitor)
    expect_equal(lab.journal.events("submitted", record_id=undecoded["INGEST_RECORD_ID"]), [], "deliveries of it")

    monitor.store(stored(FIRST + NEW + 1))
    monitor.wait_asleep()
    check(lab, monitor, [stored(FIRST + NEW + 1)], FIRST + NEW + 1, start)
    monitor.wait_link_ended(3)
    expect_equal(len(crossed(monitor, 3)), 2, "readings of the third link: the new one, and the one at the mark")


def stored(number, damage=0):
    """Of the memory; damaged by some bits of the checksum's last byte."""
    payload = bytearray.fromhex(cgm(number * STEP_MINUTES, 100 + number, trend=number))
    payload[-1] ^= damage
    return [number * STEP_MINUTES, [["2AA7", payload.hex()]]]


def crossed(monitor, link):
    return [payload for number, payload in monitor.notifications() if number == link]


def check(lab, monitor, stored_records, count, start):
    records = lab.receiver.wait_different(monitor, count)
    for offset, [[_, payload]] in stored_records:
        record = records[payload]
        expect_equal(record["kind"], "continuous-glucose", "kind")
        moment = datetime.datetime.fromisoformat(record["time"]["value"])
        expect_equal(moment - start, datetime.timedelta(minutes=offset), f"time since the session's start of {payload}")
        values = {entry["type"]: str(entry["value"]) for entry in record["measurements"]}
        number = offset // STEP_MINUTES
        expect_equal(values, {"glucose": str(100 + number), "trend": f"{number // 10}.{number % 10}"}, "measurements")
    lab.journal.wait("submitted", monitor, count=count)
