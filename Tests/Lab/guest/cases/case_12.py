"""A box whose adapter comes late."""

import os

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal, hold_for, wait_until

TITLE = "with no adapter the service stays up, and reads when one comes"
WATCH_S = 3


def run(lab):
    lab.air.unplug()
    wait_until("no adapter", 30, lambda: not os.listdir("/sys/class/bluetooth"))
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer, adapter=False)
    hold_for("the service is up", WATCH_S, lambda: lab.gateway.is_active)
    expect_equal(lab.journal.events("adapter-ready"), [], "adapters before one came")
    lab.air.plug()
    lab.journal.wait("adapter-ready")
    thermometer.give(temperature(366, -1))
    lab.journal.wait("submitted", thermometer)
    lab.receiver.wait(thermometer)
