"""A device that hides its address from all but its bonded gateway."""

from labkit.commands import run as run_program
from labkit.kinds import CUFF
from labkit.pairing import PairCommand, pair, remove_bond, unpair
from labkit.payloads import DateTime, blood_pressure, record_id
from labkit.waiting import expect, expect_equal, hold_for

TITLE = ("private addresses: no link before it is paired; then one device, known by its identity address, and found "
         "when it is paired anew; who is another one is not kept")
LIMIT_S = 360
WATCHED_S = 20


def run(lab):
    cuff = lab.add("cuff", CUFF, bonding={"private": True})
    lab.gateway.start(cuff, settings={cuff: {"address": None}})
    cuff.give(reading(1))
    hold_for("nobody connects to an unknown private address", WATCHED_S, lambda: not cuff.links)

    cuff.pairing_mode()
    paired = pair(cuff.kind.model)
    expect_equal(paired["address"], cuff.address, "address of the paired device")
    cuff.wait_given(1)
    cuff.give(reading(2))
    cuff.wait_given(2)
    addresses = {address for address in lab.capture.connection_attempts()}
    expect(len(addresses) >= 2 and cuff.address not in addresses, f"addresses connected to: {addresses}")
    records = lab.receiver.wait(cuff, count=2)
    for number, record in enumerate(records, start=1):
        expect_equal(record["id"], record_id(cuff.address, "2A35", reading(number)), "record id")
    for number, _ in cuff.given:
        expect_equal(cuff.links[number - 1]["encrypted"], 0, f"PDUs of link {number} before it was encrypted")
    pair_anew(lab, cuff)
    return f"{len(addresses)} addresses, one device"


def pair_anew(lab, cuff):
    # The entry that `ingestd pair` printed names it by its address, and its bond is removed on both sides.
    lab.gateway.stop()
    lab.gateway.start(cuff)
    unpair(cuff.address)
    cuff.forget_bonds()
    other = lab.add("other", CUFF, bonding={"private": True})
    other.pairing_mode()
    PairCommand(cuff.address).wait_failed("other-device")
    lab.journal.wait("pair-failed", cuff)
    bonds = run_program("bluetoothctl", "devices", "Paired")
    expect(other.address not in bonds, f"the other cuff's bond is kept: {bonds}")
    other.pairing_mode(False)

    cuff.pairing_mode()
    expect_equal(pair(cuff.address)["address"], cuff.address, "address of the device that was paired anew")
    cuff.give(reading(3))
    cuff.wait_given(3)
    lab.receiver.wait(cuff, count=3)
    expect_equal(lab.receiver.records(other), [], "records of the other cuff")
    expect_equal(lab.journal.events("bond-lost", cuff), [], "lost bonds")
    # Behind the gateway's back: nothing of the cuff is heard any more, and the operator is told all the same.
    remove_bond(cuff.address)
    lab.journal.wait("bond-lost", cuff)


def reading(number):
    return blood_pressure((125 + number, 0), (82, 0), (96, 0), DateTime(2024, 5, 8, 8, number, 0))
