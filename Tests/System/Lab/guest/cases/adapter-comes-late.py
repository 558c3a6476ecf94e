"""A box whose adapter comes late."""

import os
import re

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal, hold_for, wait_until

TITLE = "with no adapter the service stays up, and reads when one comes; its line in systemctl status says which at once"
WATCH_S = 3
# Much less than the half of WatchdogSec= after which the line is written anew without a reason.
AT_ONCE_S = 10
# On a busy machine the queue may answer late. The line begins with that until it is asked again.
LATE_ANSWER = re.compile(r"^needs somebody: the disk does not answer for \d+ s: the queue cannot be asked; ")
CLEAR_S = 60


def run(lab):
    def listens():
        return LATE_ANSWER.sub("", lab.gateway.status_line).startswith("listening on 1 adapter")

    lab.air.unplug()
    wait_until("no adapter", 30, lambda: not os.listdir("/sys/class/bluetooth"))
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer, adapter=False)
    hold_for("the service is up", WATCH_S, lambda: lab.gateway.is_active)
    expect_equal(lab.journal.events("adapter-ready"), [], "adapters before one came")
    wait_until("the line says that no adapter listens", AT_ONCE_S,
               lambda: "no Bluetooth adapter listens" in lab.gateway.status_line)
    lab.air.plug()
    lab.journal.wait("adapter-ready")
    wait_until("the line says that one listens", AT_ONCE_S, listens)
    thermometer.give(temperature(366, -1))
    lab.journal.wait("submitted", thermometer)
    lab.receiver.wait(thermometer)
    wait_until("nothing needs somebody", CLEAR_S, lambda: lab.gateway.status_line.startswith("listening on 1 adapter"))
