"""Blood Pressure Service: 2A35, 2A36, 2A49, 2B34, 2B35, 2B36."""

import datetime

from bluetooth_sig.gatt.characteristics.registry import CharacteristicRegistry

from ..comparison import Difference
from ..payload import Payload
from .common import GSS, PACKAGE, bits, case, dates, reserved_number, unmeasured, value_of

PRESSURES = ("systolic", "diastolic", "mean arterial pressure")
SERVICE = "Blood Pressure Service 1.1.1, 3.1"
STATUS = ["body-movement", "cuff-too-loose", "irregular-pulse", None, None, "improper-measurement-position"]


def begin(random, pressures):
    payload = Payload()
    flags = random.flags("kPa", "time", "pulse rate", "user", "status", None, None, None)
    payload.put_flags(random, flags, reserved=0xe0)
    high = 39 if "kPa" in flags else 299
    for name in pressures:
        payload.number(name, random.sfloat(0, high), 2)
    return payload, flags


def finish(random, payload, flags):
    if "time" in flags:
        random.date_time(payload, "time")
    if "pulse rate" in flags:
        payload.number("pulse rate", random.sfloat(30, 200) if random.chance(0.98) else random.randint(30, 239) << 8, 2)
    if "user" in flags:
        payload.put("user", random.uint8(), 1)
    if "status" in flags:
        payload.put("status", random.getrandbits(6) if random.chance(0.8) else random.getrandbits(16), 2)
    return payload


def measurement(random):
    payload, flags = begin(random, PRESSURES)
    return finish(random, payload, flags)


def intermediate(random):
    payload, flags = begin(random, ("cuff pressure",))
    # The two others are unused.
    for name in ("unused 1", "unused 2"):
        payload.put(name, 0x07FF, 2)
    return finish(random, payload, flags)


def read_optional(result, answer):
    answer.time(result.optional_fields.timestamp)
    read_pulse_user_status(result.optional_fields, answer)


def read_pulse_user_status(fields, answer):
    answer.measure("pulse-rate", fields.pulse_rate, "/min")
    if fields.user_id is not None:
        if fields.user_id == 255:
            answer.flag("unknown-user")
        else:
            answer["user"] = fields.user_id
    if fields.measurement_status is not None:
        bits(fields.measurement_status, STATUS, answer)
        limit = fields.measurement_status >> 3 & 3
        answer.flag("pulse-rate-exceeds-upper-limit", limit == 1)
        answer.flag("pulse-rate-less-than-lower-limit", limit == 2)


def read_measurement(result, answer):
    unit = unit_of(result)
    answer.measure("systolic", result.systolic, unit)
    answer.measure("diastolic", result.diastolic, unit)
    answer.measure("mean-arterial-pressure", result.mean_arterial_pressure, unit)
    read_optional(result, answer)


def read_intermediate(result, answer):
    answer.measure("cuff-pressure", result.current_cuff_pressure, unit_of(result))
    read_optional(result, answer)


def enhanced(random, pressures):
    payload = Payload()
    flags = random.flags("kPa", "time", "pulse rate", "user", "status", "shown time", "epoch 2000", None)
    payload.put_flags(random, flags, reserved=0x80)
    for name in pressures:
        payload.number(name, random.sfloat(0, 39 if "kPa" in flags else 299), 2)
    if "time" in flags:
        payload.put("time", random.getrandbits(32), 4)
    if "pulse rate" in flags:
        payload.number("pulse rate", random.sfloat(30, 200), 2)
    if "user" in flags:
        payload.put("user", random.uint8(), 1)
    if "status" in flags:
        payload.put("status", random.getrandbits(16), 2)
    if "shown time" in flags:
        payload.put("shown time", random.getrandbits(32), 4)
    return payload


def record(random):
    payload = Payload()
    payload.put("header", 3 | random.getrandbits(6) << 2, 1)
    payload.put("number", random.getrandbits(16), 2)
    payload.put("UUID", 0x2B34, 2)
    inner = enhanced(random, PRESSURES)
    payload.bytes += inner.bytes
    payload.fields |= inner.fields
    payload.numbers |= inner.numbers
    return payload


def read_enhanced(result, answer):
    seconds = result.timestamp if result.user_facing_time is None else result.user_facing_time
    if seconds is not None:
        answer.time(datetime.datetime(result.epoch_year.value, 1, 1) + datetime.timedelta(seconds=seconds))
    # The time stamp is UTC, as the Supplement says in words.
    answer.flag("device-time-utc", result.timestamp is not None and result.user_facing_time is None)
    read_pulse_user_status(result, answer)


def read_enhanced_measurement(result, answer):
    unit = unit_of(result)
    answer.measure("systolic", result.systolic, unit)
    answer.measure("diastolic", result.diastolic, unit)
    answer.measure("mean-arterial-pressure", result.mean_arterial_pressure, unit)
    read_enhanced(result, answer)


def read_enhanced_intermediate(result, answer):
    answer.measure("cuff-pressure", result.cuff_pressure, unit_of(result))
    read_enhanced(result, answer)


def read_record(result, answer):
    """The package gives the bytes that are recorded, and decodes them by themselves."""
    answer["sequence"] = result.sequence_number
    read_enhanced_measurement(ENHANCED.parse_value(result.recorded_data), answer)


def unit_of(result):
    return {"mmHg": "mm[Hg]", "kPa": "kPa"}[result.unit.value]


def known(pressures):
    def special(payload):
        return any(payload.special(name) for name in pressures)

    def outside(payload):
        high = 40 if payload["flags"] & 1 else 300
        return any(not 0 <= value_of(payload[name]) <= high for name in pressures)

    return [
        *dates(),
        Difference(
            about="a pressure that is not available takes the whole measurement with it", facts="refused", when=special,
            wrong=PACKAGE, source=SERVICE,
            says="“If a value for Systolic, Diastolic or MAP subfields is unavailable […], the special short float "
                 "value NaN […] shall be used in each of the unavailable subfields.”"),
        Difference(
            about="a pressure below 0, or above 300 mmHg or 40 kPa, is refused", facts="refused", when=outside,
            wrong=PACKAGE, source=f"{GSS}, Blood Pressure Measurement",
            says="type: medfloat16 (without any range)"),
        reserved_number("pulse-rate 1", "pulse rate"),
        unmeasured("systolic 1|diastolic 1|mean-arterial-pressure 1|pulse-rate 1"),
        Difference(
            about="a pulse that makes sense only most significant octet first is read so, and the status with it",
            facts="pulse-rate 1|flag *", when=lambda p: p.get("pulse rate", 0) & 0xFF == 0
            and 30 <= p.get("pulse rate", 0) >> 8 <= 239, wrong="neither",
            source=f"{GSS}, Blood Pressure Measurement, Pulse Rate",
            says="The specification has the least significant octet first; such a pulse would be 0, negative, below 18 "
                 "or above 2559.",
            how=lambda our, their: not isinstance(our, tuple) or 30 <= our[0] <= 239),
    ]


FEATURES = ["body-movement-detection", "cuff-fit-detection", "irregular-pulse-detection", "pulse-rate-range-detection",
            "measurement-position-detection", "multiple-bonds", "e2e-crc", "user-data-service", "user-facing-time"]


def feature(random):
    payload = Payload()
    payload.put("features", random.getrandbits(16), 2)
    return payload


def has_set_stamp_alone(payload):
    """Both times are there, and only the display shows a year before 2010."""
    if "time" not in payload or "shown time" not in payload:
        return False
    epoch = datetime.datetime(2000 if payload["flags"] & 0x40 else 1900, 1, 1)
    stamp, shown = (epoch + datetime.timedelta(seconds=payload[name]) for name in ("time", "shown time"))
    return stamp.year >= 2010 > shown.year


UNSET_DISPLAY = Difference(
    about="beside a time stamp, a display that was never set says no time",
    facts="device_time|flag device-time-utc", when=has_set_stamp_alone, wrong="neither",
    source=f"{GSS}, Enhanced Blood Pressure Measurement, User Facing Time",
    says="Both times may be there. Which of them holds where they contradict each other is not said.")

ENHANCED = CharacteristicRegistry.get_characteristic("2B34")
ENHANCED_KNOWN = [
    *(reserved_number(f"{name} 1", field) for name, field in (
        ("systolic", "systolic"), ("diastolic", "diastolic"), ("mean-arterial-pressure", "mean arterial pressure"),
        ("pulse-rate", "pulse rate"))),
    unmeasured("systolic 1|diastolic 1|mean-arterial-pressure 1|pulse-rate 1"), UNSET_DISPLAY]

CASES = [
    case("2B34", lambda random: enhanced(random, PRESSURES), read_enhanced_measurement, ENHANCED_KNOWN),
    case("2B35", lambda random: enhanced(random, ("cuff pressure",)), read_enhanced_intermediate, [
        reserved_number("cuff-pressure 1", "cuff pressure"), reserved_number("pulse-rate 1", "pulse rate"),
        unmeasured("pulse-rate 1"), UNSET_DISPLAY]),
    case("2B36", record, read_record, ENHANCED_KNOWN),
    case("2A35", measurement, read_measurement, known(PRESSURES)),
    case("2A36", intermediate, read_intermediate, known(("cuff pressure",))),
    case("2A49", feature, lambda result, answer: bits(result.features_bitmap, FEATURES, answer), [], count=500),
]
