"""Makers' orders of pairing and reading, and pairing without being asked."""

from labkit.kinds import AND_CUFF, OMRON_CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect_equal, hold_for

TITLE = "cuffs paired without being asked, one read over that link, one after it hung up"
LIMIT_S = 240
PROVE_ONLY = True
WATCHED_S = 15


def run(lab):
    keeps = lab.add("keeps", OMRON_CUFF, bonding={})
    hangs_up = lab.add("hangs-up", AND_CUFF, bonding={"hangs_up": True, "secure": False})
    manual = lab.add("manual", AND_CUFF, bonding={})
    automatic = {"pair": "auto"}
    lab.gateway.start(keeps, hangs_up, manual, settings={keeps: automatic, hangs_up: automatic})

    keeps.pairing_mode()
    keeps.give(reading(1))
    lab.journal.wait("paired", keeps)
    keeps.wait_given(1)
    number, _ = keeps.given[0]
    expect_equal(number, len(keeps.links), "the link that gave the reading")
    expect_equal(bonding_link(keeps), number, "the link on which it was paired")

    hangs_up.pairing_mode()
    lab.journal.wait("paired", hangs_up)
    hangs_up.give(reading(2))
    hangs_up.wait_given(1)
    expect_equal(hangs_up.links[-1]["encrypted"], 0, "PDUs before the link was encrypted")
    for peripheral in (keeps, hangs_up):
        lab.receiver.wait(peripheral)
        expect_equal(peripheral.pairings, 1, f"pairings of {peripheral.name}")
        expect_equal(lab.journal.events("pair-failed", peripheral), [], f"failures of {peripheral.name}")

    manual.pairing_mode()
    hold_for("nobody pairs without being asked", WATCHED_S, lambda: manual.pairings == 0)
    manual.pairing_mode(False)


def bonding_link(peripheral):
    return peripheral.report()["bonding"]["link"]


def reading(number):
    return blood_pressure((115 + number, 0), (77, 0), (90, 0), DateTime(2024, 5, 11, 8, number, 0))
