"""Devices that show a passkey, or have one printed on them."""

from labkit.kinds import CUFF, GLUCOSE_METER, THERMOMETER
from labkit.pairing import CONFIRM_NUMBER, PASSKEY_WANTED, PairCommand
from labkit.payloads import DateTime, blood_pressure, glucose_record, payloads_of, temperature
from labkit.waiting import expect, expect_equal

TITLE = "a passkey shown on the device and typed, one from a credential, and numbers to compare"
LIMIT_S = 300
PRINTED = "246810"


def run(lab):
    meter = lab.add("meter", GLUCOSE_METER, bonding={"method": "passkey"})
    printed = lab.add("printed", THERMOMETER, bonding={"method": "passkey", "passkey": int(PRINTED), "secure": False})
    cuff = lab.add("cuff", CUFF, bonding={"method": "compare"})
    lab.gateway.start(meter, printed, cuff, settings={printed: {"passkey": lab.gateway.keep_key("passkey", PRINTED)}})
    check_typed(lab, meter)
    check_printed(lab, printed)
    check_compared(lab, cuff)
    for peripheral in (meter, printed, cuff):
        expect_equal(len(lab.journal.events("paired", peripheral)), 1, f"number of paired of {peripheral.name}")
        expect_equal(peripheral.links[-1]["encrypted"], 0, f"PDUs of {peripheral.name}'s link before it was encrypted")


def check_typed(lab, meter):
    meter.pairing_mode()
    command = PairCommand(meter.kind.model)
    command.wait(PASSKEY_WANTED)
    wrong = (int(meter.shown[-1]) + 1) % 1_000_000
    command.type(f"{wrong:06}")
    command.wait_failed("wrong-passkey")
    lab.journal.wait("pair-failed", meter)
    expect_equal((meter.pairings, meter.bonds), (0, []), "pairings with a wrong passkey")

    command = PairCommand(meter.address)
    command.wait(PASSKEY_WANTED)
    command.type(meter.shown[-1])
    command.wait_paired()
    stored = [glucose_record(number, DateTime(2026, 3, 2, number, 0, 0), 95 + number) for number in (1, 2, 3)]
    meter.store(*stored)
    records = lab.receiver.wait_different(meter, len(stored))
    expect_equal(sorted(records), sorted(payloads_of(stored, "2A18")), "readings of the meter")


def check_printed(lab, thermometer):
    thermometer.pairing_mode()
    command = PairCommand(thermometer.address)
    command.wait_paired()
    expect(all(step["step"] != PASSKEY_WANTED for step in command.steps), "a passkey was asked for")
    reading = temperature(367, -1)
    thermometer.give(reading)
    record, = lab.receiver.wait(thermometer)
    expect_equal(record["raw"]["hex"], reading, "reading of the thermometer")


def check_compared(lab, cuff):
    cuff.pairing_mode()
    command = PairCommand(cuff.address)
    asked = command.wait(CONFIRM_NUMBER)
    expect_equal(asked["code"], cuff.shown[-1], "the number to compare")
    command.type("n")
    command.wait_failed("wrong-passkey")
    expect_equal(cuff.pairings, 0, "pairings with numbers that are not the same")
    command = PairCommand(cuff.address)
    command.wait(CONFIRM_NUMBER)
    command.type("y")
    command.wait_paired()
    reading = blood_pressure((118, 0), (79, 0), (92, 0), DateTime(2024, 5, 5, 9, 0, 0))
    cuff.give(reading)
    record, = lab.receiver.wait(cuff)
    expect_equal(record["raw"]["hex"], reading, "reading of the cuff")
