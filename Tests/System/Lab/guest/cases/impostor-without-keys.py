"""Somebody else's radios that claim to be the patient's cuff, by its address with either address type."""

from labkit.kinds import CUFF
from labkit.pairing import pair
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect_equal, hold_for

TITLE = "an impostor with the cuff's address and without its keys: not one PDU, no record; the cuff is read after it"
LIMIT_S = 240
WATCHED_S = 30
GENUINE, FORGED = ((121, 0), (199, 0))
NAMES = {False: "impostor", True: "public impostor"}


def run(lab):
    cuff = lab.add("cuff", CUFF, bonding={})
    lab.gateway.start(cuff, settings={cuff: {"require_bond": True}})
    cuff.pairing_mode()
    pair(cuff.address)
    cuff.give(reading(GENUINE, 1))
    cuff.wait_given(1)
    cuff.wait_link_ended(len(cuff.links))

    # The cuff sleeps, and keeps its bond.
    impostors = [lab.air.add(name, cuff.address, CUFF, public=public) for public, name in NAMES.items()]
    for impostor in impostors:
        impostor.give(reading(FORGED, 2))
    # One for each: the one has no keys, the other is another device by its address type.
    lab.journal.wait("bond-lost", cuff, count=2)
    hold_for("no impostor's reading is taken", WATCHED_S, lambda: not any(each.given for each in impostors))
    for impostor in impostors:
        expect_equal([link["pdus"] for link in impostor.links if link["pdus"]], [], f"what was said to {impostor.name}")
    expect_equal(impostors[1].links, [], "links to the one of the other address type")
    for impostor in impostors:
        lab.air.remove(impostor)

    # After bond-lost the device is left alone for a while; a start forgets that.
    lab.gateway.stop()
    lab.gateway.start(cuff, settings={cuff: {"require_bond": True}})
    cuff.give(reading(GENUINE, 3))
    cuff.wait_given(2)
    records = lab.receiver.wait(cuff, count=2)
    expect_equal([record["raw"]["hex"] for record in records], [reading(GENUINE, 1), reading(GENUINE, 3)], "readings")


def reading(systolic, minute):
    return blood_pressure(systolic, (81, 0), (95, 0), DateTime(2024, 5, 9, 8, minute, 0))
