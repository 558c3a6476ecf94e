"""Health Thermometer Service: 2A1C, 2A1D, 2A1E."""

from ..payload import Payload
from .common import case, dates, reserved_enumeration, reserved_number

SITES = ["", "armpit", "body", "ear", "finger", "gastrointestinal-tract", "mouth", "rectum", "toe", "tympanum"]


def measurement(random):
    payload = Payload()
    flags = random.flags("fahrenheit", "time", "type")
    payload.put_flags(random, flags, reserved=0xf8)
    payload.number("temperature", random.float(*((86, 113) if "fahrenheit" in flags else (30, 45))), 4)
    if "time" in flags:
        random.date_time(payload, "time")
    if "type" in flags:
        payload.put("type", random.randint(1, 9) if random.chance(0.9) else random.uint8(), 1)
    return payload


def read(result, answer):
    answer.measure("body-temperature", result.temperature, {"°C": "Cel", "°F": "[degF]"}[result.unit.value])
    answer.time(result.timestamp)
    if result.temperature_type is not None:
        answer.flag(f"site-{SITES[result.temperature_type]}", result.temperature_type > 0)


RESERVED_TYPE = reserved_enumeration("temperature type", lambda p: p.get("type", 1) > 9, "Temperature Type",
                                     "10–255: Reserved for Future Use")

KNOWN = [
    *dates(),
    RESERVED_TYPE,
    reserved_number("body-temperature 1", "temperature"),
]


def type_(random):
    payload = Payload()
    payload.put("type", random.randint(1, 9) if random.chance(0.9) else random.uint8(), 1)
    return payload


CASES = [
    case("2A1C", measurement, read, KNOWN),
    case("2A1E", measurement, read, KNOWN),
    case("2A1D", type_, lambda result, answer: answer.flag(f"site-{SITES[result]}", result > 0), [RESERVED_TYPE],
         count=500),
]
