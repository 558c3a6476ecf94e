"""Scales, with one service and with two."""

from labkit.gateway import local_time
from labkit.kinds import BODY_SCALE, SCALE
from labkit.payloads import DateTime, body_composition, record_id, weight
from labkit.waiting import expect, expect_equal

SHOWN_BY_UNITS = True
TITLE = "a weight, and a weight with a body composition in two packets: one record each, and they belong together"
FAT = 253
# Basal metabolism in kJ, muscle in 0.1 %, muscle mass in 5 g.
FIRST = (7010, 405, 6200)
# Fat free, soft lean and water mass in 5 g, impedance in 0.1 Ohm, weight in 5 g, height in mm.
SECOND = (10830, 10200, 7900, 5125, 14500, 1800)


def run(lab):
    scale = lab.add("scale", SCALE)
    body_scale = lab.add("body-scale", BODY_SCALE)
    lab.gateway.start(scale, body_scale, settings={body_scale: {"users": {"1": "patient-17"}}})

    measured = DateTime.of(local_time())
    payload = weight(72.5, measured, user=2, bmi=22.4, height=1800)
    scale.give(payload)
    record, = lab.receiver.wait(scale)
    expect_equal(values(record), {"weight": "72.500", "bmi": "22.4", "height": "1.800"}, "measurements of the scale")
    expect_equal(record["id"], record_id(scale.address, "2A9D", payload), "record id")

    payload = weight(72.5, measured, user=1, bmi=22.4, height=1800)
    parts = body_composition(FAT, measured, 1, FIRST, SECOND)
    body_scale.give(payload, *(["2A9C", part] for part in parts))
    body_scale.wait_given(3)
    records = {record["kind"]: record for record in lab.receiver.wait(body_scale, count=2)}
    expect_equal(set(records), {"weight", "body-composition"}, "kinds")
    composition = records["body-composition"]
    expect_equal(values(composition), {
        "body-fat": "25.3", "basal-metabolism": "7010", "muscle-percentage": "40.5", "muscle-mass": "31.000",
        "fat-free-mass": "54.150", "soft-lean-mass": "51.000", "body-water-mass": "39.500", "impedance": "512.5",
        "weight": "72.500", "height": "1.800"}, "measurements of the body composition")
    expect_equal(composition.get("related"), records["weight"]["id"], "what the body composition belongs to")
    for record in records.values():
        expect_equal(record["time"]["device"], measured.text, "device time")
        expect_equal((record.get("user"), record.get("subject")), (1, "patient-17"), "user and subject")
    lab.journal.wait("submitted", body_scale, count=2)
    for name in ("decode-error", "read-failed"):
        expect_equal(lab.journal.events(name), [], f"events {name}")
    expect(len(body_scale.links) == 1, "the body scale was read more than once")


def values(record):
    return {entry["type"]: str(entry["value"]) for entry in record["measurements"]}
