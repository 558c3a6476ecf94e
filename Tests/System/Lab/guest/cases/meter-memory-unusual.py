"""Meters whose memory cannot be asked for what is new, or is not what it was."""

from labkit.kinds import GLUCOSE_METER
from labkit.payloads import DateTime, glucose_record, payloads_of
from labkit.waiting import expect, expect_equal

SHOWN_BY_UNITS = True
TITLE = "meters that refuse filters, were reset, were cleared, or send the newest first: nothing missed, nothing twice"
LIMIT_S = 400
# Record Access Control Point: op code and operator of a request.
REPORT_ALL, REPORT_FROM = "0101", "0103"
OPERATOR_NOT_SUPPORTED, OPERAND_NOT_SUPPORTED = 0x04, 0x09
BROKEN_AFTER = 4


def run(lab):
    refusing = {lab.add("meter-without-operators", GLUCOSE_METER): OPERATOR_NOT_SUPPORTED,
                lab.add("meter-without-operands", GLUCOSE_METER): OPERAND_NOT_SUPPORTED}
    reset = lab.add("reset-meter", GLUCOSE_METER)
    outgrown = lab.add("reset-and-outgrown-meter", GLUCOSE_METER)
    backwards = lab.add("newest-first-meter", GLUCOSE_METER)
    lab.gateway.start(*refusing, reset, outgrown, backwards)
    backwards.script(newest_first=True)
    backwards.fault(drop_after_notifications=BROKEN_AFTER)

    for meter, code in refusing.items():
        meter.script(refuse_filters=code)
        read(lab, meter, first(range(1, 11)), [])
    for meter in refusing:
        read(lab, meter, second(range(11, 13)), first(range(1, 11)))
        later = [value[:4] for link, _, value in meter.requests if link == 2]
        expect_equal(later[-1], REPORT_ALL, f"the last request of {later} to {meter.name}")

    # A number below the mark.
    read(lab, reset, first(range(101, 111)), [])
    reset.erase()
    read(lab, reset, second(range(1, 4)), first(range(101, 111)))
    # The number at the mark is there, and is another reading's.
    read(lab, outgrown, first(range(1, 6)), [])
    outgrown.erase()
    read(lab, outgrown, second(range(1, 9)), first(range(1, 6)))

    # What came of the newest does not stand for what did not come.
    read(lab, backwards, first(range(1, 11)), [])
    expect(len(backwards.links) > 1, "the link did not break")
    read(lab, backwards, second(range(11, 13)), first(range(1, 11)))
    last = max(link for link, _, _ in backwards.requests)
    crossed = [payload for link, payload in backwards.notifications() if link == last]
    expect_equal(len(crossed), 3, "readings that crossed the air when two were new, with the one at the mark")


def first(numbers):
    return [glucose_record(number, DateTime(2026, 7, 1, number % 24, number % 60, 0), 100) for number in numbers]


def second(numbers):
    return [glucose_record(number, DateTime(2026, 8, 1, number % 24, number % 60, 0), 110) for number in numbers]


def read(lab, meter, added, before):
    """Adds to the meter's memory, and waits until the receiver has all that was ever in it, once."""
    meter.store(*added)
    meter.wait_asleep()
    received = lab.receiver.wait_different(meter, len(before) + len(added))
    expect_equal(sorted(received), sorted(payloads_of(before + added, "2A18")), f"payloads received of {meter.name}")
    lab.journal.wait("submitted", meter, count=len(received))
