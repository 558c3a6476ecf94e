"""Heart Rate Service: 2A37, 2A38."""

from ..comparison import Difference
from ..payload import Payload
from .common import bits, case, reserved_enumeration

LOCATIONS = ["other", "chest", "wrist", "finger", "hand", "ear-lobe", "foot"]


def measurement(random):
    payload = Payload()
    flags = random.flags("16 bits", "contact detected", "contact supported", "energy", "intervals")
    payload.put_flags(random, flags, reserved=0xe0)
    if "16 bits" in flags:
        payload.put("heart rate", random.uint16(), 2)
    else:
        payload.put("heart rate", random.uint8(), 1)
    if "energy" in flags:
        payload.put("energy", random.uint16(), 2)
    if "intervals" in flags:
        for n in range(random.randint(1, 9)):
            payload.put(f"interval {n}", random.choice((random.randint(300, 2000), random.uint16())), 2)
    return payload


def read(result, answer):
    answer.measure("heart-rate", result.heart_rate, "/min")
    answer.measure("energy-expended", result.energy_expended, "kJ")
    for interval in result.rr_intervals:
        answer.measure("rr-interval", interval, "s")
    answer.flag("sensor-contact", result.sensor_contact == "detected")
    answer.flag("no-sensor-contact", result.sensor_contact == "not_detected")


def location(random):
    payload = Payload()
    payload.put("location", random.choice((random.randint(0, 6), random.uint8())), 1)
    return payload


def is_of_nobody(payload):
    """Whether the sensor says that it touches nobody, or sends the rate that no one has."""
    return payload["heart rate"] == 0 or payload["flags"] & 0x06 == 0x04


CASES = [
    case("2A37", measurement, read, [
        Difference(
            about="a rate that was measured on nobody is given out as one", facts="heart-rate 1", when=is_of_nobody,
            wrong="neither", source="Heart Rate Service 1.0, 3.1.1.1.2 Sensor Contact Status Bits",
            says="2 in bits 1 and 2 of the flags: contact is supported and not detected",
            how=lambda our, their: our[0] == "not-measured" and our[1] == their[1]),
        Difference(
            about="a counter of energy that stays at its end is taken for a value", facts="energy-expended 1",
            when=lambda p: p.get("energy") == 0xFFFF, wrong="neither",
            source="Heart Rate Service 1.0, 3.1.1.3 Energy Expended Field",
            says="a counter that has reached its maximum, 65535 kJ, stays there until it is reset",
            how=lambda our, their: our[0] == "positive-infinity")]),
    case("2A38", location, lambda result, answer: answer.flag(f"location-{LOCATIONS[result]}"), [
        reserved_enumeration("location", lambda p: p["location"] > 6, "Body Sensor Location",
                             "0x07–0xFF: Reserved for Future Use")], count=500),
]
