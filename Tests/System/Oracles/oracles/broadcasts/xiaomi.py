"""MiBeacon, plain and encrypted, and the two Mi Scales, against xiaomi-ble."""

import struct

from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from xiaomi_ble import XiaomiBluetoothDeviceData

from ..comparison import Answer, Case, Difference
from ..payload import Payload
from .adverts import ADDRESS, KEY, advert, service_info

PACKAGE = "xiaomi-ble"
DEFINITION = "Mijia BLE Object Definition (iot.mi.com)"
# Products without rules of their own; the plant sensor alone is believed in its illuminance.
THERMOMETER, PLANT_SENSOR, S200, S400 = 0x045B, 0x0098, 0x45C9, 0x30D9
NO_WEIGHT = 0x7FF

SENSORS = {
    "temperature": ("temperature", "Cel"), "humidity": ("humidity", "%"), "illuminance": ("illuminance", "lx"),
    "moisture": ("soil-moisture", "%"), "conductivity": ("soil-conductivity", "uS/cm"), "battery": ("battery", "%"),
    "formaldehyde": ("formaldehyde", "mg/m3"), "voltage": ("voltage", "V"), "mass": ("weight", "kg"),
    "heart_rate": ("heart-rate", "/min"), "impedance_low": ("impedance-low", "Ohm"),
    "impedance_high": ("impedance-high", "Ohm"), "impedance": ("impedance", "Ohm"),
}


def temperature(random, step):
    return struct.pack("<h", random.choice((int(random.uniform(-20, 50) / step), 0, -1, random.randint(-32768, 32767))))


def binary32(random, low, high):
    return struct.pack("<f", round(random.uniform(low, high), random.randint(0, 3)))


OBJECTS = {
    0x000A: lambda random: temperature(random, 0.01),
    0x1004: lambda random: temperature(random, 0.1),
    0x1006: lambda random: struct.pack("<H", random.randint(0, 1000)),
    0x1007: lambda random: random.getrandbits(24).to_bytes(3, "little"),
    0x1008: lambda random: bytes([random.randint(0, 100)]),
    0x1009: lambda random: struct.pack("<H", random.uint16()),
    0x100A: lambda random: bytes([random.randint(0, 100)]),
    0x100D: lambda random: temperature(random, 0.1) + struct.pack("<H", random.randint(0, 1000)),
    0x1010: lambda random: struct.pack("<H", random.uint16()),
    0x2000: lambda random: struct.pack("<hhB", random.randint(3000, 4000), random.randint(2500, 3900),
                                       random.randint(0, 100)),
    0x4801: lambda random: binary32(random, -20, 50),
    0x4802: lambda random: bytes([random.randint(0, 100)]),
    0x4803: lambda random: bytes([random.randint(0, 100)]),
    0x4808: lambda random: binary32(random, 0, 100),
    0x4C01: lambda random: binary32(random, -20, 50),
    0x4C02: lambda random: bytes([random.randint(0, 100)]),
    0x4C03: lambda random: bytes([random.randint(0, 100)]),
    0x4C08: lambda random: binary32(random, 0, 100),
}
# Objects of one kind would overwrite each other in xiaomi-ble.
KINDS = ((0x000A, 0x1004, 0x4801, 0x4C01), (0x1006, 0x4802, 0x4808, 0x4C02, 0x4C08), (0x1007,), (0x1008,), (0x1009,),
         (0x100A, 0x4803, 0x4C03), (0x1010,))
ALONE = (0x100D, 0x2000, 0x4E16, 0x6E16)


class Beacon:
    """An advert, and what objects are in it."""

    def __init__(self, random, encrypted):
        choice = random.random()
        if choice < 0.6:
            numbers = [random.choice(kind) for kind in random.sample(KINDS, random.randint(1, 2))]
        else:
            numbers = [random.choice(ALONE)]
        self.objects = {number: OBJECTS[number](random) for number in numbers if number in OBJECTS}
        self.product = PLANT_SENSOR if 0x1007 in numbers else THERMOMETER
        if 0x4E16 in numbers:
            self.product = S200
            weight = random.choice((0, random.randint(100, 15000)))
            self.objects[0x4E16] = struct.pack("<BII", random.randint(0, 16), weight, random.getrandbits(32))
        if 0x6E16 in numbers:
            self.product = S400
            self.weight = random.choice((0, NO_WEIGHT, random.randint(1, 1500)))
            rate = random.choice((0, 0x7F, random.randint(1, 126)))
            impedance = random.choice((0, random.getrandbits(14)))
            self.objects[0x6E16] = struct.pack("<BII", random.randint(0, 16),
                                               self.weight | rate << 11 | impedance << 18, random.getrandbits(32))
            self.is_empty = rate == 0 and impedance == 0 and self.weight in (0, NO_WEIGHT)
        content = b"".join(struct.pack("<HB", number, len(value)) + value for number, value in self.objects.items())
        has_address, has_capability = random.chance(0.5), random.chance(0.3)
        version = random.choice((4, 5) if encrypted else (2, 3, 4, 5))
        control = version << 12 | 1 << 6 | has_address << 4 | has_capability << 5 | encrypted << 3
        address = bytes.fromhex(ADDRESS.replace(":", ""))[::-1]
        head = struct.pack("<HHB", control, self.product, random.getrandbits(8))
        data = head + (address if has_address else b"") + (b"\x08" if has_capability else b"")
        self.encrypted, self.wrong_key = encrypted, False
        if encrypted:
            self.wrong_key = random.chance(0.05)
            number = random.randbytes(3)
            sealed = AESCCM(bytes(16) if self.wrong_key else KEY, tag_length=4).encrypt(
                address + head[2:5] + number, content, b"\x11")
            content = sealed[:-4] + number + sealed[-4:]
        self.service, self.service_data = 0xFE95, data + content
        self.bytes = advert(self.service, self.service_data)

    def has(self, *numbers):
        return any(number in self.objects for number in numbers)


def plain(random):
    return Beacon(random, 0)


def encrypted(random):
    return Beacon(random, 1)


def theirs(payload):
    answer = Answer()
    device = XiaomiBluetoothDeviceData(bindkey=KEY if payload.encrypted else None)
    update = device.update(service_info(payload.service, payload.service_data, name="MI_SCALE"))
    if payload.encrypted and not device.bindkey_verified:
        answer["refused"] = "decryption failed"
        return answer
    for key, value in update.entity_values.items():
        if key.key == "profile_id":
            answer["user"] = value.native_value
        elif key.key in SENSORS:
            name, unit = SENSORS[key.key]
            answer.measure(name, value.native_value, unit)
    return answer


class Scale(Payload):
    """What a Mi Scale sends."""

    encrypted = False

    def finish(self, service):
        self.service, self.service_data = service, bytes(self.bytes)
        self.bytes = bytearray(advert(service, self.service_data))
        return self

    @property
    def is_pounds(self):
        return self["unit"] == 1

    @property
    def is_weighed(self):
        return self["stable"] and self["weight"] > 0


def status(random, scale):
    """The bits that both scales have, in one octet: stable, removed."""
    scale.fields["unit"] = random.randint(0, 2)
    scale.fields["stable"] = random.chance(0.8)
    scale.fields["removed"] = random.chance(0.3)
    return scale["stable"] << 5 | scale["removed"] << 7


def weight_scale(random):
    scale = Scale()
    scale.put("status", status(random, scale) | (0, 0x01, 0x10)[scale["unit"]] | random.getrandbits(2) << 1, 1)
    scale.put("weight", random.choice((0, random.randint(1, 30000), random.uint16())), 2)
    random.date_time(scale, "time")
    return scale.finish(0x181D)


def composition_scale(random):
    scale = Scale()
    bits = status(random, scale)
    scale.fields["measured"] = random.chance(0.5)
    scale.put("units", 0x01 if scale.is_pounds else 0x02 if scale["unit"] == 0 else 0, 1)
    scale.put("status", bits | scale["measured"] << 1 | 0x04 | (0x40 if scale["unit"] == 2 else 0), 1)
    random.date_time(scale, "time")
    scale.put("impedance", random.choice((0, random.randint(100, 2000), 0xFFFD, 0xFFFE, 0xFFFF)), 2)
    scale.put("weight", random.choice((0, random.randint(1, 30000), random.uint16())), 2)
    return scale.finish(0x181B)


def close(tolerance):
    return lambda our, their: our and their and our[1] == their[1] and abs(float(our[0]) - their[0]) <= tolerance


KNOWN = [
    Difference(
        about="the frame counter is not given out", facts="sequence", when=lambda p: not p.wrong_key, wrong="neither",
        source="MiBeacon protocol, version 5 (iot.mi.com), Frame Counter", says="one octet, in every frame"),
    Difference(
        about="a battery's voltage is guessed from its percentage", facts="voltage 1", when=lambda p: p.has(0x100A),
        wrong=PACKAGE, source=DEFINITION, says="0x100A: battery, one octet, percent"),
    Difference(
        about="a body temperature of 0.00 is left out", facts="temperature 1|body-temperature 1",
        when=lambda p: p.objects.get(0x000A) == b"\0\0", wrong=PACKAGE, source=DEFINITION,
        says="0x000A: body temperature, two octets, signed, 0.01 °C",
        how=lambda our, their: their is None and our[0] == 0),
    Difference(
        about="a body temperature is called by the name of any other", facts="temperature 1|body-temperature 1",
        when=lambda p: p.has(0x000A), wrong="neither", source=DEFINITION, says="0x000A: body temperature"),
    Difference(
        about="the body's temperature is estimated from two others",
        facts="temperature 1|skin-temperature 1|pcb-temperature 1", when=lambda p: p.has(0x2000), wrong="neither",
        source=DEFINITION, says="0x2000 is not in it; the estimate is an approximation from the vendor's app"),
    Difference(
        about="the profile of one who has stepped off is given out", facts="user",
        when=lambda p: p.has(0x6E16) and p.is_empty, wrong="neither", source="xiaomi-ble itself",
        says="“Person stepped off the scale → reset”"),
    Difference(
        about="a binary32 is rounded, or given out with digits that it has not", facts="temperature 1|humidity 1",
        when=lambda p: p.has(0x4801, 0x4808, 0x4C01, 0x4C08), wrong=PACKAGE, source="IEEE 754-2019, 5.12.2",
        says="a number converted to enough decimal digits and back is the same; ingestd gives the fewest that are",
        how=close(0.0501)),
]

SCALE_KNOWN = [
    Difference(
        about="a weight in pounds is given out in kg", facts="weight 1", when=lambda p: p.is_pounds, wrong="neither",
        source="docs/records.md", says="the device's own unit in UCUM; never converted",
        how=lambda our, their: our and their and our[1] == "[lb_av]"
        and abs(float(our[0]) * 0.45359237 - their[0]) < 1e-9),
    Difference(
        about="jin are given out in kg without a mention", facts="flag unit-jin", when=lambda p: p["unit"] == 2,
        wrong="neither", source="docs/records.md", says="unit-jin"),
    Difference(
        about="a weight that has not settled is given out under another name", facts="flag not-stabilised",
        when=lambda p: not p["stable"], wrong="neither", source="docs/records.md", says="not-stabilised"),
    Difference(
        about="the weight of one who has stepped off is not given out", facts="weight 1|impedance 1",
        when=lambda p: p["removed"], wrong="neither", source="openScale, Xiaomi Bluetooth Mi Scale",
        says="the last weighing is sent on with its date", how=lambda our, their: their is None),
    Difference(
        about="the date of the weighing is not given out", facts="device_time|flag device-time-invalid",
        when=lambda p: p.is_weighed, wrong=PACKAGE, source="openScale, Xiaomi Bluetooth Mi Scale",
        says="year, month, day, hour, minute, second"),
]

COMPOSITION_KNOWN = [
    Difference(
        about="an impedance of 0, and what stands for none, is given out", facts="impedance 1",
        when=lambda p: p["measured"] and p["impedance"] in (0, 0xFFFD, 0xFFFE, 0xFFFF), wrong=PACKAGE,
        source="openScale, Xiaomi Bluetooth Mi Scale 2", says="0 and 0xFFFD to 0xFFFF stand for no impedance"),
]

CASES = [
    Case("mibeacon", ["--advertisement", "--address", ADDRESS], plain, theirs, KNOWN),
    Case("mibeacon-encrypted", ["--advertisement", "--key", KEY.hex(), "--address", ADDRESS], encrypted, theirs,
         KNOWN),
    Case("mi-scale-1", ["--advertisement"], weight_scale, theirs, SCALE_KNOWN),
    Case("mi-scale-2", ["--advertisement"], composition_scale, theirs, SCALE_KNOWN + COMPOSITION_KNOWN),
]
