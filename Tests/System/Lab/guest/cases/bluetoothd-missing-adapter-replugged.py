"""Without bluetoothd, and with an adapter that is pulled out and put back."""

from labkit.commands import run as command
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature

TITLE = "reads without bluetoothd, and again after the adapter was unplugged"


def run(lab):
    command("systemctl", "mask", "--runtime", "bluetooth.service")
    command("systemctl", "stop", "bluetooth.service")
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer)
    thermometer.give(temperature(361, -1))
    lab.journal.wait("submitted", thermometer)

    lab.air.unplug()
    lab.journal.wait("adapter-lost")
    lab.air.plug()
    lab.journal.wait("adapter-ready", count=2)
    thermometer.give(temperature(362, -1))
    lab.journal.wait("submitted", thermometer, count=2)
    lab.receiver.wait(thermometer, count=2)
