"""Presence: one read per wake-up of a peripheral, however long it advertises."""

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal, hold_for, wait_until

TITLE = "a peripheral that goes on advertising is not read again; silent and back, it is"
# Several times the gateway's quiet_period and cooldown together.
WATCH_S = 9


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer)
    thermometer.linger()
    thermometer.give(temperature(366, -1))
    lab.journal.wait("read", thermometer)
    thermometer.wait_link_ended(1)
    wait_until("it advertises again", 10, lambda: thermometer.report()["advertising"])
    hold_for("one link, and adverts", WATCH_S, lambda: still_waiting(thermometer))
    thermometer.linger(False)
    wait_until("it is silent", 10, lambda: not thermometer.report()["advertising"])
    thermometer.give(temperature(367, -1))
    lab.journal.wait("read", thermometer, count=2)
    values = [str(record["measurements"][0]["value"]) for record in lab.receiver.wait(thermometer, count=2)]
    expect_equal(values, ["36.6", "36.7"], "values received")
    expect_equal(len(thermometer.links), 2, "number of links")


def still_waiting(thermometer):
    report = thermometer.report()
    return report["advertising"] and len(report["links"]) == 1
