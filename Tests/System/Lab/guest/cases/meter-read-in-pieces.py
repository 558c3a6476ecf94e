"""A large memory over a link that others may take: it is read in pieces, none of them twice."""

from labkit.kinds import CUFF, GLUCOSE_METER
from labkit.payloads import DateTime, blood_pressure, glucose_record, payloads_of
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "2,000 records of a meter without an address in the allow-list come in pieces, while a cuff is read each time it wakes"
SHOWN_BY_UNITS = True
LIMIT_S = 500
STORED = 2_000
# Slow enough for several pieces.
PAUSE_S = 0.02
READINGS = 3
ON_THE_WAY = 200
# Record Access Control Point: report all records; those from a number on.
ALL, FROM = "0101", "010301"


def run(lab):
    meter = lab.add("meter", GLUCOSE_METER)
    cuff = lab.add("cuff", CUFF)
    meter.script(pause_s=PAUSE_S)
    lab.gateway.start(
        meter, cuff, settings={meter: {"address": None, "alias": None}},
        sections={"bluetooth": {"links": 1}})
    memory = [glucose_record(number, DateTime(2026, 1 + number // 600, 1 + number // 24 % 25, number % 24, 30, 0), 100)
              for number in range(1, STORED + 1)]
    meter.store(*memory)
    for number in range(1, READINGS + 1):
        before = len(meter.notifications())
        wait_until("the meter reports", 100, lambda before=before: len(meter.notifications()) > before + 100)
        cuff.give(blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2026, 11, 3, 8, number, 0)))
        cuff.wait_given(number)
    lab.receiver.wait(cuff, count=READINGS)

    wait_until("all records have come", 300, lambda: len(received(lab)) >= STORED)
    expect_equal(sorted(received(lab)), sorted(payloads_of(memory, "2A18")), "payloads received")
    requests = [value for _, _, value in meter.requests if value.startswith("01")]
    expect(requests[0] == ALL and len(requests) > READINGS, f"requests: {requests}")
    expect(all(request.startswith(FROM) for request in requests[1:]), f"requests: {requests}")
    # Each piece begins with the last record of the one before, and what was on its way when a link ended comes again.
    crossed = len(meter.notifications())
    expect(crossed <= STORED + ON_THE_WAY * (len(requests) - 1), f"{crossed} records crossed {len(requests)} links")
    return f"{len(requests)} pieces"


def received(lab):
    return [record["raw"]["hex"] for record in lab.receiver.records() if record["kind"] == "glucose"]
