"""Measurement payloads as the peripherals send them, and the record ids that follow from them."""

import struct
import uuid
from dataclasses import dataclass

RECORD_NAMESPACE = uuid.UUID("02322d06-b248-45e8-8c81-81d8effc6022")

THERMOMETER = {"service": "1809", "characteristic": "2A1C"}
CUFF = {"service": "1810", "characteristic": "2A35"}
INFORMATION = {"manufacturer": "Lab Instruments", "model": "L-1", "serial": "0001", "firmware": "1.2.3"}

TEMPERATURE_TIME_STAMP = 0x02
PRESSURE_TIME_STAMP, PRESSURE_PULSE_RATE, PRESSURE_USER, PRESSURE_STATUS = 0x02, 0x04, 0x08, 0x10


@dataclass(frozen=True)
class DateTime:
    """A device's own clock (2A08)."""
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int

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


def record_id(address, characteristic, payload):
    """The id of a record whose payload holds a full date."""
    return str(uuid.uuid5(RECORD_NAMESPACE, f"{address}|{characteristic}|{payload}|"))
