"""A continuous glucose monitor: readings without a time of their own, counted from the start of the session."""

import datetime

from labkit.gateway import local_time
from labkit.kinds import CGM
from labkit.payloads import DateTime, cgm, cgm_session_start, cgm_status, payloads_of
from labkit.waiting import expect_equal

TITLE = "continuous glucose: times from the session's start, and later no more than the new readings"
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

    new = [stored(number) for number in range(FIRST, FIRST + NEW)]
    monitor.store(*new)
    monitor.wait_asleep()
    check(lab, monitor, new, FIRST + NEW, start)
    link = monitor.wait_link_ended(2)
    crossed = [payload for number, payload in monitor.notifications() if number == link["number"]]
    expect_equal(crossed, payloads_of(old[-1:] + new, "2AA7"), "readings that crossed the air later")
    expect_equal(lab.journal.events("decode-error", monitor), [], "payloads that could not be decoded")


def stored(number):
    return [number * STEP_MINUTES, [["2AA7", cgm(number * STEP_MINUTES, 100 + number, trend=number)]]]


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
