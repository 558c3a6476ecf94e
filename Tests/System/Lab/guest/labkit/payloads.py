"""Measurement payloads as the peripherals send them, and the record ids that follow from them."""

import datetime
import struct
import uuid
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers.aead import AESCCM

RECORD_NAMESPACE = uuid.UUID("02322d06-b248-45e8-8c81-81d8effc6022")

TEMPERATURE_TIME_STAMP = 0x02
PRESSURE_TIME_STAMP, PRESSURE_PULSE_RATE, PRESSURE_USER, PRESSURE_STATUS = 0x02, 0x04, 0x08, 0x10
# Of an Enhanced Blood Pressure Measurement.
PRESSURE_USER_FACING_TIME, PRESSURE_SINCE_2000 = 0x20, 0x40
GLUCOSE_TIME_OFFSET, GLUCOSE_CONCENTRATION, GLUCOSE_CONTEXT_FOLLOWS = 0x01, 0x02, 0x10
CAPILLARY_WHOLE_BLOOD_FINGER = 0x11
CONTEXT_CARBOHYDRATE, CONTEXT_MEAL = 0x01, 0x02
BREAKFAST, PREPRANDIAL = 0x01, 0x01
WEIGHT_TIME_STAMP, WEIGHT_USER, WEIGHT_BMI = 0x02, 0x04, 0x08
COMPOSITION_FIRST, COMPOSITION_SECOND, COMPOSITION_PARTS = 0x003E, 0x0FC0, 0x1000
CGM_TREND = 0x01
CGM_E2E_CRC_SUPPORTED, CGM_TREND_SUPPORTED = 1 << 12, 1 << 15
SPOT_TIME_STAMP = 0x01
HEART_RATE_CONTACT, HEART_RATE_INTERVALS = 0x06, 0x10
# Generic Health Sensor: a numeric observation with type, time stamp and patient; MDC_PULS_OXIM_SAT_O2, MDC_DIM_PERCENT.
OBSERVATION_NUMERIC, OBSERVATION_FLAGS = 0x01, 0x0023
OXYGEN_SATURATION, PERCENT = 150456, 0x0220
TIME_UTC, TIME_CURRENT, TIME_SYNCHRONISED = 0x02, 0x20, 0x06
SEGMENT_FIRST, SEGMENT_LAST = 0x01, 0x02
# ATT_MTU 23, less the PDU's opcode and handle, less the segment's header.
SEGMENT_SIZE = 19
BTHOME_UUID, BTHOME_ENCRYPTED = b"\xd2\xfc", 0x41
BTHOME_TEMPERATURE = 0x02
MI_SCALE_UUID, MI_SCALE_SETTLED, MI_SCALE_STEPPED_OFF = b"\x1d\x18", 0x20, 0x80
# Version 5; object, address, encryption; of a registered device with a standard key.
MIBEACON_UUID, MIBEACON_FRAME = b"\x95\xfe", 0x5958
MIBEACON_PRODUCT, MIBEACON_TEMPERATURE, MIBEACON_ASSOCIATED_DATA = 0x055B, 0x1004, b"\x11"


@dataclass(frozen=True)
class DateTime:
    """A device's own clock (2A08)."""
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int

    @classmethod
    def of(cls, moment):
        """Of a datetime, as a clock on the wall in its zone shows it."""
        return cls(moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)

    @property
    def encoded(self):
        return struct.pack("<HBBBBB", self.year, self.month, self.day, self.hour, self.minute, self.second)

    @property
    def text(self):
        return (f"{self.year:04}-{self.month:02}-{self.day:02}"
                f"T{self.hour:02}:{self.minute:02}:{self.second:02}")


def float32(mantissa, exponent):
    """IEEE 11073 FLOAT: a mantissa of 24 bits and an exponent of 8, powers of ten."""
    return struct.pack("<I", (mantissa & 0xFFFFFF) | (exponent & 0xFF) << 24)


def sfloat(mantissa, exponent=0):
    """IEEE 11073 SFLOAT: a mantissa of 12 bits and an exponent of 4."""
    return struct.pack("<H", (mantissa & 0xFFF) | (exponent & 0xF) << 12)


def temperature(mantissa, exponent, when=None):
    """A Temperature Measurement (2A1C) in degrees Celsius, in hexadecimal."""
    flags = TEMPERATURE_TIME_STAMP if when else 0
    return (bytes([flags]) + float32(mantissa, exponent) + (when.encoded if when else b"")).hex()


def blood_pressure(systolic, diastolic, mean, when, pulse=None, user=None):
    """A Blood Pressure Measurement (2A35) in mmHg, in hexadecimal; its numbers are (mantissa, exponent)."""
    flags = PRESSURE_TIME_STAMP
    tail = when.encoded
    if pulse is not None:
        flags |= PRESSURE_PULSE_RATE
        tail += sfloat(*pulse)
    if user is not None:
        flags |= PRESSURE_USER
        tail += bytes([user])
    return (bytes([flags]) + sfloat(*systolic) + sfloat(*diastolic) + sfloat(*mean) + tail).hex()


def enhanced_blood_pressure(systolic, diastolic, mean, when, pulse, user):
    """An Enhanced Blood Pressure Measurement (2B34) in mmHg, in hexadecimal. The clock that it counts by begins with the
    battery; the time that its display shows is `when`, a datetime.
    """
    flags = (PRESSURE_TIME_STAMP | PRESSURE_PULSE_RATE | PRESSURE_USER | PRESSURE_STATUS | PRESSURE_USER_FACING_TIME
             | PRESSURE_SINCE_2000)
    shown = int((when.replace(tzinfo=None) - datetime.datetime(2000, 1, 1)).total_seconds())
    return (bytes([flags]) + sfloat(systolic) + sfloat(diastolic) + sfloat(mean)
            + struct.pack("<I", shown % 3600) + sfloat(pulse)
            + bytes([user]) + struct.pack("<HI", 0, shown)).hex()


def blood_pressure_record(number, characteristic, payload, counter):
    """The segments in which a cuff gives a reading from its memory (2B36)."""
    return segments(struct.pack("<HH", number, int(characteristic, 16)) + bytes.fromhex(payload), counter)


def glucose(sequence, base, milligrams, offset_minutes=0, context=False):
    """A Glucose Measurement (2A18) in kg/L, from milligrams per decilitre."""
    flags = GLUCOSE_TIME_OFFSET | GLUCOSE_CONCENTRATION | (GLUCOSE_CONTEXT_FOLLOWS if context else 0)
    return (struct.pack("<BH", flags, sequence) + base.encoded + struct.pack("<h", offset_minutes)
            + sfloat(milligrams, -5) + bytes([CAPILLARY_WHOLE_BLOOD_FINGER])).hex()


def glucose_context(sequence, grams):
    """A Glucose Measurement Context (2A34): a breakfast of so many grams of carbohydrate, before the meal."""
    return (struct.pack("<BHB", CONTEXT_CARBOHYDRATE | CONTEXT_MEAL, sequence, BREAKFAST)
            + sfloat(grams, -3) + bytes([PREPRANDIAL])).hex()


def glucose_record(sequence, base, milligrams, grams=None):
    """What a meter's memory holds of a measurement, with a meal's context or without: see `Recorder`."""
    packets = [["2A18", glucose(sequence, base, milligrams, context=grams is not None)]]
    return [sequence, packets if grams is None else packets + [["2A34", glucose_context(sequence, grams)]]]


def payloads_of(records, characteristic):
    """The payloads of one characteristic in what a memory holds, in order."""
    return [payload for _, packets in records for uuid, payload in packets if uuid == characteristic]


def pulse_oximetry(saturation, pulse):
    """A PLX Continuous Measurement (2A5F)."""
    return (b"\x00" + sfloat(saturation) + sfloat(pulse)).hex()


def spot_oximetry(saturation, pulse, when):
    """A PLX Spot-Check Measurement (2A5E)."""
    return (bytes([SPOT_TIME_STAMP]) + sfloat(saturation) + sfloat(pulse) + when.encoded).hex()


def heart_rate(rate, *intervals):
    """A Heart Rate Measurement (2A37) with skin contact and RR intervals in 1/1024 s."""
    return (bytes([HEART_RATE_CONTACT | HEART_RATE_INTERVALS, rate])
            + struct.pack(f"<{len(intervals)}H", *intervals)).hex()


def weight(kilograms, when, user, bmi, height):
    """A Weight Measurement (2A9D); kilograms in steps of 0.005, BMI in steps of 0.1, height in millimetres."""
    return (struct.pack("<BH", WEIGHT_TIME_STAMP | WEIGHT_USER | WEIGHT_BMI, round(kilograms * 200)) + when.encoded
            + struct.pack("<BHH", user, round(bmi * 10), height)).hex()


def body_composition(fat, when, user, first, second):
    """Two Body Composition Measurements (2A9C), the parts of one.

    `first` holds basal metabolism, muscle percentage and muscle mass, `second` fat free, soft lean and water mass,
    impedance, weight and height, all in their steps. Both parts repeat the fat, in steps of 0.1 %; time and user are in
    the first alone (Body Composition Service 1.0, 3.2.1).
    """
    head = struct.pack("<HH", COMPOSITION_PARTS | COMPOSITION_FIRST, fat) + when.encoded + bytes([user])
    return [(head + struct.pack("<3H", *first)).hex(),
            (struct.pack("<HH", COMPOSITION_PARTS | COMPOSITION_SECOND, fat) + struct.pack("<6H", *second)).hex()]


def with_crc(payload):
    """With the E2E-CRC of the Continuous Glucose Monitoring Service: CRC-CCITT from 0xFFFF, lowest bit first."""
    crc = 0xFFFF
    for byte in payload:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return payload + struct.pack("<H", crc)


def cgm_feature():
    """A CGM Feature (2AA8): E2E-CRC and trend; interstitial fluid from subcutaneous tissue."""
    return with_crc((CGM_E2E_CRC_SUPPORTED | CGM_TREND_SUPPORTED).to_bytes(3, "little") + b"\x59").hex()


def cgm_status(offset_minutes=0):
    return with_crc(struct.pack("<H", offset_minutes) + b"\x00\x00\x00").hex()


def cgm_run_time(hours=240):
    return with_crc(struct.pack("<H", hours)).hex()


def cgm_session_start(when, zone_quarters=0, daylight_quarters=0):
    """A CGM Session Start Time (2AAA): local time, and its zone and daylight saving in quarters of an hour."""
    return with_crc(when.encoded + struct.pack("<bB", zone_quarters, daylight_quarters)).hex()


def cgm(offset_minutes, milligrams, trend):
    """A CGM Measurement (2AA7) with a trend in tenths of mg/dL a minute, and its CRC."""
    body = struct.pack("<B", CGM_TREND) + sfloat(milligrams) + struct.pack("<H", offset_minutes) + sfloat(trend, -1)
    return with_crc(bytes([len(body) + 3]) + body).hex()


def health_observation(moment, saturation, patient, number=None, counter=0):
    """The segments in which a generic health sensor gives an oxygen saturation: a live one (2B8B), or with its number
    in the memory a stored one (2BDD). The counter of the segments goes on from one observation to the next.
    """
    since_2000 = int((moment - datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds())
    body = (struct.pack("<HI", OBSERVATION_FLAGS, OXYGEN_SATURATION)
            + bytes([TIME_UTC | TIME_CURRENT]) + since_2000.to_bytes(6, "little") + bytes([TIME_SYNCHRONISED, 0])
            + bytes([patient]) + struct.pack("<H", PERCENT) + float32(saturation, 0))
    observation = struct.pack("<BH", OBSERVATION_NUMERIC, len(body)) + body
    if number is not None:
        observation = struct.pack("<I", number) + observation
    return segments(observation, counter)


def segments(value, counter):
    """What goes over the air of a value that is sent in segments, each with the octet that numbers it."""
    parts = [value[at:at + SEGMENT_SIZE] for at in range(0, len(value), SEGMENT_SIZE)]
    return [(bytes([(SEGMENT_FIRST if place == 0 else 0) | (SEGMENT_LAST if place == len(parts) - 1 else 0)
                    | (counter + place) % 64 << 2]) + part).hex() for place, part in enumerate(parts)]


def bthome_advert(address, key, counter, hundredths):
    """Advertising data with a temperature in 0.01 degrees Celsius, encrypted as BTHome v2 is."""
    measurements = struct.pack("<Bh", BTHOME_TEMPERATURE, hundredths)
    information, count = bytes([BTHOME_ENCRYPTED]), struct.pack("<I", counter)
    nonce = bytes.fromhex(address.replace(":", "")) + BTHOME_UUID + information + count
    sealed = AESCCM(bytes.fromhex(key), tag_length=4).encrypt(nonce, measurements, None)
    return service_data_advert(BTHOME_UUID, information + sealed[:-4] + count + sealed[-4:])


def mibeacon_advert(address, key, counter, tenths):
    """Advertising data with a temperature in 0.1 degrees Celsius, encrypted as Xiaomi's MiBeacon version 5 is."""
    sender = bytes.fromhex(address.replace(":", ""))[::-1]
    product, frame = struct.pack("<H", MIBEACON_PRODUCT), bytes([counter & 0xFF])
    extension = (counter >> 8).to_bytes(3, "little")
    sealed = AESCCM(bytes.fromhex(key), tag_length=4).encrypt(
        sender + product + frame + extension, struct.pack("<HBh", MIBEACON_TEMPERATURE, 2, tenths),
        MIBEACON_ASSOCIATED_DATA)
    return service_data_advert(
        MIBEACON_UUID, struct.pack("<H", MIBEACON_FRAME) + product + frame + sender + sealed[:-4] + extension
        + sealed[-4:])


def mi_scale_advert(kilograms, when, settled, stepped_off=False):
    """Advertising data of a Mi Smart Scale; kilograms in steps of 0.005."""
    status = (MI_SCALE_SETTLED if settled else 0) | (MI_SCALE_STEPPED_OFF if stepped_off else 0)
    return service_data_advert(
        MI_SCALE_UUID, struct.pack("<BH", status, round(kilograms * 200)) + when.encoded)


def service_data_advert(uuid, data):
    """Advertising data with flags and the service data of a UUID of 16 bits, which comes as it goes over the air."""
    return (b"\x02\x01\x06" + bytes([len(data) + 3, 0x16]) + uuid + data).hex()


def record_id(address, characteristic, payload):
    """The id of a record whose payload holds a full date (docs/records.md, "The name of a record, byte by byte")."""
    if characteristic == "2A18":
        # A glucose keeps its name when its meal is marked later: the flag "context information follows" is no part of it.
        payload = f"{int(payload[:2], 16) & ~0x10:02x}{payload[2:]}"
    return str(uuid.uuid5(RECORD_NAMESPACE, f"{address}|{characteristic}|{payload}|"))
