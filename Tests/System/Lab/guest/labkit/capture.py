"""What went over HCI, recorded by btmon and read from its file (btsnoop, datalink 2001: Linux monitor)."""

import os
import struct
import subprocess
from collections import namedtuple

from .waiting import wait_until

HEADER = struct.Struct(">8sII")
PACKET = struct.Struct(">IIIIQ")
MONITOR_DATALINK = 2001
COMMAND, EVENT, ACL_SENT, ACL_RECEIVED = 2, 3, 4, 5

SET_SCAN_PARAMETERS, SET_EXTENDED_SCAN_PARAMETERS = 0x200B, 0x2041
CREATE_CONNECTION, EXTENDED_CREATE_CONNECTION = 0x200D, 0x2043
LE_META, CONNECTION_COMPLETE, ENHANCED_CONNECTION_COMPLETE = 0x3E, 0x01, 0x0A
DISCONNECTION_COMPLETE = 0x05
ATT_CHANNEL = 0x0004
HANDLE_VALUE_CONFIRMATION = 0x1E
PASSIVE, ACTIVE = 0, 1

# `adapter` is the number of its hci device.
Packet = namedtuple("Packet", "kind adapter data")
# One ATT PDU; `sent` by the gateway, or by the peripheral.
AttPdu = namedtuple("AttPdu", "sent bytes")


class Capture:
    """A btmon that records all the time."""

    def __init__(self, path):
        self.path = path
        self.process = subprocess.Popen(
            ["btmon", "--write", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until("btmon records", 30, lambda: os.path.exists(path) and os.path.getsize(path) > HEADER.size)
        self.start = 0

    def mark(self):
        self.start = len(self.all_packets())

    def all_packets(self):
        with open(self.path, "rb") as file:
            content = file.read()
        _, _, datalink = HEADER.unpack_from(content)
        assert datalink == MONITOR_DATALINK, datalink
        packets, at = [], HEADER.size
        while at + PACKET.size <= len(content):
            _, length, flags, _, _ = PACKET.unpack_from(content, at)
            at += PACKET.size
            if at + length > len(content):
                break
            packets.append(Packet(flags & 0xFFFF, flags >> 16, content[at:at + length]))
            at += length
        return packets

    def packets(self):
        """The packets since the mark."""
        return self.all_packets()[self.start:]

    def scan_types(self):
        """The type of each scan that the host set up since the mark: PASSIVE or ACTIVE."""
        types = []
        for packet in self.packets():
            if packet.kind != COMMAND:
                continue
            opcode, parameters = struct.unpack_from("<H", packet.data)[0], packet.data[3:]
            if opcode == SET_SCAN_PARAMETERS:
                types.append(parameters[0])
            elif opcode == SET_EXTENDED_SCAN_PARAMETERS:
                phys = bin(parameters[2]).count("1")
                types += [parameters[3 + 5 * phy] for phy in range(phys)]
        return types

    def connection_attempts(self):
        """The addresses that the host asked the adapter to connect to since the mark."""
        addresses = []
        for packet in self.packets():
            if packet.kind == COMMAND:
                opcode, parameters = struct.unpack_from("<H", packet.data)[0], packet.data[3:]
                if opcode == CREATE_CONNECTION:
                    addresses.append(address_text(parameters[6:12]))
                elif opcode == EXTENDED_CREATE_CONNECTION:
                    addresses.append(address_text(parameters[3:9]))
        return addresses

    def links(self, address):
        """For each connection with this address since the mark, its ATT PDUs in their order."""
        links, open_handle, adapter, partial = [], None, None, {}
        for packet in self.packets():
            if packet.kind == EVENT:
                opened = connection_opened(packet.data)
                if opened and opened[1] == address:
                    open_handle, adapter = opened[0], packet.adapter
                    links.append([])
                elif packet.data[0] == DISCONNECTION_COMPLETE and packet.adapter == adapter:
                    if struct.unpack_from("<H", packet.data, 3)[0] == open_handle:
                        open_handle = None
            elif packet.kind in (ACL_SENT, ACL_RECEIVED) and open_handle is not None and packet.adapter == adapter:
                pdu = att_pdu(packet, open_handle, partial)
                if pdu:
                    links[-1].append(pdu)
        return links


def address_text(little_endian):
    return ":".join(f"{byte:02X}" for byte in reversed(little_endian))


def connection_opened(event):
    """(handle, peer's address) if the event says that a connection was made."""
    if event[0] != LE_META or event[2] not in (CONNECTION_COMPLETE, ENHANCED_CONNECTION_COMPLETE) or event[3] != 0:
        return None
    return struct.unpack_from("<H", event, 4)[0], address_text(event[8:14])


def att_pdu(packet, wanted_handle, partial):
    """The ATT PDU that this ACL packet completes; `partial` keeps the beginnings, by direction."""
    handle_and_flags, = struct.unpack_from("<H", packet.data)
    if handle_and_flags & 0x0FFF != wanted_handle:
        return None
    is_continuation = handle_and_flags >> 12 & 0x3 == 1
    frame = (partial.get(packet.kind, b"") if is_continuation else b"") + packet.data[4:]
    partial[packet.kind] = frame
    if len(frame) < 4:
        return None
    length, channel = struct.unpack_from("<HH", frame)
    if len(frame) < 4 + length:
        return None
    del partial[packet.kind]
    return AttPdu(packet.kind == ACL_SENT, frame[4:]) if channel == ATT_CHANNEL else None


def pdus_to_confirmation(link):
    """How many PDUs went over a link up to the first confirmation, this included; None if there is none."""
    for count, pdu in enumerate(link, start=1):
        if pdu.sent and pdu.bytes[0] == HANDLE_VALUE_CONFIRMATION:
            return count
    return None
