"""A household: one device streams, one accepts the subscription and stays silent, and six cuffs wake at once."""

from labkit.kinds import CUFF, STRAP, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, heart_rate
from labkit.waiting import expect_equal, wait_until

SHOWN_BY_UNITS = True
TITLE = "beside a stream and a silent device six cuffs that wake at once are each read in the window of their first wake-up"
LIMIT_S = 300
CUFFS = 6
# How long a cuff advertises.
WINDOW_S = 25
# A cuff that was not read in its window does not come again.
SLEEP_S = 3_600


def run(lab):
    strap = lab.add("strap", STRAP)
    silent = lab.add("silent-thermometer", THERMOMETER)
    cuffs = [lab.add(f"cuff-{number}", CUFF, awake_s=WINDOW_S, asleep_s=SLEEP_S) for number in range(1, CUFFS + 1)]
    lab.gateway.start(strap, silent, *cuffs, passive={"stream_interval": "5s"})

    strap.linger()
    strap.give(heart_rate(70, 830))
    wait_records(lab, strap, 1)
    silent.linger()
    silent.wait_subscribed()
    for number, cuff in enumerate(cuffs):
        cuff.give(blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2026, 11, 3, 8, number, 0)))
    for cuff in cuffs:
        cuff.wait_given()
    for cuff in cuffs:
        lab.receiver.wait(cuff)
        expect_equal(len(cuff.given), 1, f"readings that {cuff.name} gave")
    # While nobody else waits, the stream goes on.
    wait_records(lab, strap, len(lab.receiver.records(strap)) + 2)
    expect_equal([name for cuff in cuffs for name in lab.journal.events("read-failed", cuff)], [], "failures")
    return f"{CUFFS} of {CUFFS} cuffs"


def wait_records(lab, strap, count):
    wait_until("the strap streams", 60, lambda: len(lab.receiver.records(strap)) >= count)
