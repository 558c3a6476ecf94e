"""Current Time Service: 2A2B; Date Time: 2A08."""

from ..comparison import Difference
from ..payload import Payload
from .common import GSS, PACKAGE, bits, case, dates, possible, reserved_enumeration


def date_time(random):
    payload = Payload()
    random.date_time(payload, "time")
    return payload


REASONS = ["manual-time-update", "external-reference-time-update", "change-of-time-zone", "change-of-dst"]


def current_time(random):
    payload = date_time(random)
    payload.put("day of week", random.randint(0, 7) if random.chance(0.95) else random.uint8(), 1)
    payload.put("fractions", random.uint8(), 1)
    payload.put("reason", random.getrandbits(4) if random.chance(0.9) else random.uint8(), 1)
    return payload


def read_current_time(result, answer):
    answer.time(result.date_time)
    answer.measure("fraction", result.fractions256 / 256, "s")
    bits(result.adjust_reason, REASONS, answer)


CASES = [
    case("2A08", date_time, lambda result, answer: answer.time(result), dates()),
    case("2A2B", current_time, read_current_time, [
        *dates()[1:],
        Difference(
            about="a time that no clock has is not noticed beside an unknown date", facts="flag device-time-invalid",
            when=lambda p: 0 in p["time"][:3] and not possible(p["time"]), wrong=PACKAGE,
            source=f"{GSS}, Date Time, Hours", says="“Valid range 0 to 23.”"),
        reserved_enumeration("day of the week", lambda p: p["day of week"] > 7, "Day of Week",
                             "8–255: Reserved for Future Use")]),
]
