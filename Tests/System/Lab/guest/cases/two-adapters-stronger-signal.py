"""Two adapters, the signals they hear, and one that is pulled out."""

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal, wait_until

TITLE = "of two adapters the one with the stronger signal reads; when it is pulled out, even during a read, the other does"

STRONG_DBM, WEAK_DBM = -45, -75


def run(lab):
    first, second = lab.air.plug(1), lab.air.plug(2)
    thermometer = lab.add("thermometer", THERMOMETER)
    read_by = []

    def read(tenths, adapter):
        thermometer.give(temperature(tenths, -1))
        read_by.append(adapter)
        lab.journal.wait("submitted", thermometer, count=len(read_by))
        expect_equal(gateways(thermometer), read_by, "adapters that connected")

    def gateways(peripheral):
        return [link["gateway"] for link in peripheral.report()["links"]]

    lab.air.signal(1, thermometer, WEAK_DBM)
    lab.air.signal(2, thermometer, STRONG_DBM)
    lab.gateway.start(thermometer)
    lab.journal.wait("adapter-ready", count=2)
    read(361, second)
    lab.air.signal(1, thermometer, STRONG_DBM)
    lab.air.signal(2, thermometer, WEAK_DBM)
    read(362, first)

    lab.air.unplug(1)
    lab.journal.wait("adapter-lost")
    read(363, second)

    lab.air.plug(1)
    lab.journal.wait("adapter-ready", count=3)
    lab.air.signal(1, thermometer, STRONG_DBM)
    thermometer.hold()
    thermometer.give(temperature(364, -1))
    wait_until("the first adapter reads", 30, lambda: thermometer.report()["subscribed"])
    lab.air.unplug(1)
    lab.journal.wait("read-failed", thermometer)
    thermometer.hold(False)
    lab.journal.wait("submitted", thermometer, count=4)
    expect_equal(gateways(thermometer), [*read_by, first, second], "adapters that connected")
    lab.receiver.wait(thermometer, count=4)
