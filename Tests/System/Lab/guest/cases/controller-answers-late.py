"""A controller that takes so long for each command that attempts are given up at every point of a connection."""

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import hold_for, wait_until

TITLE = "a controller that answers each command late: attempts that are given up meanwhile stop no reading"
PROVE_ONLY = True
LIMIT_S = 500
DEVICES = 3
# An attempt that keeps others waiting is given up after 5 s; it takes about seven commands to connect. The kernel waits
# 2 s for the answer to each (HCI_CMD_TIMEOUT).
DELAYS_S = [delay / 100 for delay in range(55, 115, 5)]
ROUND_S = 20
# A link that the kernel has lost is ended by the device, after two minutes at most.
READ_LIMIT_S = 200


def run(lab):
    devices = [lab.add(f"thermometer-{number}", THERMOMETER, awake_s=40, asleep_s=5)
               for number in range(1, DEVICES + 1)]
    lab.gateway.start(*devices)
    for delay in DELAYS_S:
        lab.air.answer_delay(delay)
        for number, device in enumerate(devices):
            device.give(temperature(3500 + int(delay * 100) + 100 * number, -2))
        hold_for("the service runs", ROUND_S, lambda: lab.gateway.is_active)
    lab.air.answer_delay(0)
    wait_until("all are read", READ_LIMIT_S, lambda: given(devices) == DEVICES * len(DELAYS_S))


def given(devices):
    return sum(len(device.report()["given"]) for device in devices)
