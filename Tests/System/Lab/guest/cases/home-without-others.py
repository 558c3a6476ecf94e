"""A home in which nothing but one device advertises: nothing proves that the adapter receives."""

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal, hold_for

TITLE = "with no other device in the air silence takes three times as long, and each reading comes"
HAS_NEIGHBOUR = False
SHOWN_BY_UNITS = True
LIMIT_S = 300
# Three times the quiet period, and the cooldown.
SILENCE_S = 35


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER, awake_s=40, asleep_s=60)
    lab.gateway.start(thermometer, passive={"quiet_period": "10s", "cooldown": "5s"})
    for number in range(1, 3):
        thermometer.give(temperature(365 + number, -1))
        lab.journal.wait("read", thermometer, count=number)
        thermometer.wait_link_ended(number)
        if number == 1:
            hold_for("no further link", SILENCE_S, lambda: len(thermometer.links) == 1)
    lab.receiver.wait(thermometer, count=2)
    expect_equal(len(thermometer.links), 2, "links")
