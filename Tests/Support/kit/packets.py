"""A control packet of MQTT, the same in 3.1.1 and 5 (section 2.1)."""


def number(value):
    """A variable byte integer (MQTT 5, section 1.5.5)."""
    octets = bytearray()
    while True:
        value, low = divmod(value, 128)
        octets.append(low | (0x80 if value else 0))
        if not value:
            return bytes(octets)


def packet(kind, body, flags=0):
    return bytes([kind << 4 | flags]) + number(len(body)) + body
