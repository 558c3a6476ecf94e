"""A bond that is gone on the device's side, by its user or by its maker's reset."""

from labkit.kinds import CUFF
from labkit.pairing import pair
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal, hold_for

TITLE = "a bond deleted on the cuff: told once, no loop of links, paired anew and read"
LIMIT_S = 300
WATCHED_S = 40
# In which the cuff wakes up three times; two fail at once, and the rest is left to the operator.
LINKS_AT_MOST = 3


def run(lab):
    cuff = lab.add("cuff", CUFF, bonding={})
    lab.gateway.start(cuff)
    cuff.pairing_mode()
    pair(cuff.address)
    cuff.give(reading(1))
    cuff.wait_given(1)

    cuff.forget_bonds()
    known = len(cuff.links)
    cuff.give(reading(2))
    lost, = lab.journal.wait("bond-lost", cuff)
    expect("pair" in lost["INGEST_ERROR"], "the event does not say what to do")
    hold_for("the cuff gives nothing over a link without keys", WATCHED_S, lambda: len(cuff.given) == 1)
    links = len(cuff.links) - known
    expect(links <= LINKS_AT_MOST, f"{links} links to a cuff without keys within {WATCHED_S} s")
    expect_equal(len(lab.journal.events("bond-lost", cuff)), 1, "number of bond-lost")

    cuff.pairing_mode()
    pair(cuff.address)
    cuff.wait_given(2)
    records = lab.receiver.wait(cuff, count=2)
    expect_equal([record["raw"]["hex"] for record in records], [reading(1), reading(2)], "readings")
    expect_equal(cuff.links[-1]["encrypted"], 0, "PDUs before the link was encrypted")
    return f"{links} links until the operator paired it anew"


def reading(number):
    return blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2024, 5, 6, 8, number, 0))
