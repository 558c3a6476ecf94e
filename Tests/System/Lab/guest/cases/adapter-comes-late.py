"""A box whose adapter comes late."""

import os

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal, hold_for, wait_until

TITLE = "with no adapter the service stays up, and reads when one comes; its line in systemctl status says which at once"
WATCH_S = 3
# Much less than the half of WatchdogSec= after which the line is written anew without a reason.
AT_ONCE_S = 10
CLEAR_S = 60


def run(lab):
    def says(words):
        return words in lab.gateway.status_line

    lab.air.unplug()
    wait_until("no adapter", 30, lambda: not os.listdir("/sys/class/bluetooth"))
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer, adapter=False)
    hold_for("the service is up", WATCH_S, lambda: lab.gateway.is_active)
    expect_equal(lab.journal.events("adapter-ready"), [], "adapters before one came")
    wait_until("the line says that no adapter listens", AT_ONCE_S, lambda: says("no Bluetooth adapter listens"))
    lab.air.plug()
    lab.journal.wait("adapter-ready")
    wait_until("the line says that one listens", AT_ONCE_S, lambda: says("listening on 1 adapter"))
    thermometer.give(temperature(366, -1))
    lab.journal.wait("submitted", thermometer)
    lab.receiver.wait(thermometer)
    # On a busy machine the queue may answer late, which the line says until it is asked again.
    wait_until("nothing needs somebody", CLEAR_S, lambda: lab.gateway.status_line.startswith("listening on 1 adapter"))
