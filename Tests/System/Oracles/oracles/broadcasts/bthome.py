"""BTHome v2, plain and encrypted, against bthome-ble."""

import logging

from bthome_ble import BTHomeBluetoothDeviceData
from bthome_ble.const import MEAS_TYPES
from bthome_ble.event import BUTTON_EVENTS
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from ..comparison import Answer, Case, Difference
from .adverts import ADDRESS, KEY, advert, service_info

FORMAT = "bthome.io/format"
logging.disable()

# Our name and unit of each number; those of the same class are one name to bthome-ble too.
NUMBERS = {
    0x01: ("battery", "%"), 0x02: ("temperature", "Cel"), 0x03: ("humidity", "%"), 0x04: ("pressure", "hPa"),
    0x05: ("illuminance", "lx"), 0x06: ("mass", "kg"), 0x07: ("mass", "[lb_av]"), 0x08: ("dewpoint", "Cel"),
    0x09: ("count", "1"), 0x0A: ("energy", "kW.h"), 0x0B: ("power", "W"), 0x0C: ("voltage", "V"),
    0x0D: ("pm2-5", "ug/m3"), 0x0E: ("pm10", "ug/m3"), 0x12: ("co2", "[ppm]"), 0x13: ("tvoc", "ug/m3"),
    0x14: ("moisture", "%"), 0x2E: ("humidity", "%"), 0x2F: ("moisture", "%"), 0x3D: ("count", "1"),
    0x3E: ("count", "1"), 0x3F: ("rotation", "deg"), 0x40: ("distance", "mm"), 0x41: ("distance", "m"),
    0x42: ("duration", "s"), 0x43: ("current", "A"), 0x44: ("speed", "m/s"), 0x45: ("temperature", "Cel"),
    0x46: ("uv-index", "1"), 0x47: ("volume", "L"), 0x48: ("volume", "mL"), 0x49: ("volume-flow-rate", "m3/h"),
    0x4A: ("voltage", "V"), 0x4B: ("gas", "m3"), 0x4C: ("gas", "m3"), 0x4D: ("energy", "kW.h"), 0x4E: ("volume", "L"),
    0x4F: ("water", "L"), 0x50: ("timestamp", "s"), 0x51: ("acceleration", "m/s2"), 0x52: ("gyroscope", "deg/s"),
    0x55: ("volume-storage", "L"), 0x56: ("conductivity", "uS/cm"), 0x57: ("temperature", "Cel"),
    0x58: ("temperature", "Cel"), 0x59: ("count", "1"), 0x5A: ("count", "1"), 0x5B: ("count", "1"),
    0x5C: ("power", "W"), 0x5D: ("current", "A"), 0x5E: ("direction", "deg"), 0x5F: ("precipitation", "mm"),
    0x60: ("channel", "1"), 0x61: ("rotational-speed", "/min"), 0x62: ("speed", "m/s"), 0x63: ("acceleration", "m/s2"),
    0x64: ("light-level", "1"), 0x65: ("settings-revision", "1"),
}
STATES = {
    0x0F: ("generic-boolean", "off", "on"), 0x10: ("power", "off", "on"), 0x11: ("opening", "closed", "open"),
    0x15: ("battery", "normal", "low"), 0x16: ("battery-charging", "not-charging", "charging"),
    0x17: ("carbon-monoxide", "not-detected", "detected"), 0x18: ("cold", "normal", "cold"),
    0x19: ("connectivity", "disconnected", "connected"), 0x1A: ("door", "closed", "open"),
    0x1B: ("garage-door", "closed", "open"), 0x1C: ("gas", "clear", "detected"), 0x1D: ("heat", "normal", "hot"),
    0x1E: ("light", "no-light", "detected"), 0x1F: ("lock", "locked", "unlocked"), 0x20: ("moisture", "dry", "wet"),
    0x21: ("motion", "clear", "detected"), 0x22: ("moving", "not-moving", "moving"),
    0x23: ("occupancy", "clear", "detected"), 0x24: ("plug", "unplugged", "plugged-in"),
    0x25: ("presence", "away", "home"), 0x26: ("problem", "ok", "problem"), 0x27: ("running", "not-running", "running"),
    0x28: ("safety", "unsafe", "safe"), 0x29: ("smoke", "clear", "detected"), 0x2A: ("sound", "clear", "detected"),
    0x2B: ("tamper", "off", "on"), 0x2C: ("vibration", "clear", "detected"), 0x2D: ("window", "closed", "open"),
}
BUTTON, COMMAND, DIMMER, TEXT, RAW = 0x3A, 0x3B, 0x3C, 0x53, 0x54
OTHERS = (0, BUTTON, COMMAND, DIMMER, TEXT, RAW, 0xF0, 0xF1, 0xF2)
assert set(MEAS_TYPES) == {*NUMBERS, *STATES, *OTHERS}, "bthome-ble knows other objects"

# bthome-ble's names of the classes, where they are not ours.
CLASSES = {"pm25": "pm2-5", "carbon_dioxide": "co2", "volatile_organic_compounds": "tvoc", "dew_point": "dewpoint"}
SENSORS = {}
for number, (name, unit) in NUMBERS.items():
    meaning = MEAS_TYPES[number].meas_format
    SENSORS[str(meaning.device_class), meaning.native_unit_of_measurement] = name, unit
BINARIES = {str(MEAS_TYPES[number].meas_format.device_class): names for number, names in STATES.items()}


def object_(random, number):
    """One object's bytes after its number."""
    kind = MEAS_TYPES[number]
    if number in STATES:
        return bytes([random.randint(0, 1)])
    if number == BUTTON:
        return bytes([random.choice(list(BUTTON_EVENTS))])
    if number == DIMMER:
        return bytes([random.randint(0, 2), random.uint8()])
    if number == COMMAND:
        code = random.randint(0, 4)
        return bytes([1, code, random.uint8()]) if code > 2 else bytes([0, code])
    if number in (TEXT, RAW):
        text = "Püls 7".encode() if number == TEXT else random.randbytes(3)
        return bytes([len(text)]) + text
    if random.chance(0.2):
        return random.choice((b"\xff", b"\0")) * kind.data_length
    return random.randbytes(kind.data_length)


class Objects:
    """An advert, and what objects are in it."""

    def __init__(self, random, encrypted):
        numbers = [random.choice([*NUMBERS, *STATES, *OTHERS[1:]])
                   for _ in range(random.randint(1, 5))]
        # Several of one kind are told apart by their order.
        if random.chance(0.3):
            numbers.append(numbers[0])
        if random.chance(0.5):
            numbers.append(0)
        self.numbers = sorted(numbers)
        content = b"".join(bytes([number]) + object_(random, number) for number in self.numbers)
        self.has_unknown = random.chance(0.05)
        if self.has_unknown:
            content += bytes([random.randint(0xF3, 0xFF)]) + random.randbytes(2)
        self.information = 0x40 | random.getrandbits(1) << 2 | encrypted
        self.counter = random.getrandbits(32)
        if encrypted:
            counter = self.counter.to_bytes(4, "little")
            nonce = bytes.fromhex(ADDRESS.replace(":", "")) + b"\xd2\xfc" + bytes([self.information]) + counter
            self.wrong_key = random.chance(0.05)
            key = bytes(16) if self.wrong_key else KEY
            sealed = AESCCM(key, tag_length=4).encrypt(nonce, content, None)
            content = sealed[:-4] + counter + sealed[-4:]
        self.encrypted = encrypted
        self.service_data = bytes([self.information]) + content
        self.bytes = advert(0xFCD2, self.service_data)

    def has(self, *numbers):
        return any(number in self.numbers for number in numbers)

    def count(self, name):
        """How many objects there are that we call so."""
        return sum(NUMBERS.get(number, STATES.get(number, (None,)))[0] == name for number in self.numbers)


def plain(random):
    return Objects(random, 0)


def encrypted(random):
    return Objects(random, 1)


def theirs(payload):
    answer = Answer()
    device = BTHomeBluetoothDeviceData(bindkey=KEY if payload.encrypted else None)
    update = device.update(service_info(0xFCD2, payload.service_data))
    if payload.encrypted and not device.bindkey_verified:
        answer["refused"] = "decryption failed"
        return answer
    for key, value in sorted(update.entity_values.items(), key=lambda pair: order(pair[0].key)):
        described = update.entity_descriptions[key]
        read_sensor(described, value.native_value, answer)
    for key, value in sorted(update.binary_entity_values.items(), key=lambda pair: order(pair[0].key)):
        name, off, on = BINARIES[str(update.binary_entity_descriptions[key].device_class)]
        answer.flag(numbered(name, key.key) + "-" + (on if value.native_value else off))
    for key, event in update.events.items():
        read_event(key.key, event, answer)
    if payload.encrypted:
        answer.setdefault("sequence", int(device.encryption_counter))
    return answer


def order(key):
    """`temperature_2` comes before `temperature_10`."""
    name, _, number = key.rpartition("_")
    return (name, int(number)) if number.isdigit() else (key, 0)


def numbered(name, key):
    _, _, number = key.rpartition("_")
    return f"{name}-{number}" if number.isdigit() else name


def read_sensor(described, value, answer):
    kind = str(described.device_class)
    if kind == "signal_strength":
        return
    if kind == "packet_id":
        answer["sequence"] = int(value)
    elif kind in ("text", "raw"):
        answer.fact(f"{kind} {order(kind)}", value)
    else:
        name, unit = SENSORS[kind, described.native_unit_of_measurement]
        answer.measure(name, value.timestamp() if kind == "timestamp" else value, unit)


def read_event(key, event, answer):
    name = key.partition("_")[0]
    answer.flag(f"{numbered(name, key)}-{event.event_type.replace('_', '-')}")
    properties = event.event_properties or {}
    if "steps" in properties:
        answer.measure("dimmer-steps", properties["steps"], "1")
    if properties.get("args"):
        answer.measure("command-steps", int(properties["args"], 16), "1")


KNOWN = [
    Difference(
        about="a temperature in steps of 0.35 °C is rounded to tenths", facts="temperature *",
        when=lambda p: p.has(0x58), wrong="bthome-ble", source=f"{FORMAT}, Sensor data",
        says="0x58 temperature sint8 (1 byte), factor 0.35",
        how=lambda our, their: our[1] == their[1] and abs(float(our[0]) - their[0]) < 0.0501),
    Difference(
        about="text and raw objects are given out, and not only kept in the payload", facts="text *|raw *",
        when=lambda p: p.has(TEXT, RAW), wrong="neither", source=f"{FORMAT}, Misc data",
        says="0x53 text, 0x54 raw: no measurements; ingestd keeps them in the record's raw payload"),
    Difference(
        about="masses in kg and lb, lengths in mm and m, and volumes in L and mL, overwrite each other",
        facts="mass *|distance *|volume *",
        when=lambda p: p.has(0x06) and p.has(0x07) or p.has(0x40) and p.has(0x41)
        or p.has(0x48) and p.has(0x47, 0x4E),
        wrong="bthome-ble", source=f"{FORMAT}, Sensor data",
        says="objects of their own: 0x06 mass (kg), 0x07 mass (lb); 0x40 distance (mm), 0x41 distance (m); 0x47 and "
             "0x4E volume (L), 0x48 volume (mL)"),
    Difference(
        about="nothing shows that there are objects of a later version", facts="flag unknown-object",
        when=lambda p: p.has_unknown, wrong="neither", source=FORMAT,
        says="“A BTHome receiver will stop parsing object ids as soon as it finds an object id that isn't "
             "supported.”"),
]

CASES = [
    Case("bthome", ["--advertisement"], plain, theirs, KNOWN),
    Case("bthome-encrypted", ["--advertisement", "--key", KEY.hex(), "--address", ADDRESS], encrypted, theirs, KNOWN),
]
