"""Continuous Glucose Monitoring Service: 2AA7, 2AA8, 2AA9, 2AAA, 2AAB."""

from dataclasses import replace

from ..comparison import Answer, Difference
from ..payload import Payload
from .common import GSS, PACKAGE, bits, case, dates, reserved_enumeration, reserved_number, unmeasured
from .glucose import LOCATIONS, TYPES, pick

STATUS = ["session-stopped", "device-battery-low", "sensor-type-incorrect", "sensor-malfunction",
          "device-specific-alert", "general-device-fault"]
CALIBRATION = ["time-synchronization-required", "calibration-not-allowed", "calibration-recommended",
               "calibration-required", "sensor-temperature-too-high", "sensor-temperature-too-low",
               "calibration-pending"]
WARNING = ["lower-than-patient-low", "higher-than-patient-high", "lower-than-hypo", "higher-than-hyper",
           "rate-of-decrease-exceeded", "rate-of-increase-exceeded", "sensor-result-too-low", "sensor-result-too-high"]
LOCATIONS = {**LOCATIONS, 5: "subcutaneous-tissue"}
SAVING = {0: 0, 2: 30, 4: 60, 8: 120}


def crc(octets):
    """CRC-CCITT, least significant bit first, from 0xFFFF."""
    remainder = 0xFFFF
    for octet in octets:
        for bit in range(8):
            mixed = (remainder ^ octet >> bit) & 1
            remainder = remainder >> 1 ^ (0x8408 if mixed else 0)
    return remainder


assert crc(b"123456789") == 0x6F91


def add_crc(random, payload, chance=0.4):
    """Sometimes a right CRC, rarely a wrong one."""
    if random.chance(chance):
        wrong = random.chance(0.1)
        payload.put("crc", crc(payload.bytes) ^ (1 << random.randrange(16) if wrong else 0), 2)
        payload.fields["wrong crc"] = wrong


def record(random):
    payload = Payload()
    flags = random.flags("trend", "quality", None, None, None, "warning", "calibration", "status")
    crc_size = 2 if random.chance(0.4) else 0
    size = (6 + sum(name in flags for name in ("warning", "calibration", "status"))
            + 2 * sum(name in flags for name in ("trend", "quality")) + crc_size)
    payload.put("size", size, 1)
    payload.put_flags(random, flags)
    payload.number("glucose", random.sfloat(40, 400), 2)
    payload.put("offset", random.uint16(), 2)
    for name in ("status", "calibration", "warning"):
        if name in flags:
            # Most results are some.
            payload.put(name, random.getrandbits(8) & (0xFF if random.chance(0.2) else 0x03), 1)
    if "trend" in flags:
        payload.number("trend", random.sfloat(0, 5, exponents=(-1, -2)), 2)
    if "quality" in flags:
        payload.number("quality", random.sfloat(0, 100), 2)
    if crc_size:
        add_crc(random, payload, 1)
    payload.fields["absences"] = [absence(payload)]
    return payload


def absence(record):
    """Why a record's glucose is none, by its status; None where it is one."""
    faults = record.get("status", 0) & 0x2C or record.get("calibration", 0) & 0x30
    result = record.get("warning", 0) & 0xC0
    if faults or result == 0xC0:
        return "marked-unusable"
    return {0: None, 0x40: "below-device-range", 0x80: "above-device-range"}[result]


def disowned(facts, reasons):
    """A result that the sensor itself marks; `reasons` picks those of the payload's records that the facts are of."""
    return Difference(
        about=f"a result that the sensor itself marks as none is given out as one ({facts})", facts=facts,
        when=lambda p: any(reasons(p)), wrong="neither", source=f"{GSS}, CGM Measurement, Sensor Status Annunciation",
        says="type of sensor incorrect, malfunction, general fault, a temperature too high or too low for a valid "
             "result, a result out of what the device can process",
        how=lambda our, their: our is not None and their is not None and our[1] == their[1]
        and our[0] in ("marked-unusable", "below-device-range", "above-device-range"))


def records(random):
    """Mostly one record, sometimes several in one payload."""
    payload = record(random)
    while random.chance(0.2):
        further = record(random)
        payload.bytes += further.bytes
        payload.numbers.update({f"{len(payload.bytes)} {name}": number for name, number in further.numbers.items()})
        payload.fields["wrong crc"] = payload.get("wrong crc") or further.get("wrong crc")
        payload.fields["absences"] += further["absences"]
    return payload


def read_records(result, answer):
    read_record(result.records[0], answer)
    for n, one in enumerate(result.records[1:], 2):
        facts = Answer()
        read_record(one, facts)
        answer.further(n, facts)


def read_record(record, answer):
    answer.measure("glucose", record.glucose_concentration, "mg/dL")
    answer.fact("time_offset_minutes", record.time_offset)
    answer.measure("trend", record.trend_information, "mg/dL/min")
    answer.measure("quality", record.quality, "%")
    bits(record.status_octet or 0, STATUS, answer)
    bits(record.cal_temp_octet or 0, CALIBRATION, answer)
    bits(record.warning_octet or 0, WARNING, answer)


FEATURES = ["calibration", "patient-high-low-alerts", "hypo-alerts", "hyper-alerts", "rate-of-increase-decrease-alerts",
            "device-specific-alert", "sensor-malfunction-detection", "sensor-temperature-high-low-detection",
            "sensor-result-high-low-detection", "low-battery-detection", "sensor-type-error-detection",
            "general-device-fault", "e2e-crc", "multiple-bonds", "multiple-sessions", "trend", "quality"]


def feature(random):
    payload = Payload()
    features = payload.put("features", random.getrandbits(24), 3)
    payload.put("sample", pick(random, TYPES, 4) | pick(random, LOCATIONS, 4) << 4, 1)
    if features >> 12 & 1:
        add_crc(random, payload, 1)
    else:
        payload.put("crc", 0xFFFF, 2)
    return payload


def read_feature(result, answer):
    bits(result.features, FEATURES, answer)
    answer.flag(f"type-{TYPES[result.cgm_type]}")
    answer.flag(f"location-{LOCATIONS[result.sample_location]}")


def status(random):
    payload = Payload()
    payload.put("offset", random.uint16(), 2)
    payload.put("status", random.getrandbits(24), 3)
    add_crc(random, payload)
    return payload


def read_status(result, answer):
    answer.fact("time_offset_minutes", result.time_offset)
    bits(result.status, [*STATUS, None, None, *CALIBRATION, None, *WARNING], answer)


def session_start(random):
    payload = Payload()
    random.date_time(payload, "time")
    payload.put("zone", random.choice((random.randint(-48, 56), 0, 4, -128, random.randint(57, 127))), 1)
    payload.put("saving", random.choice((0, 2, 4, 8, 255) if random.chance(0.95) else (1, 7)), 1)
    add_crc(random, payload)
    return payload


def read_session_start(result, answer):
    answer.time(result.start_time)
    answer.measure("time-zone-offset", result.time_zone * 15, "min")
    answer.measure("dst-offset", SAVING.get(result.dst_offset.value, float("nan")), "min")


def run_time(random):
    payload = Payload()
    payload.put("hours", random.uint16(), 2)
    add_crc(random, payload)
    return payload


WRONG_CRC = Difference(
    about="a wrong E2E-CRC is not noticed", facts="refused", when=lambda p: p.get("wrong crc"), wrong=PACKAGE,
    source=f"{GSS}, CGM Measurement, E2E-CRC",
    says="“CRC calculated over all fields except the E2E-CRC field itself.”")

CASES = [
    case("2AA7", records, read_records, [
        replace(WRONG_CRC, facts="refused|record *"), reserved_number("*"),
        unmeasured("glucose 1|record * glucose 1"), disowned("glucose 1|trend 1", lambda p: p["absences"][:1]),
        disowned("record * glucose 1|record * trend 1", lambda p: p["absences"][1:])]),
    case("2AA8", feature, read_feature, [
        WRONG_CRC,
        reserved_enumeration("sample type", lambda p: p["sample"] & 15 not in TYPES, "CGM Feature, Type",
                             "0xB–0xF: Reserved for Future Use"),
        reserved_enumeration("sample location", lambda p: p["sample"] >> 4 not in LOCATIONS,
                             "CGM Feature, Sample Location", "0x6–0xE: Reserved for Future Use"),
    ]),
    case("2AA9", status, read_status, [WRONG_CRC]),
    case("2AAB", run_time, lambda result, answer: answer.measure("session-run-time", result.run_time_hours, "h"),
         [WRONG_CRC]),
    case("2AAA", session_start, read_session_start, [
        *dates(), WRONG_CRC,
        Difference(
            about="a time zone west of Greenwich, and an unknown one, is taken as without a sign",
            facts="time-zone-offset 1", when=lambda p: p["zone"] < 0, wrong=PACKAGE,
            source=f"{GSS}, Time Zone",
            says="“sint8 […] Valid range from -48 to +56. A value of -128 means that the time zone offset is not "
                 "known.”"),
        Difference(
            about="a reserved time zone is taken for one", facts="time-zone-offset 1", when=lambda p: p["zone"] > 56,
            wrong=PACKAGE, source=f"{GSS}, Time Zone", says="“All other values are Reserved for Future Use.”"),
        reserved_enumeration("DST offset", lambda p: p["saving"] in (1, 7), "DST Offset",
                             "All other values: Reserved for Future Use"),
    ]),
]
