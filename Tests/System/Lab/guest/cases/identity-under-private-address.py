"""Somebody else's radio that gives the identity of the patient's cuff with its keys."""

from labkit.kinds import CUFF
from labkit.pairing import PairCommand, pair
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal, hold_for

TITLE = "a bonded cuff's identity given under a private address: not paired by itself; for an operator not kept, and told"
LIMIT_S = 300
PROVE_ONLY = True
WATCHED_S = 30
GENUINE, FORGED = ((121, 0), (199, 0))


def run(lab):
    cuff = lab.add("cuff", CUFF, bonding={})
    # Any cuff in pairing mode is paired by itself.
    anyone = lab.add("anyone", CUFF, bonding={})
    lab.gateway.start(cuff, anyone, settings={
        cuff: {"require_bond": True}, anyone: {"address": None, "pair": "auto", "require_bond": True}})
    cuff.pairing_mode()
    pair(cuff.address)
    cuff.pairing_mode(False)
    read(lab, cuff, 1)

    # The kernel takes the identity that comes from a private address, whosever it is.
    claimant = lab.air.add("claimant", cuff.address, CUFF, bonding={"private": True})
    claimant.pairing_mode()
    hold_for("nobody under a private address is paired by itself", WATCHED_S, lambda: claimant.pairings == 0)
    claimant.pairing_mode(False)
    # Under a public one somebody is, so that the wait has shown something.
    anyone.pairing_mode()
    lab.journal.wait("paired", anyone)
    anyone.pairing_mode(False)
    read(lab, cuff, 2)

    # An operator means another one. The cuff's keys are gone then, and the claimant's must not count for them.
    claimant.pairing_mode()
    PairCommand(CUFF.model).wait_failed("other-device")
    expect_equal(claimant.pairings, 1, "pairings of the claimant")
    lab.journal.wait("bond-lost", cuff)
    claimant.pairing_mode(False)
    claimant.give(reading(FORGED, 3))
    hold_for("the claimant's reading is not taken", WATCHED_S, lambda: not claimant.given)
    lab.air.remove(claimant)

    # The cuff is paired anew, by its address.
    cuff.forget_bonds()
    cuff.pairing_mode()
    pair(cuff.address)
    cuff.pairing_mode(False)
    read(lab, cuff, 4)
    records = lab.receiver.records(cuff)
    expect(reading(FORGED, 3) not in [record["raw"]["hex"] for record in records], "a forged reading was delivered")
    expect_equal(len(records), 3, "readings of the cuff")


def read(lab, cuff, minute):
    count = len(lab.receiver.records(cuff)) + 1
    cuff.give(reading(GENUINE, minute))
    lab.receiver.wait(cuff, count=count)
    cuff.wait_link_ended(len(cuff.links))


def reading(systolic, minute):
    return blood_pressure(systolic, (81, 0), (95, 0), DateTime(2024, 5, 9, 8, minute, 0))
