"""Transfers of a meter's memory that do not come to their end."""

from labkit.kinds import GLUCOSE_METER
from labkit.payloads import DateTime, glucose_record, payloads_of
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "the link breaks, ingestd is stopped or killed in the middle of 50 readings: all of them in the end, none twice"
LIMIT_S = 300
RESTARTS = 1
STORED, BROKEN_AFTER = 50, 23
# The gateway may see the end of the link before the last notifications on it.
KEPT_AT_LEAST = 15
# Record Access Control Point: Abort Operation.
ABORT = "0300"
# Slow enough to be stopped or killed in the middle.
PAUSE_S = 0.2
TRANSFER_LIMIT_S = 120


def run(lab):
    broken = lab.add("broken-meter", GLUCOSE_METER)
    stopped = lab.add("stopped-meter", GLUCOSE_METER)
    killed = lab.add("killed-meter", GLUCOSE_METER)
    meters = broken, stopped, killed
    broken.fault(drop_after_notifications=BROKEN_AFTER)
    for meter in (stopped, killed):
        meter.script(pause_s=PAUSE_S)
    lab.gateway.start(*meters)

    memory = records(month=5)
    broken.store(*memory)
    broken.wait_link_ended(1)
    lab.journal.wait("read-failed", broken)
    kept = len(lab.journal.events("read", broken))
    expect(KEPT_AT_LEAST <= kept <= BROKEN_AFTER, f"{kept} readings kept of {BROKEN_AFTER} that came")
    check(lab, broken, memory)
    expect_equal(len(lab.journal.events("read-failed", broken)), 1, "number of read-failed")

    memory = records(month=6)
    stopped.store(*memory)
    wait_half(stopped)
    lab.gateway.stop()
    expect_equal([value for _, _, value in stopped.requests][-1:], [ABORT], "the last request of a gateway that stops")
    lab.gateway.start(*meters)
    check(lab, stopped, memory)

    memory = records(month=7)
    killed.store(*memory)
    wait_half(killed)
    lab.gateway.wait_restarted(lab.gateway.kill())
    check(lab, killed, memory)
    expect_equal(len(killed.links), 2, "links of the meter whose transfer was killed")
    return f"{kept} of {BROKEN_AFTER} kept from the broken link"


def records(month):
    return [glucose_record(number, DateTime(2026, month, 1 + number // 24, number % 24, 30, 0), 90 + number)
            for number in range(1, STORED + 1)]


def wait_half(meter):
    wait_until("half of the readings have crossed", TRANSFER_LIMIT_S,
               lambda: len(meter.notifications()) >= STORED // 2)


def check(lab, meter, memory):
    meter.wait_asleep(TRANSFER_LIMIT_S)
    received = lab.receiver.wait_different(meter, STORED)
    expect_equal(sorted(received), sorted(payloads_of(memory, "2A18")), f"payloads received of {meter.name}")
    lab.journal.wait("submitted", meter, count=STORED)
    # An event that the crash repeated has its number twice, and counts once.
    numbers = {entry["INGEST_SEQ"] for entry in lab.journal.events("read", meter)}
    expect_equal(len(numbers), STORED, "number of read")
