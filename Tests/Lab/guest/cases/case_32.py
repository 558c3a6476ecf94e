"""The gateway's own clock: a box that starts in 1970, without a battery, and gets the time later."""

import datetime
import os

from labkit import system_clock
from labkit.commands import run as command
from labkit.gateway import UNIT
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal, hold_for

TITLE = "a box that starts in 1970 reads on; its records are delivered with the right times once it has the time"
LIMIT_S = 400
# An hour and more after 1970 began: the kernel sets no time before the boot.
UNSET_S = 7200
WATCH_S = 3
# Longer than the gateway waits before it looks again.
LOOK_S = 33
# Between the gateway's reception and what the case sees of it.
TOLERANCE_S = 10


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    with system_clock.disturbed() as lead:
        with system_clock.without_real_time_clock():
            expect_equal(os.listdir("/sys/class/rtc"), [], "real-time clocks")
            system_clock.set_time(UNSET_S)
            lab.gateway.start(thermometer, trust_clock=False)
            moments = [read(lab, thermometer, 1)]
            command("systemctl", "restart", UNIT)
            lab.journal.wait("adapter-ready", count=2)
            moments.append(read(lab, thermometer, 2))
            # Set, but nothing says that it is right.
            system_clock.set_time(lead + system_clock.since_boot())
            hold_for("nothing is delivered before the clock is known to be right", LOOK_S,
                     lambda: not lab.receiver.records(thermometer))
            system_clock.claim_synchronised()
            records = lab.receiver.wait(thermometer, count=2, seconds=2 * LOOK_S)
            check(records, moments, lead)
        # Now somebody sets it back, and forward again.
        system_clock.set_time(UNSET_S)
        moments.append(read(lab, thermometer, 3))
        hold_for("nothing is delivered after the clock was set back", WATCH_S,
                 lambda: len(lab.receiver.records(thermometer)) == 2)
        system_clock.set_time(lead + system_clock.since_boot())
        records = lab.receiver.wait(thermometer, count=3, seconds=2 * LOOK_S)
        check(records, moments, lead)
        lab.journal.wait("submitted", thermometer, count=3)
        lab.gateway.stop()
    expect_equal(lab.journal.events("read-failed", thermometer), [], "failures")
    return f"{len(records)} records"


def read(lab, thermometer, number):
    """Has a reading taken and confirmed; returns when that was, in seconds since the boot."""
    thermometer.give(temperature(360 + number, -1))
    lab.journal.wait("read", thermometer, count=number)
    moment = system_clock.since_boot()
    thermometer.wait_link_ended(number)
    hold_for("nothing is delivered without the time", WATCH_S,
             lambda: len(lab.receiver.records(thermometer)) < number)
    return moment


def check(records, moments, lead):
    for number, (record, moment) in enumerate(zip(records, moments), 1):
        time = record["time"]
        expect_equal(time["source"], "received", "source of the time")
        for text in (time["received"], time["value"]):
            off = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() - (moment + lead)
            expect(-TOLERANCE_S <= off <= 1, f"{text} of record {number} of {len(records)} is {off:.0f} s from when it came")
