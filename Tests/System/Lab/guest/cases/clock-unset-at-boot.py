"""The gateway's own clock: a box that starts in 1970, without a battery, and gets the time later."""

import datetime
import os

from labkit import system_clock
from labkit.commands import run as command
from labkit.gateway import TIME_ZONE, UNIT
from labkit.kinds import CLOCK_CUFF, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.waiting import expect, expect_equal, hold_for

TITLE = ("a box that starts in 1970 reads on; its records are delivered with the right times once it has the time, and "
         "a cuff's clock is compared then")
LIMIT_S = 400
# An hour and more after 1970 began: the kernel sets no time before the boot.
UNSET_S = 7200
WATCH_S = 3
# Longer than the gateway waits before it looks again.
LOOK_S = 33
# Between the gateway's reception and what the case sees of it.
TOLERANCE_S = 10
# By which the cuff's clock is ahead.
AHEAD_S = 3_600


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    with system_clock.disturbed() as lead:
        with system_clock.without_real_time_clock():
            expect_equal(os.listdir("/sys/class/rtc"), [], "real-time clocks")
            system_clock.set_time(UNSET_S)
            shown = local(lead + system_clock.since_boot() + AHEAD_S)
            cuff = lab.add("cuff", CLOCK_CUFF,
                           clock_ahead_s=(shown - local(system_clock.wall())).total_seconds())
            lab.gateway.start(thermometer, cuff, trust_clock=False)
            moments = [read(lab, thermometer, 1)]
            command("systemctl", "restart", UNIT)
            lab.journal.wait("adapter-ready", count=2)
            moments.append(read(lab, thermometer, 2))
            cuff.give(measurement(lead))
            cuff.wait_given()
            # Set, but nothing says that it is right.
            system_clock.set_lead(lead)
            hold_for("nothing is delivered before the clock is known to be right", LOOK_S,
                     lambda: not lab.receiver.records(thermometer))
            system_clock.claim_synchronised()
            records = lab.receiver.wait(thermometer, count=2, seconds=2 * LOOK_S)
            check(records, moments, lead)
            check_cuff(lab, cuff)
        # Now somebody sets it back, and forward again.
        system_clock.set_time(UNSET_S)
        moments.append(read(lab, thermometer, 3))
        hold_for("nothing is delivered after the clock was set back", WATCH_S,
                 lambda: len(lab.receiver.records(thermometer)) == 2)
        system_clock.set_lead(lead)
        records = lab.receiver.wait(thermometer, count=3, seconds=2 * LOOK_S)
        check(records, moments, lead)
        lab.journal.wait("submitted", thermometer, count=3)
        lab.gateway.stop()
    expect_equal(lab.journal.events("read-failed", thermometer), [], "failures")
    return f"{len(records)} records"


def local(seconds):
    """What a clock on the gateway's wall shows at this moment, without a zone."""
    return datetime.datetime.fromtimestamp(seconds, TIME_ZONE).replace(tzinfo=None)


def measurement(lead):
    """Of this moment, dated by the cuff's clock."""
    return blood_pressure((128, 0), (82, 0), (97, 0), DateTime.of(local(lead + system_clock.since_boot() + AHEAD_S)))


def check_cuff(lab, cuff):
    record, = lab.receiver.wait(cuff)
    time = record["time"]
    off = moment(time["value"]) - moment(time["received"])
    expect(time["source"] == "device" and abs(off) <= TOLERANCE_S, f"dated {time}")
    expect(abs(time["clock_offset_s"] - AHEAD_S) <= 2, f"clock_offset_s is {time['clock_offset_s']}")
    skew, = lab.journal.wait("clock-skew", cuff, seconds=2 * LOOK_S)
    expect("60 min ahead" in skew["INGEST_ERROR"], skew["INGEST_ERROR"])


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def reading(number):
    """The payload of the reading of this number, no two alike."""
    return temperature(360 + number, -1)


def read(lab, thermometer, number):
    """Has a reading taken and confirmed; returns when that was, in seconds since the boot."""
    thermometer.give(reading(number))
    lab.journal.wait("read", thermometer, count=number)
    came = system_clock.since_boot()
    thermometer.wait_link_ended(number)
    hold_for("nothing is delivered without the time", WATCH_S,
             lambda: len(lab.receiver.records(thermometer)) < number)
    return came


def check(records, moments, lead):
    # The order of arrival says nothing: a record older than 60 s goes on the backlog lane, a newer one on the fresh lane.
    by_payload = {record["raw"]["hex"]: record for record in records}
    for number, came in enumerate(moments, 1):
        time = by_payload[reading(number)]["time"]
        expect_equal(time["source"], "received", "source of the time")
        for text in (time["received"], time["value"]):
            off = moment(text) - (came + lead)
            expect(-TOLERANCE_S <= off <= 1, f"{text} of record {number} of {len(records)} is {off:.0f} s from when it came")
