"""MQTT 5 as far as a publisher of this test needs it."""

from kit.packets import packet

CONNECT, CONNACK, PUBLISH, PUBACK, PINGREQ, PINGRESP = 1, 2, 3, 4, 12, 13


def text(value):
    octets = value.encode()
    return len(octets).to_bytes(2, "big") + octets


def connect(client, keep_alive):
    """Clean Start, no user, no will."""
    return packet(CONNECT, text("MQTT") + bytes([5, 2]) + keep_alive.to_bytes(2, "big") + b"\0" + text(client))


def publish(topic, name, payload):
    """QoS 1; `name` is the packet identifier."""
    return packet(PUBLISH, text(topic) + name.to_bytes(2, "big") + b"\0" + payload, flags=2)


async def read(stream):
    """The kind and the body of the next packet."""
    kind = (await stream.readexactly(1))[0] >> 4
    length = shift = 0
    while True:
        octet = (await stream.readexactly(1))[0]
        length |= (octet & 0x7F) << shift
        shift += 7
        if not octet & 0x80:
            return kind, await stream.readexactly(length)
