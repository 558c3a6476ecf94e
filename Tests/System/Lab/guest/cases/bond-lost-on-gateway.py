"""A bond that is gone on the gateway's side."""

from labkit.kinds import CUFF
from labkit.pairing import pair, remove_bond, unpair
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect_equal, hold_for

TITLE = "a bond deleted on the gateway: told once, paired anew and read; unpaired by the operator it is no lost bond"
LIMIT_S = 300
PROVE_ONLY = True
WATCHED_S = 30


def run(lab):
    cuff = lab.add("cuff", CUFF, bonding={})
    lab.gateway.start(cuff)
    cuff.pairing_mode()
    pair(cuff.address)
    cuff.give(reading(1))
    cuff.wait_given(1)

    remove_bond(cuff.address)
    cuff.give(reading(2))
    lab.journal.wait("bond-lost", cuff)
    hold_for("the cuff gives nothing without a bond", WATCHED_S, lambda: len(cuff.given) == 1)
    expect_equal(len(lab.journal.events("bond-lost", cuff)), 1, "number of bond-lost")
    cuff.pairing_mode()
    pair(cuff.address)
    cuff.wait_given(2)

    unpair(cuff.address)
    cuff.give(reading(3))
    hold_for("the cuff gives nothing to a gateway that has unpaired it", WATCHED_S, lambda: len(cuff.given) == 2)
    expect_equal(len(lab.journal.events("bond-lost", cuff)), 1, "number of bond-lost after unpair")
    records = lab.receiver.wait(cuff, count=2)
    expect_equal([record["raw"]["hex"] for record in records], [reading(1), reading(2)], "readings")


def reading(number):
    return blood_pressure((130 + number, 0), (85, 0), (99, 0), DateTime(2024, 5, 7, 8, number, 0))
