"""Cuffs whose clocks are wrong: readings are dated rightly, on the first link too, and clocks set where that is wanted.
"""

import datetime

from labkit.gateway import local_time
from labkit.kinds import CLOCK_CUFF, DATE_TIME_CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal

TITLE = ("a cuff's wrong clock is corrected, told of, and set where that is wanted; also of one that hangs up when it is "
         "confirmed")
AHEAD_S = 3_600
BEHIND_S = 400 * 86_400
# From the measurement to the record, in a guest that is slow.
TOLERANCE_S = 60
# ATT_HANDLE_VALUE_CFM.
CONFIRMATION = "1e"


def measurement(ahead_s):
    return blood_pressure((128, 0), (82, 0), (97, 0), DateTime.of(local_time(seconds=-ahead_s)))


def expect_dated_now(record, ahead_s):
    age = local_time() - datetime.datetime.fromisoformat(record["time"]["value"])
    expect(abs(age.total_seconds()) < TOLERANCE_S, f"dated {record['time']}, which is {age} ago")
    offset = record["time"]["clock_offset_s"]
    expect(abs(offset - ahead_s) <= 2, f"clock_offset_s is {offset}, not {ahead_s}")


def run(lab):
    watched = lab.add("watched-cuff", CLOCK_CUFF, clock_ahead_s=AHEAD_S)
    mended = lab.add("mended-cuff", DATE_TIME_CUFF, clock_ahead_s=-BEHIND_S)
    lab.gateway.start(watched, mended, settings={mended: {"clock": "set", "subject": "patient-17"}})
    for cuff, ahead_s in ((watched, AHEAD_S), (mended, -BEHIND_S)):
        cuff.give(measurement(ahead_s))
        cuff.wait_given(1)
        record, = lab.receiver.wait(cuff)
        expect_dated_now(record, ahead_s)
        skew, = lab.journal.wait("clock-skew", cuff)
        words = "60 min ahead" if cuff is watched else "400 days behind; it was set"
        expect(words in skew["INGEST_ERROR"], skew["INGEST_ERROR"])
        cuff.wait_link_ended(1)
    expect_equal(record["subject"], "patient-17", "subject")
    # The mended clock is right now, the watched one as wrong as before.
    for cuff, ahead_s in ((watched, AHEAD_S), (mended, 0)):
        cuff.give(measurement(ahead_s))
        cuff.wait_given(2)
        _, record = lab.receiver.wait(cuff, 2)
        expect_dated_now(record, ahead_s)
        expect_equal(len(lab.journal.events("clock-skew", cuff)), 1, "clock-skew events")
    check_hasty(lab, confirmed_by=pdus_to_confirmation(watched.links[0]))


def pdus_to_confirmation(link):
    """How many PDUs, of both sides, a first link has until the measurement is confirmed."""
    return [pdu for _, _, pdu in link["pdus"]].index(CONFIRMATION) + 1


def check_hasty(lab, confirmed_by):
    lab.gateway.stop()
    hasty = lab.add("hasty-cuff", CLOCK_CUFF, clock_ahead_s=AHEAD_S)
    hasty.fault(drop_after=confirmed_by)
    lab.gateway.start(hasty)
    hasty.give(measurement(AHEAD_S))
    link = hasty.wait_link_ended(1)
    _, direction, pdu = link["pdus"][-1]
    expect_equal((direction, pdu), (">", CONFIRMATION), "the last PDU of the link")
    record, = lab.receiver.wait(hasty)
    expect_dated_now(record, AHEAD_S)
    lab.journal.wait("clock-skew", hasty)
    expect_equal(lab.journal.events("read-failed", hasty), [], "failed reads")
