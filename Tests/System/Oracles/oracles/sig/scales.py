"""Weight Scale and Body Composition Services: 2A9D, 2A9E, 2A9C, 2A9B."""

from ..comparison import Difference
from ..payload import Payload
from .common import PACKAGE, bits, case, dates, unmeasured

WEIGHT_RESOLUTIONS = [None, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005]
HEIGHT_RESOLUTIONS = [None, 0.01, 0.005, 0.001]


def weight(random):
    payload = Payload()
    flags = random.flags("imperial", "time", "user", "bmi")
    payload.put_flags(random, flags, reserved=0xf0)
    payload.put("weight", random.uint16(), 2)
    if "time" in flags:
        random.date_time(payload, "time")
    if "user" in flags:
        payload.put("user", random.uint8(), 1)
    if "bmi" in flags:
        payload.put("bmi", random.uint16(), 2)
        payload.put("height", random.uint16(), 2)
    return payload


def read_weight(result, answer):
    imperial = bool(result.flags & 1)
    answer.measure("weight", result.weight, "[lb_av]" if imperial else "kg")
    answer.measure("bmi", result.bmi, "kg/m2")
    answer.measure("height", result.height, "[in_i]" if imperial else "m")
    answer.time(result.timestamp)
    read_user(result.user_id, answer)


def read_user(user, answer):
    if user is not None:
        if user == 255:
            answer.flag("unknown-user")
        else:
            answer["user"] = user


MASSES = {"muscle mass": 5, "fat free mass": 6, "soft lean mass": 7, "body water mass": 8}


def composition(random):
    payload = Payload()
    flags = random.flags("imperial", "time", "user", "basal metabolism", "muscle percentage", *MASSES, "impedance",
                         "weight", "height")
    value = sum(1 << bit for bit in flags.values())
    if random.chance(0.1):
        value |= 1 << 12
    payload.put("flags", value, 2)
    payload.put("body fat", random.randint(0, 1000) if random.chance(0.9) else random.uint16(), 2)
    if "time" in flags:
        random.date_time(payload, "time")
    if "user" in flags:
        payload.put("user", random.uint8(), 1)
    for name, bit in flags.items():
        if bit > 2:
            payload.put(name, random.uint16(), 2)
    return payload


def read_composition(result, answer):
    imperial = bool(result.flags & 1)
    mass = "[lb_av]" if imperial else "kg"
    answer.measure("body-fat", result.body_fat_percentage, "%")
    answer.time(result.timestamp)
    read_user(result.user_id, answer)
    answer.measure("basal-metabolism", result.basal_metabolism, "kJ")
    answer.measure("muscle-percentage", result.muscle_percentage, "%")
    answer.measure("muscle-mass", result.muscle_mass, mass)
    answer.measure("fat-free-mass", result.fat_free_mass, mass)
    answer.measure("soft-lean-mass", result.soft_lean_mass, mass)
    answer.measure("body-water-mass", result.body_water_mass, mass)
    answer.measure("impedance", result.impedance, "Ohm")
    answer.measure("weight", result.weight, mass)
    answer.measure("height", result.height, "[in_i]" if imperial else "m")
    answer.flag("multiple-packet", bool(result.flags & 1 << 12))


def feature(random):
    payload = Payload()
    payload.put("features", random.getrandbits(32), 4)
    return payload


def read_resolutions(weight_number, height_number, answer):
    answer.measure("weight-resolution", WEIGHT_RESOLUTIONS[weight_number], "kg")
    answer.measure("height-resolution", HEIGHT_RESOLUTIONS[height_number], "m")


def read_weight_feature(result, answer):
    bits(result.raw_value, ["time-stamp", "multiple-users", "bmi"], answer)
    read_resolutions(result.weight_measurement_resolution, result.height_measurement_resolution, answer)


def read_composition_feature(result, answer):
    bits(result.features, ["time-stamp", "multiple-users", "basal-metabolism", "muscle-percentage", "muscle-mass",
                           "fat-free-mass", "soft-lean-mass", "body-water-mass", "impedance", "weight", "height"],
         answer)
    read_resolutions(result.mass_measurement_resolution, result.height_measurement_resolution, answer)


WEIGHT_KNOWN = [
    *dates(), unmeasured("weight 1|bmi 1|height 1"),
    Difference(
        about="a weight that could not be measured is taken for 327.675 kg or 655.35 lb, and the BMI is none either",
        facts="weight 1|bmi 1",
        when=lambda p: p["weight"] == 0xFFFF, wrong=PACKAGE,
        source="Weight Scale Service 1.0, Weight Field",
        says="“The special value of 0xFFFF can be used to indicate ‘Measurement Unsuccessful’ to the Client.”",
        how=lambda our, their: our[0] == "not-a-number"),
]

COMPOSITION_KNOWN = [
    *dates(), unmeasured("*"),
    Difference(
        about="a body fat above 100 %, and one that could not be measured, takes the measurement with it",
        facts="refused", when=lambda p: p["body fat"] > 1000, wrong=PACKAGE,
        source="Body Composition Service 1.0, Body Fat Percentage Field",
        says="no range; 0xFFFF is Measurement Unsuccessful"),
]

CASES = [
    case("2A9D", weight, read_weight, WEIGHT_KNOWN),
    case("2A9E", feature, read_weight_feature, [], count=500),
    case("2A9C", composition, read_composition, COMPOSITION_KNOWN),
    case("2A9B", feature, read_composition_feature, [], count=500),
]
