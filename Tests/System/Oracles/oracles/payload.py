"""Payloads that are made field by field, so that what is known of one can be asked of its fields."""

import random
import struct

# Short names for the special values of SFLOAT and FLOAT (IEEE 11073-20601: NaN, NRes, +INFINITY, reserved, -INFINITY).
SFLOAT_SPECIALS = {0x07FF: "not-a-number", 0x0800: "not-at-this-resolution", 0x07FE: "positive-infinity",
                   0x0801: "reserved", 0x0802: "negative-infinity"}
FLOAT_SPECIALS = {0x007FFFFF: "not-a-number", 0x00800000: "not-at-this-resolution", 0x007FFFFE: "positive-infinity",
                  0x00800001: "reserved", 0x00800002: "negative-infinity"}


class Payload:
    """Bytes, and the raw value of each field that they were made of."""

    def __init__(self):
        self.bytes = bytearray()
        self.fields = {}
        self.numbers = {}

    def __contains__(self, name):
        return name in self.fields

    def __getitem__(self, name):
        return self.fields[name]

    def get(self, name, default=None):
        return self.fields.get(name, default)

    def put(self, name, value, size):
        """An integer, least significant octet first; negative ones in two's complement."""
        self.fields[name] = value
        self.bytes += (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        return value

    def put_flags(self, random, flags, reserved=0):
        """The octet of these flags, sometimes with some of the reserved bits."""
        bits = sum(1 << bit for bit in flags.values())
        self.put("flags", bits | (random.getrandbits(8) & reserved if random.chance(0.1) else 0), 1)

    def special(self, name):
        kind, raw = self.numbers.get(name, (None, None))
        return kind.get(raw) if kind else None

    def number(self, name, raw, size):
        """An SFLOAT of two octets, or a FLOAT of four."""
        self.put(name, raw, size)
        self.numbers[name] = (SFLOAT_SPECIALS if size == 2 else FLOAT_SPECIALS, raw)


class Random(random.Random):
    """The random choices that payloads are made of."""

    def chance(self, probability):
        return self.random() < probability

    def flags(self, *names):
        """Each of these flags with an even chance; the list is that of the bits from 0 on."""
        return {name: bit for bit, name in enumerate(names) if name and self.chance(0.5)}

    def sfloat(self, low=0, high=2047, exponents=(-2, -1, 0)):
        """Mostly a plausible number, sometimes any, sometimes a special value."""
        choice = self.random()
        if choice < 0.05:
            return self.choice(list(SFLOAT_SPECIALS))
        if choice < 0.15:
            return self.getrandbits(16)
        exponent = self.choice(exponents)
        mantissa = min(int(self.uniform(low, high) / 10**exponent), 2045)
        return (exponent & 0xF) << 12 | mantissa & 0xFFF

    def float(self, low, high, exponents=(-3, -2, -1, 0)):
        choice = self.random()
        if choice < 0.05:
            return self.choice(list(FLOAT_SPECIALS))
        if choice < 0.15:
            return self.getrandbits(32)
        exponent = self.choice(exponents)
        return (exponent & 0xFF) << 24 | int(self.uniform(low, high) / 10**exponent) & 0xFFFFFF

    def uint16(self):
        return self.choice((0, 1, 0xFFFE, 0xFFFF, self.getrandbits(8), self.getrandbits(16), self.getrandbits(16)))

    def uint8(self):
        return self.choice((0, 1, 0xFE, 0xFF, self.getrandbits(8)))

    def date_time(self, payload, name):
        """A Date Time field: mostly one of the calendar, sometimes with unknown parts, sometimes impossible."""
        month = self.randint(1, 12)
        parts = [self.choice((1582, 2000, 2024, 2026, 9999, self.randint(1582, 9999))), month, self.randint(1, 28),
                 self.randint(0, 23), self.randint(0, 59), self.randint(0, 59)]
        choice = self.random()
        if choice < 0.10:
            for index in self.sample(range(3), self.randint(1, 3)):
                parts[index] = 0
        elif choice < 0.15:
            for index, value in self.choice((
                    ((0, 1581),), ((0, 1),), ((0, 10000),), ((0, 65535),), ((1, 13),), ((2, 32),),
                    ((0, 2023), (1, 2), (2, 29)), ((1, 4), (2, 31)), ((3, 24),), ((4, 60),), ((5, 60),),
                    ((0, 0), (3, 255)))):
                parts[index] = value
        elif choice < 0.20:
            parts[:3] = self.choice(([2024, 2, 29], [2000, 2, 29], [2023, 12, 31], [2026, 4, 30]))
        payload.fields[name] = tuple(parts)
        payload.bytes += struct.pack("<HBBBBB", *parts)
