"""Oximeters that measure once: those that give it at once, and those that store it."""

from labkit.gateway import local_time
from labkit.kinds import SPOT_OXIMETER, STORING_OXIMETER
from labkit.payloads import DateTime, payloads_of, record_id, spot_oximetry
from labkit.waiting import expect, expect_equal

SHOWN_BY_UNITS = True
TITLE = "spot measurements of oximeters, given at once or stored: one record each, and short links"
# From the last PDU to the link's end. Nothing streams from them: a stream would be waited for 10 s.
LONGEST_WAIT_S = 8
READ_BY_TYPE_REQUEST = "08"


def run(lab):
    spot = lab.add("spot-oximeter", SPOT_OXIMETER)
    storing = lab.add("storing-oximeter", STORING_OXIMETER)
    lab.gateway.start(spot, storing)
    payload = spot_oximetry(97, 64, DateTime.of(local_time()))
    spot.give(payload)
    record, = lab.receiver.wait(spot)
    expect_equal(record["id"], record_id(spot.address, "2A5E", payload), "record id")
    values = {entry["type"]: str(entry["value"]) for entry in record["measurements"]}
    expect_equal(values, {"spo2": "97", "pulse-rate": "64"}, "measurements")
    link = spot.wait_link_ended(1)
    waited = link["closed"] - link["pdus"][-1][0]
    expect(waited < LONGEST_WAIT_S, f"the link ended {waited:.1f} s after its last PDU")

    old = [stored(number) for number in range(5)]
    storing.store(*old)
    storing.wait_link_ended(1)
    received = lab.receiver.wait_different(storing, len(old))
    expect_equal(sorted(received), sorted(payloads_of(old, "2A5E")), "payloads received")
    new = [stored(number) for number in range(5, 7)]
    storing.store(*new)
    again = storing.wait_link_ended(2)
    asked = [pdu for _, direction, pdu in again["pdus"] if direction == ">" and pdu.startswith(READ_BY_TYPE_REQUEST)]
    expect_equal(asked, [], "questions for what the first link has found or found absent")
    received = lab.receiver.wait_different(storing, len(old + new))
    expect_equal(sorted(received), sorted(payloads_of(old + new, "2A5E")), "payloads received in the end")
    lab.journal.wait("submitted", storing, count=len(old + new))
    expect_equal(len(lab.journal.events("read", storing)), len(old + new), "number of read")


def stored(number):
    return [number, [["2A5E", spot_oximetry(90 + number, 60, DateTime(2026, 10, 1, 8, number, 0))]]]
