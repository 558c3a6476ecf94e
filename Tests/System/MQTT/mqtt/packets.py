"""MQTT 5 and 3.1.1 as far as a publisher speaks them. What is not as the specification has it is a Violation.

The version of a connection is the protocol level of its CONNECT: 5, or 4 for MQTT 3.1.1.
"""

from dataclasses import dataclass

from kit.packets import number, packet

CONNECT, CONNACK, PUBLISH, PUBACK, PINGREQ, PINGRESP, DISCONNECT = 1, 2, 3, 4, 12, 13, 14

# Property: how its value is written (section 2.2.2.2), and the packets or parts that may have it.
PROPERTIES = {
    0x01: ("byte", {PUBLISH, "will"}), 0x02: ("four", {PUBLISH, "will"}), 0x03: ("text", {PUBLISH, "will"}),
    0x11: ("four", {CONNECT, DISCONNECT}), 0x18: ("four", {"will"}), 0x19: ("byte", {CONNECT}),
    0x21: ("two", {CONNECT}), 0x22: ("two", {CONNECT}), 0x23: ("two", {PUBLISH}), 0x27: ("four", {CONNECT}),
}
WIDTHS = {"byte": 1, "two": 2, "four": 4}


class Violation(Exception):
    """Something that a client must not send."""


def connack_3(code):
    """CONNACK of MQTT 3.1.1 (section 3.2)."""
    return packet(CONNACK, bytes([0, code]))


def puback_3(message):
    """PUBACK of MQTT 3.1.1 (section 3.4)."""
    return packet(PUBACK, message.to_bytes(2, "big"))


def connack(reason, properties=b""):
    return packet(CONNACK, bytes([0, reason]) + number(len(properties)) + properties)


def puback(message, reason, words=""):
    text = words.encode()
    properties = b"\x1f" + len(text).to_bytes(2, "big") + text if text else b""
    return packet(PUBACK, message.to_bytes(2, "big") + bytes([reason]) + number(len(properties)) + properties)


def disconnect(reason):
    return packet(DISCONNECT, bytes([reason, 0]))


class Reader:
    """Takes a packet apart."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Violation("a packet is too short")
        part = self.data[self.at:self.at + count]
        self.at += count
        return part

    def integer(self, width):
        return int.from_bytes(self.take(width), "big")

    def number(self):
        value = 0
        for shift in range(0, 28, 7):
            octet = self.integer(1)
            value |= (octet & 0x7F) << shift
            if not octet & 0x80:
                return value
        raise Violation("a number of more than four octets")

    def binary(self):
        return self.take(self.integer(2))

    def text(self):
        found = self.binary().decode("utf-8")
        if any(ord(letter) < 0x20 or 0x7F <= ord(letter) < 0xA0 for letter in found):
            raise Violation(f"control characters in {found!r}")
        return found

    def properties(self, place):
        end = self.number() + self.at
        found = {}
        while self.at < end:
            name = self.number()
            form, places = PROPERTIES.get(name, (None, ()))
            if place not in places or name in found:
                raise Violation(f"property 0x{name:02X} has no place here")
            found[name] = self.text() if form == "text" else self.integer(WIDTHS[form])
        if self.at != end:
            raise Violation("properties of another length than they say")
        return found

    def end(self):
        if self.at != len(self.data):
            raise Violation("more in a packet than belongs there")


@dataclass
class Connect:
    client: str
    keep_alive: int
    user: str | None
    password: bytes | None
    will: tuple | None
    properties: dict


def read_connect(body, version):
    reader = Reader(body)
    if reader.text() != "MQTT" or reader.integer(1) != version:
        raise Violation(f"not version {version} of MQTT")
    flags = reader.integer(1)
    if flags & 1:
        raise Violation("a reserved flag")
    if not flags & 2:
        raise Violation("no clean start: nothing is left with the broker")
    keep_alive = reader.integer(2)
    properties = reader.properties(CONNECT) if version == 5 else {}
    client = reader.text()
    if not client:
        raise Violation("no client identifier")
    will = None
    if flags & 4:
        if version == 5:
            reader.properties("will")
        will = (reader.text(), reader.binary(), flags >> 3 & 3, bool(flags & 0x20))
    elif flags & 0x38:
        raise Violation("flags of a will that is not there")
    user = reader.text() if flags & 0x80 else None
    password = reader.binary() if flags & 0x40 else None
    if version == 4 and flags & 0xC0 == 0x40:
        raise Violation("a password without a user name")
    reader.end()
    return Connect(client, keep_alive, user, password, will, properties)


@dataclass
class Publish:
    topic: str
    payload: bytes
    number: int
    is_retained: bool


def read_publish(flags, body, version):
    reader = Reader(body)
    if flags >> 1 & 3 != 1 or flags & 8:
        raise Violation(f"PUBLISH with flags {flags:04b}: expected QoS 1, sent once")
    topic = reader.text()
    if not topic or "+" in topic or "#" in topic or topic.startswith("$"):
        raise Violation(f"a topic that nobody can publish under: {topic!r}")
    name = reader.integer(2)
    if not name:
        raise Violation("packet identifier 0")
    if version == 5 and reader.properties(PUBLISH) != {0x01: 1, 0x03: "application/json"}:
        raise Violation("expected UTF-8 and application/json, and no other property")
    return Publish(topic, reader.data[reader.at:], name, bool(flags & 1))
