"""A gateway with two adapters."""

from labkit.kinds import CUFF, THERMOMETER
from labkit.pairing import pair
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.waiting import expect, expect_equal, hold_for

TITLE = ("two adapters: the stronger signal reads, a bonded cuff is read over its own, a dead one's peripherals move; "
         "the cuff is paired anew where its adapter is gone for good")
LIMIT_S = 360
PROVE_ONLY = True
WATCHED_S = 30
STRONG_DBM, WEAK_DBM = -40, -85


def run(lab):
    first, second = lab.air.plug(1), lab.air.plug(2)
    thermometer = lab.add("thermometer", THERMOMETER)
    cuff = lab.add("cuff", CUFF, bonding={})
    lab.air.signal(1, thermometer, WEAK_DBM)
    lab.air.signal(2, thermometer, STRONG_DBM)
    lab.air.signal(1, cuff, None)
    lab.gateway.start(thermometer, cuff)
    lab.journal.wait("adapter-ready", count=2)

    thermometer.give(temperature(371, -1))
    thermometer.wait_given(1)
    cuff.pairing_mode()
    pair(cuff.address)
    expect_equal(cuff.bonds, [second], "the adapter that the cuff is bonded to")
    lab.air.signal(1, cuff, STRONG_DBM)
    lab.air.signal(2, cuff, WEAK_DBM)
    cuff.give(reading(1))
    cuff.wait_given(1)

    lab.air.unplug(2)
    lab.journal.wait("adapter-lost")
    thermometer.give(temperature(372, -1))
    thermometer.wait_given(2)
    cuff.give(reading(2))
    hold_for("a bonded cuff is not read over another adapter", WATCHED_S, lambda: len(cuff.given) == 1)
    lab.air.plug(2)
    lab.journal.wait("adapter-ready", count=3)
    cuff.wait_given(2)

    expect_equal(gateways(thermometer), [second, first], "adapters that read the thermometer")
    expect_equal(set(gateways(cuff)), {second}, "adapters that read the cuff")
    pair_with_the_other(lab, cuff, first)
    lab.receiver.wait(thermometer, count=2)
    lab.receiver.wait(cuff, count=4)
    expect_equal(lab.journal.events("bond-lost"), [], "lost bonds")


def pair_with_the_other(lab, cuff, other):
    """The cuff's adapter is gone for good; later it is back all the same, with a bond that was replaced."""
    lab.air.unplug(2)
    lab.journal.wait("adapter-lost", count=2)
    cuff.pairing_mode()
    pair(cuff.address)
    expect(other in cuff.bonds, f"the cuff is bonded to {cuff.bonds}")
    cuff.give(reading(3))
    cuff.wait_given(3)
    lab.air.plug(2)
    lab.journal.wait("adapter-ready", count=4)
    lab.air.signal(1, cuff, WEAK_DBM)
    lab.air.signal(2, cuff, STRONG_DBM)
    cuff.give(reading(4))
    cuff.wait_given(4)
    expect_equal(gateways(cuff)[2:], [other, other], "adapters that read the cuff after it was paired anew")


def gateways(peripheral):
    links = peripheral.links
    return [links[number - 1]["gateway"] for number, _ in peripheral.given]


def reading(number):
    return blood_pressure((119 + number, 0), (78, 0), (91, 0), DateTime(2024, 5, 10, 8, number, 0))
