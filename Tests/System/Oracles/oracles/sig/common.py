"""What all of bluetooth-sig's characteristics have in common: how one is asked, and what it errs in."""

from bluetooth_sig.gatt.characteristics.registry import CharacteristicRegistry
from bluetooth_sig.gatt.characteristics.utils import IEEE11073Parser
from bluetooth_sig.gatt.exceptions import CharacteristicParseError, SpecialValueDetectedError

from ..comparison import Answer, Case, Difference, Mend
from ..payload import FLOAT_SPECIALS, SFLOAT_SPECIALS

PACKAGE = "bluetooth-sig"
GSS = "GATT Specification Supplement"


def case(short, generate, read, known, count=None):
    """A characteristic that bluetooth-sig knows; `read` puts its result into an answer."""
    characteristic = CharacteristicRegistry.get_characteristic(short)

    def theirs(payload):
        answer = Answer()
        try:
            result = characteristic.parse_value(bytes(payload.bytes))
        except (CharacteristicParseError, SpecialValueDetectedError) as error:
            answer["refused"] = str(error)
            return answer
        read(result, answer)
        return answer

    return Case(short, ["--characteristic", short], generate, theirs, known, count)


def bits(value, names, answer):
    """The flags of the set bits; the list is that of the bits from 0 on."""
    for bit, name in enumerate(names):
        if name:
            answer.flag(name, bool(int(value) >> bit & 1))


def sfloat(data, offset=0):
    raw = int.from_bytes(data[offset:offset + 2], "little")
    if SFLOAT_SPECIALS.get(raw, "reserved") != "reserved" or len(data) < offset + 2:
        return parse_sfloat(data, offset)
    mantissa, exponent = raw & 0xFFF, raw >> 12
    return float(f"{mantissa - 0x1000 * (mantissa >> 11)}e{exponent - 0x10 * (exponent >> 3)}")


def float32(data, offset=0):
    raw = int.from_bytes(data[offset:offset + 4], "little")
    if FLOAT_SPECIALS.get(raw, "reserved") != "reserved" or len(data) < offset + 4:
        return parse_float32(data, offset)
    mantissa, exponent = raw & 0xFFFFFF, raw >> 24
    return float(f"{mantissa - 0x1000000 * (mantissa >> 23)}e{exponent - 0x100 * (exponent >> 7)}")


parse_sfloat = IEEE11073Parser.parse_sfloat
parse_float32 = IEEE11073Parser.parse_float32


def mend_sfloat():
    IEEE11073Parser.parse_sfloat = staticmethod(sfloat)


def mend_float():
    IEEE11073Parser.parse_float32 = staticmethod(float32)


TRANSCODING = "Personal Health Devices Transcoding White Paper, SFLOAT-Type (IEEE 11073-20601, F.8)"

MENDS = [
    Mend(about="bluetooth-sig takes the exponent of an SFLOAT as biased by 8",
         source=TRANSCODING,
         says="“The 16–bit value contains a 4-bit exponent to base 10, followed by a 12-bit mantissa. Each is in "
              "twos-complement form.”",
         is_there=lambda: parse_sfloat(bytes.fromhex("6ef1")) != 36.6,
         apply=mend_sfloat),
    Mend(about="bluetooth-sig takes the exponent of a FLOAT as biased by 128",
         source="Personal Health Devices Transcoding White Paper, FLOAT-Type (IEEE 11073-20601, F.7)",
         says="8 bits of exponent and 24 of mantissa, both in two's complement",
         is_there=lambda: parse_float32(bytes.fromhex("6e0100ff")) != 36.6,
         apply=mend_float),
]


def unknown_date(field="time"):
    """A date of which a part is unknown."""
    return Difference(
        about=f"a {field} with an unknown year, month or day ends in an error of Python's datetime",
        facts="refused", when=lambda p: field in p and 0 in p[field][:3] and possible(p[field]), wrong=PACKAGE,
        source=f"{GSS}, Date Time",
        says="“A value of 0 means that the month is not known.”")


def impossible_date(field="time"):
    """A date that no calendar has, or a time that no clock has: the values are kept, with a flag."""
    return Difference(
        about=f"a {field} that no calendar or clock has takes the measured values with it",
        facts="refused", when=lambda p: field in p and not possible(p[field]), wrong="neither",
        source=f"{GSS}, Date Time",
        says="“All other values are Reserved for Future Use.”")


def early_date(field="time"):
    """bluetooth-sig takes any year that Python has."""
    return Difference(
        about=f"a {field} before the year 1582 is taken for a date",
        facts="device_time|flag device-time-invalid",
        when=lambda p: field in p and 0 < p[field][0] < 1582, wrong=PACKAGE,
        source=f"{GSS}, Date Time, Year",
        says="“Valid range 1582 to 9999.”")


def dates(field="time"):
    return [unknown_date(field), impossible_date(field), early_date(field)]


def possible(parts):
    """Whether a calendar and a clock have these, unknown parts left aside."""
    year, month, day, hours, minutes, seconds = parts
    days = (31, 29 if leap(year or 2000) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return ((year == 0 or 1582 <= year <= 9999) and month <= 12 and hours < 24 and minutes < 60 and seconds < 60
            and day <= days[(month or 1) - 1])


def leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def value_of(raw):
    """The number that an SFLOAT is when it is not one of the special values."""
    mantissa, exponent = raw & 0xFFF, raw >> 12
    return (mantissa - 0x1000 * (mantissa >> 11)) * 10.0 ** (exponent - 0x10 * (exponent >> 3))


def reserved_enumeration(name, when, place, says):
    """A number without a meaning says nothing; what else the payload says still counts."""
    return Difference(about=f"a reserved {name} takes the whole payload with it", facts="refused", when=when,
                      wrong="neither", source=f"{GSS}, {place}", says=f"“{says}”")


def unmeasured(facts):
    """What no living body has."""
    return Difference(
        about="a number that no living body has is given out as one", facts=facts, when=lambda p: True, wrong="neither",
        source="docs/records.md, Measurements and flags of each kind",
        says="captures of devices that had measured nothing: a mean pressure, a saturation, a body fat of 0",
        how=lambda our, their: isinstance(our, tuple) and isinstance(their, tuple) and our[0] == "not-measured"
        and their[0] <= 0 and our[1] == their[1])


def reserved_number(facts, *fields):
    """The reserved special value is a number to bluetooth-sig."""
    return Difference(
        about="the reserved special value is a number to bluetooth-sig", facts=facts,
        when=lambda p: any(p.special(name) == "reserved" for name in fields or p.numbers), wrong=PACKAGE,
        source=TRANSCODING, says="“Reserved for future use [exponent 0, mantissa –(2^11 –1) → 0x0801]”",
        how=lambda our, their: isinstance(our, tuple) and our[0] == "reserved")
