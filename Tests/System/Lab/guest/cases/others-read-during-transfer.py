"""A memory that takes its time does not keep others waiting, where the adapter holds more than one link."""

from labkit.kinds import CUFF, GLUCOSE_METER, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, glucose_record, payloads_of, temperature
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "while 500 records of a meter come over one link, a cuff and a thermometer are read over others"
LIMIT_S = 300
STORED = 500
# Until the others were read: the memory has enough for two minutes. Then it gives the rest quickly.
SLOW_PAUSE_S, QUICK_PAUSE_S = 0.25, 0.02
ROUNDS = 2


def run(lab):
    meter = lab.add("meter", GLUCOSE_METER)
    cuff, thermometer = lab.add("cuff", CUFF), lab.add("thermometer", THERMOMETER)
    meter.script(pause_s=SLOW_PAUSE_S)
    lab.gateway.start(meter, cuff, thermometer)
    memory = [glucose_record(number, DateTime(2026, 1, 1 + number // 24, number % 24, 30, 0), 100)
              for number in range(1, STORED + 1)]
    meter.store(*memory)
    wait_until("the meter reports", 100, lambda: len(meter.notifications()) > 20)
    for number in range(1, ROUNDS + 1):
        cuff.give(blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2026, 11, 3, 8, number, 0)))
        thermometer.give(temperature(3650 + number, -2))
        cuff.wait_given(number)
        thermometer.wait_given(number)
    came = len(meter.notifications())
    expect(came < STORED, "the others were read when the meter had given all of its records")
    meter.script(pause_s=QUICK_PAUSE_S)

    wait_until("all records have come", 200, lambda: len(received(lab)) >= STORED)
    expect_equal(sorted(received(lab)), sorted(payloads_of(memory, "2A18")), "payloads received")
    expect_equal(len(meter.links), 1, "links of the meter")
    lab.receiver.wait(cuff, count=ROUNDS)
    lab.receiver.wait(thermometer, count=ROUNDS)
    return f"read {2 * ROUNDS} times, the last when {came} of {STORED} records had come"


def received(lab):
    return [record["raw"]["hex"] for record in lab.receiver.records() if record["kind"] == "glucose"]
