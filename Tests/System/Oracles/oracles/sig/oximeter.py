"""Pulse Oximeter Service: 2A5E, 2A5F, 2A60."""

from ..comparison import Difference
from ..payload import Payload
from .common import PACKAGE, bits, case, dates, reserved_number, unmeasured

STATUS = [None, None, None, None, None, "measurement-ongoing", "early-estimated-data", "validated-data",
          "fully-qualified-data", "data-from-measurement-storage", "data-for-demonstration", "data-for-testing",
          "calibration-ongoing", "measurement-unavailable", "questionable-measurement-detected",
          "invalid-measurement-detected"]
SENSOR = ["extended-display-update-ongoing", "equipment-malfunction-detected",
          "signal-processing-irregularity-detected", "inadequate-signal-detected", "poor-signal-detected",
          "low-perfusion-detected", "erratic-signal-detected", "nonpulsatile-signal-detected",
          "questionable-pulse-detected", "signal-analysis-ongoing", "sensor-interference-detected",
          "sensor-unconnected-to-user", "unknown-sensor-connected", "sensor-displaced", "sensor-malfunctioning",
          "sensor-disconnected"]


def pair(random, payload, suffix=""):
    payload.number(f"spo2{suffix}", random.sfloat(70, 100, exponents=(0, -1)), 2)
    payload.number(f"pulse rate{suffix}", random.sfloat(30, 200, exponents=(0, -1)), 2)


def finish(random, payload, flags):
    if "status" in flags:
        # Most values are some.
        payload.put("status", random.getrandbits(16) & (0xFFFF if random.chance(0.2) else 0x5FFF), 2)
    if "sensor" in flags:
        payload.put("sensor", random.getrandbits(24) & (0xFFFFFF if random.chance(0.2) else 0xFF37FD), 3)
    if "amplitude" in flags:
        payload.number("amplitude", random.sfloat(0, 20, exponents=(-1, -2)), 2)
    return payload


def spot_check(random):
    payload = Payload()
    flags = random.flags("time", "status", "sensor", "amplitude", "clock not set")
    payload.put_flags(random, flags)
    pair(random, payload)
    if "time" in flags:
        random.date_time(payload, "time")
    return finish(random, payload, flags)


def continuous(random):
    payload = Payload()
    flags = random.flags("fast", "slow", "status", "sensor", "amplitude")
    payload.put_flags(random, flags)
    pair(random, payload)
    for suffix in (" fast", " slow"):
        if suffix[1:] in flags:
            pair(random, payload, suffix)
    return finish(random, payload, flags)


def read(result, answer):
    answer.measure("spo2", result.spo2, "%")
    answer.measure("pulse-rate", result.pulse_rate, "/min")
    answer.measure("pulse-amplitude-index", result.pulse_amplitude_index, "%")
    bits(result.measurement_status or 0, STATUS, answer)
    bits(result.device_and_sensor_status or 0, SENSOR, answer)


def read_spot_check(result, answer):
    read(result, answer)
    answer.time(result.timestamp)
    answer.flag("device-clock-not-set", bool(result.spot_check_flags & 0x10))


def read_continuous(result, answer):
    read(result, answer)
    answer.measure("spo2-fast", result.spo2_fast, "%")
    answer.measure("pulse-rate-fast", result.pulse_rate_fast, "/min")
    answer.measure("spo2-slow", result.spo2_slow, "%")
    answer.measure("pulse-rate-slow", result.pulse_rate_slow, "/min")


def features(random):
    payload = Payload()
    value = payload.put("features", random.getrandbits(16), 2)
    if value & 1:
        payload.put("status support", random.getrandbits(16), 2)
    if value & 2:
        payload.put("sensor support", random.getrandbits(24), 3)
    return payload


FEATURES = ["measurement-status", "device-and-sensor-status", "measurement-storage", "time-stamp",
            "spo2-pulse-rate-fast", "spo2-pulse-rate-slow", "pulse-amplitude-index", "multiple-bonds"]

VALUES = "spo2*|pulse-rate*|pulse-amplitude-index*"


def absence(payload):
    """Why the values are none, by the bits of the two statuses; None where they are values."""
    if payload.get("sensor", 0) & 0x8800:
        return "not-measured"
    return "marked-unusable" if payload.get("sensor", 0) & 0x4002 or payload.get("status", 0) & 0xA000 else None


def disowned(reason):
    return Difference(
        about=f"what the oximeter itself marks is given out as values ({reason})", facts=VALUES,
        when=lambda p: absence(p) == reason, wrong="neither",
        source="Pulse Oximeter Service 1.0.1, Measurement Status and Device and Sensor Status",
        says="Measurement Unavailable, Invalid Measurement Detected; Equipment Malfunction Detected, Sensor Malfunctioning; "
             "Sensor Unconnected to User, Sensor Disconnected",
        how=lambda our, their: our[0] == reason and our[1] == their[1])


DISOWNED = [disowned("not-measured"), disowned("marked-unusable"), unmeasured("spo2*|pulse-rate*")]

CASES = [
    case("2A5E", spot_check, read_spot_check, [
        *dates(), reserved_number("*"), *DISOWNED,
        Difference(
            about="the time of a clock that was not set is a time", facts="device_time",
            when=lambda p: p["flags"] >> 4 & 1 and "time" in p, wrong=PACKAGE,
            source="Pulse Oximeter Service 1.0.1, 3.1.1.1 Flags Field",
            says="“This field also indicates if the clock was not set for the measurement being reported.”")]),
    case("2A5F", continuous, read_continuous, [reserved_number("*"), *DISOWNED]),
    case("2A60", features, lambda result, answer: bits(result, FEATURES, answer), [
        Difference(
            about="which status bits are supported is not read", facts="flag *-supported",
            when=lambda p: "status support" in p or "sensor support" in p, wrong=PACKAGE,
            source="Pulse Oximeter Service 1.0.1, 3.3, Table 3.8",
            says="“Included in the characteristic is a PLX Features field, and, depending on the contents of the PLX "
                 "Features field, the Measurement Status Support field, and the Device and Sensor Status Support "
                 "field.”")]),
]
