"""bluetoothd and the adapter come and go under a running gateway."""

from labkit.commands import run as command
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal, hold_for

TITLE = "reading goes on after bluetoothd's restart, and after the adapter was off and on"
WATCH_S = 3


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer)
    read(lab, thermometer, 1)

    command("systemctl", "restart", "bluetooth.service")
    read(lab, thermometer, 2)

    lost, ready = (len(lab.journal.events(name)) for name in ("adapter-lost", "adapter-ready"))
    expect(lost > 0, "no adapter-lost when bluetoothd took the adapter down")
    expect_equal(ready - lost, 1, "adapter-ready for the start and after each adapter-lost")
    command("bluetoothctl", "power", "off")
    lab.journal.wait("adapter-lost", count=lost + 1)
    hold_for("adapter off: it is bluetoothd's to switch on", WATCH_S,
             lambda: "Powered: no" in command("bluetoothctl", "show"))
    command("bluetoothctl", "power", "on")
    lab.journal.wait("adapter-ready", count=ready + 1)
    read(lab, thermometer, 3)
    expect_equal(len(lab.journal.events("adapter-lost")), lost + 1, "number of adapter-lost for one time off")
    expect_equal(len(lab.journal.events("adapter-ready")), ready + 1, "number of adapter-ready for one time on")


def read(lab, thermometer, count):
    thermometer.give(temperature(360 + count, -1))
    lab.journal.wait("submitted", thermometer, count=count)
    records = lab.receiver.wait(thermometer, count=count)
    expect_equal(str(records[-1]["measurements"][0]["value"]), f"36.{count}", "value received")
