"""Glucose Service: 2A18, 2A34, 2A51, 2A52."""

from ..comparison import Difference
from ..payload import Payload
from .common import GSS, PACKAGE, bits, case, dates, reserved_enumeration, reserved_number, unmeasured, value_of

STATUS = ["device-battery-low", "sensor-malfunction", "sample-size-insufficient", "strip-insertion-error",
          "strip-type-incorrect", "sensor-result-too-high", "sensor-result-too-low", "sensor-temperature-too-high",
          "sensor-temperature-too-low", "sensor-read-interrupted", "general-device-fault", "time-fault"]
TYPES = {1: "capillary-whole-blood", 2: "capillary-plasma", 3: "venous-whole-blood", 4: "venous-plasma",
         5: "arterial-whole-blood", 6: "arterial-plasma", 7: "undetermined-whole-blood", 8: "undetermined-plasma",
         9: "interstitial-fluid", 10: "control-solution"}
LOCATIONS = {1: "finger", 2: "alternate-site-test", 3: "earlobe", 4: "control-solution", 15: "not-available"}
CARBOHYDRATES = {1: "breakfast", 2: "lunch", 3: "dinner", 4: "snack", 5: "drink", 6: "supper", 7: "brunch"}
MEALS = {1: "preprandial", 2: "postprandial", 3: "fasting", 4: "casual", 5: "bedtime"}
TESTERS = {1: "self", 2: "health-care-professional", 3: "lab-test", 15: "not-available"}
HEALTH = {1: "minor-issues", 2: "major-issues", 3: "during-menses", 4: "under-stress", 5: "no-issues",
          15: "not-available"}
MEDICATIONS = {1: "rapid-acting-insulin", 2: "short-acting-insulin", 3: "intermediate-acting-insulin",
               4: "long-acting-insulin", 5: "pre-mixed-insulin"}


def pick(random, names, bits_):
    """Mostly a number that has a name, sometimes any of so many bits."""
    return random.choice(list(names)) if random.chance(0.95) else random.getrandbits(bits_)


def measurement(random):
    payload = Payload()
    flags = random.flags("offset", "concentration", "moles", "status", "context")
    payload.put_flags(random, flags, reserved=0xe0)
    payload.put("sequence", random.uint16(), 2)
    random.date_time(payload, "base time")
    if "offset" in flags:
        payload.put("offset", random.choice((-720, 60, 0, -32768, 32767, random.randint(-32768, 32767))), 2)
    if "concentration" in flags:
        moles = "moles" in flags
        value = random.sfloat(*((0.002, 0.03) if moles else (0.0003, 0.005)),
                              exponents=(-4, -5, -6) if moles else (-5, -6))
        payload.number("concentration", 0 if random.chance(0.02) else value, 2)
        payload.put("sample", pick(random, TYPES, 4) | pick(random, LOCATIONS, 4) << 4, 1)
    if "status" in flags:
        payload.put("status", random.getrandbits(16), 2)
    return payload


def read_measurement(result, answer):
    answer.fact("sequence", result.sequence_number)
    answer.time(result.base_time)
    answer.fact("time_offset_minutes", result.time_offset_minutes)
    answer.measure("glucose", result.glucose_concentration, result.unit)
    if result.glucose_type is not None:
        answer.flag(f"type-{TYPES[result.glucose_type]}")
        answer.flag(f"location-{LOCATIONS[result.sample_location]}")
    if result.sensor_status is not None:
        bits(result.sensor_status, STATUS, answer)
    answer.flag("context-follows", bool(result.flags & 0x10))


def context(random):
    payload = Payload()
    flags = random.flags("carbohydrate", "meal", "tester", "exercise", "medication", "litres", "hba1c", "extended")
    payload.put_flags(random, flags)
    payload.put("sequence", random.uint16(), 2)
    if "extended" in flags:
        payload.put("extended", random.uint8(), 1)
    if "carbohydrate" in flags:
        payload.put("carbohydrate id", pick(random, CARBOHYDRATES, 8), 1)
        payload.number("carbohydrate", random.sfloat(0, 0.2, exponents=(-3, -4)), 2)
    if "meal" in flags:
        payload.put("meal", pick(random, MEALS, 8), 1)
    if "tester" in flags:
        payload.put("tester", pick(random, TESTERS, 4) | pick(random, HEALTH, 4) << 4, 1)
    if "exercise" in flags:
        payload.put("duration", random.uint16(), 2)
        payload.put("intensity", random.uint8(), 1)
    if "medication" in flags:
        payload.put("medication id", pick(random, MEDICATIONS, 8), 1)
        payload.number("medication", random.sfloat(0, 0.001, exponents=(-6, -7)), 2)
    if "hba1c" in flags:
        payload.number("hba1c", random.sfloat(4, 15, exponents=(0, -1, -2)), 2)
    return payload


def read_context(result, answer):
    answer.fact("sequence", result.sequence_number)
    if result.carbohydrate_id is not None:
        answer.flag(f"carbohydrate-{CARBOHYDRATES[result.carbohydrate_id]}")
        answer.measure("carbohydrate", result.carbohydrate_kg * 1e3, "g")
    if result.meal is not None:
        answer.flag(f"meal-{MEALS[result.meal]}")
    if result.tester is not None:
        answer.flag(f"tester-{TESTERS[result.tester]}")
        answer.flag(f"health-{HEALTH[result.health]}")
    answer.measure("exercise-duration", result.exercise_duration_seconds, "s")
    answer.measure("exercise-intensity", result.exercise_intensity_percent, "%")
    if result.medication_id is not None:
        answer.flag(f"medication-{MEDICATIONS[result.medication_id]}")
        factor, unit = {"kg": (1e6, "mg"), "litres": (1e3, "mL")}[result.medication_unit]
        answer.measure("medication", result.medication_value * factor, unit)
    answer.measure("hba1c", result.hba1c_percent, "%")


FEATURES = ["low-battery-detection", "sensor-malfunction-detection", "sensor-sample-size",
            "sensor-strip-insertion-error-detection", "sensor-strip-type-error-detection",
            "sensor-result-high-low-detection", "sensor-temperature-high-low-detection",
            "sensor-read-interrupt-detection", "general-device-fault", "time-fault", "multiple-bonds"]


def feature(random):
    payload = Payload()
    payload.put("features", random.getrandbits(16), 2)
    return payload


OPERATIONS = ["", "report-stored-records", "delete-stored-records", "abort-operation",
              "report-number-of-stored-records", "number-of-stored-records-response", "response-code",
              "combined-report", "combined-report-response"]
OPERATORS = ["", "all-records", "less-than-or-equal-to", "greater-than-or-equal-to", "within-range-of", "first-record",
             "last-record"]
RESPONSES = ["", "success", "op-code-not-supported", "invalid-operator", "operator-not-supported", "invalid-operand",
             "no-records-found", "abort-unsuccessful", "procedure-not-completed", "operand-not-supported",
             "server-busy"]


def control_point(random):
    payload = Payload()
    code = payload.put("op code", random.randint(1, 8) if random.chance(0.95) else random.uint8(), 1)
    if code in (5, 6, 8):
        payload.put("operator", 0, 1)
    else:
        payload.put("operator", random.randint(0, 6) if random.chance(0.95) else random.uint8(), 1)
    if code == 6:
        payload.put("request", random.randint(1, 8), 1)
        payload.put("response", random.randint(1, 10), 1)
    elif code in (5, 8):
        payload.put("count", random.getrandbits(16), 2)
    elif payload["operator"] in (2, 3, 4):
        payload.put("filter", 1, 1)
        for bound in range(2 if payload["operator"] == 4 else 1):
            payload.put(f"bound {bound}", random.uint16(), 2)
    return payload


def read_control_point(result, answer):
    answer.flag(f"op-{OPERATIONS[result.opcode]}")
    answer.flag(f"operator-{OPERATORS[result.operator]}", result.operator > 0)
    if result.opcode == 6:
        answer.flag(f"request-{OPERATIONS[result.operand[0]]}")
        answer.flag(f"response-{RESPONSES[result.operand[1]]}")
    elif result.opcode in (5, 8):
        answer.measure("number-of-records", int.from_bytes(result.operand, "little"), "1")


def absence(payload):
    """Why the result is none, by the bits of its status; None where it is one."""
    return {0: None, 0x20: "above-device-range", 0x40: "below-device-range"}.get(
        payload.get("status", 0) & 0x7FE, "marked-unusable")


def disowned(reason):
    return Difference(
        about="a result that the meter itself marks as none is given out as one", facts="glucose 1",
        when=lambda p: "concentration" in p and absence(p) == reason, wrong="neither",
        source=f"{GSS}, Glucose Measurement, Sensor Status Annunciation",
        says="bits 1 to 10: what was wrong with sensor, sample, strip, temperature or device, or a result out of range",
        how=lambda our, their: our[0] == reason)


KNOWN = [
    *dates("base time"), unmeasured("glucose 1"),
    *(disowned(reason) for reason in ("above-device-range", "below-device-range", "marked-unusable")),
    Difference(
        about="a concentration in kg/L or mol/L is given out as one in mg/dL or mmol/L", facts="glucose 1",
        when=lambda p: "concentration" in p and p.special("concentration") is None and absence(p) is None
        and value_of(p["concentration"]) > 0, wrong=PACKAGE,
        source=f"{GSS}, Glucose Measurement, Glucose Concentration",
        says="“If bit 2 of Flags field is set to 0, unit: org.bluetooth.unit.mass_density.kilogram_per_liter”",
        how=lambda our, their: our[1] == their[1]
        and abs(float(our[0]) - their[0] * (1e5 if our[1] == "mg/dL" else 1e3)) <= 1e-9 * abs(float(our[0]))),
    Difference(
        about="a concentration below 0, as which the reserved value counts, is refused", facts="refused",
        when=lambda p: "concentration" in p and value_of(p["concentration"]) < 0, wrong=PACKAGE,
        source=f"{GSS}, Glucose Measurement, Glucose Concentration", says="medfloat16 (without any range)"),
    reserved_enumeration("sample type", lambda p: "sample" in p and p["sample"] & 15 not in TYPES,
                         "Glucose Measurement, Type", "0xB–0xF: Reserved for Future Use"),
    reserved_enumeration("sample location", lambda p: "sample" in p and p["sample"] >> 4 not in LOCATIONS,
                         "Glucose Measurement, Sample Location", "0x5–0xE: Reserved for Future Use"),
    Difference(
        about="a time offset beyond what can be said is taken for minutes",
        facts="time_offset_minutes|flag time-offset-overrun|flag time-offset-underrun",
        when=lambda p: p.get("offset") in (-32768, 32767), wrong=PACKAGE,
        source="Glucose Measurement 1.0 (org.bluetooth.characteristic.glucose_measurement), Time Offset",
        says="32767 is Overrun, 32768 Underrun"),
]

CONTEXT_KNOWN = [
    reserved_enumeration("carbohydrate id", lambda p: p.get("carbohydrate id", 1) not in CARBOHYDRATES,
                         "Glucose Measurement Context, Carbohydrate ID", "0x08–0xFF: Reserved for Future Use"),
    reserved_enumeration("meal", lambda p: p.get("meal", 1) not in MEALS,
                         "Glucose Measurement Context, Meal", "0x06–0xFF: Reserved for Future Use"),
    reserved_enumeration("tester or health", lambda p: "tester" in p
                         and (p["tester"] & 15 not in TESTERS or p["tester"] >> 4 not in HEALTH),
                         "Glucose Measurement Context, Tester-Health", "0x4–0xE: Reserved for Future Use"),
    reserved_enumeration("medication id", lambda p: p.get("medication id", 1) not in MEDICATIONS,
                         "Glucose Measurement Context, Medication ID", "0x06–0xFF: Reserved for Future Use"),
    Difference(
        about="an exercise longer than the field can say is taken for 65535 s", facts="exercise-duration 1",
        when=lambda p: p.get("duration") == 0xFFFF, wrong=PACKAGE,
        source=f"{GSS}, Glucose Measurement Context, Exercise Duration", says="“0xFFFF: Overrun”"),
    reserved_number("carbohydrate 1|medication 1|hba1c 1"),
]

CONTROL_KNOWN = [
    reserved_enumeration("op code", lambda p: not 1 <= p["op code"] <= 8,
                         "Record Access Control Point, Op Code", "0x09-0xFF: Reserved for Future Use"),
    reserved_enumeration("operator", lambda p: p["operator"] > 6,
                         "Record Access Control Point, Operator", "0x07-0xFF: Reserved for Future Use"),
]

CASES = [
    case("2A18", measurement, read_measurement, KNOWN),
    case("2A34", context, read_context, CONTEXT_KNOWN),
    case("2A51", feature, lambda result, answer: bits(result.features_bitmap, FEATURES, answer), [], count=500),
    case("2A52", control_point, read_control_point, CONTROL_KNOWN),
]
