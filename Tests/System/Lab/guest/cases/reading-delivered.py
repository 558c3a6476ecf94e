"""The way of a reading, from the peripheral's bytes to the backend and the journal."""

from labkit.kinds import CUFF, INFORMATION, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, record_id, temperature
from labkit.tags import tag
from labkit.waiting import expect, expect_equal

TITLE = "readings arrive once each, with the digits that were sent"
MEASURED = DateTime(2024, 6, 15, 17, 17, 27)


def run(lab):
    dated = lab.add("dated-thermometer", THERMOMETER, information=INFORMATION, battery=81)
    undated = lab.add("thermometer", THERMOMETER, information=INFORMATION, battery=82)
    cuff = lab.add("cuff", CUFF, information=INFORMATION, battery=90)
    readings = {
        dated: (temperature(3660, -2, MEASURED), {"body-temperature": "36.60"}),
        undated: (temperature(371, -1), {"body-temperature": "37.1"}),
        cuff: (blood_pressure((138, 0), (835, -1), (100, 0), MEASURED, pulse=(62, 0)),
               {"systolic": "138", "diastolic": "83.5", "mean-arterial-pressure": "100", "pulse-rate": "62"}),
    }
    lab.gateway.start(*readings)
    for peripheral, (payload, _) in readings.items():
        peripheral.give(payload)
    for peripheral, (payload, values) in readings.items():
        check(lab, peripheral, payload, values)
    for peripheral in (dated, cuff):
        payload = readings[peripheral][0]
        record, = lab.receiver.records(peripheral)
        expect_equal(record["id"], record_id(peripheral.address, peripheral.characteristic, payload), "record id")
        expect_equal(record["time"]["device"], MEASURED.text, "device time")


def check(lab, peripheral, payload, values):
    record, = lab.receiver.wait(peripheral)
    found = {entry["type"]: str(entry["value"]) for entry in record["measurements"]}
    expect_equal(found, values, f"measurements of {peripheral.name}")
    expect_equal(record["raw"], {"characteristic": peripheral.characteristic, "hex": payload}, "raw bytes")
    device = record["device"]
    expect_equal({key: device.get(key) for key in INFORMATION}, INFORMATION, "device information")
    expect("battery" in device, "no battery level in the record")
    expect_equal(peripheral.given, [(1, payload)], f"what {peripheral.name} gave")
    lab.journal.wait("submitted", peripheral, record_id=tag(record["id"]))
    of_record = [entry["INGEST_EVENT"] for entry in lab.journal.events(record_id=tag(record["id"]))]
    expect_equal(of_record, ["read", "submitted"], f"events of {peripheral.name}'s record")
