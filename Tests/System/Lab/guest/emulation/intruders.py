"""Devices that mean no good: with attributes without end, with values without end, under addresses without end."""

import asyncio
import struct

from bumble import hci
from bumble.att import ATT_CID
from bumble.hci import Address

from .bearer import HANDLE_VALUE_NOTIFICATION, REMOTE_USER_TERMINATED
from .indicator import Indicator
from .recorder import ABORT, Recorder

ERROR, FIND_INFORMATION, FIND_BY_TYPE_VALUE, READ_BY_TYPE = 0x01, 0x04, 0x06, 0x08
ATTRIBUTE_NOT_FOUND = 0x0A
CHARACTERISTIC = b"\x03\x28"
FIRST_INVENTED_UUID = 0x3000
# Of those that fit into a PDU of 23 octets.
DECLARATIONS_IN_ANSWER = 3
# The longest value of a PDU of 512 octets and its header, less what names it.
LONGEST = 508
# Values that go out before others of the lab get a turn, and how long that is.
BURST, TURN_S = 8, 0.004


class Crowd(Indicator):
    """Shows `count` characteristics in its service, by answers made up as they are asked for; what a gateway looks for
    is not among them.
    """

    def __init__(self, *arguments, count=20_000, **options):
        super().__init__(*arguments, **options)
        self.count = count
        self.shown = 0
        self.device.invent = self.invent

    def report(self):
        return {**super().report(), "shown": self.shown}

    def invent(self, pdu):
        first = int.from_bytes(pdu[1:3], "little")
        if pdu[0] == FIND_BY_TYPE_VALUE:
            return bytes([pdu[0] + 1, 0x01, 0x00, 0xFF, 0xFF])
        if pdu[0] == READ_BY_TYPE and pdu[5:] == CHARACTERISTIC:
            numbers = range(first // 2, min(first // 2 + DECLARATIONS_IN_ANSWER, self.count))
            self.shown += len(numbers)
            declarations = b"".join(
                struct.pack("<HBHH", 2 * number + 2, 0x20, 2 * number + 3, FIRST_INVENTED_UUID + number)
                for number in numbers)
            if declarations:
                return bytes([pdu[0] + 1, 7]) + declarations
        if pdu[0] in (READ_BY_TYPE, FIND_INFORMATION):
            return bytes([ERROR, pdu[0]]) + pdu[1:3] + bytes([ATTRIBUTE_NOT_FOUND])
        return None


class Flooder(Recorder):
    """Is asked for its memory and sends `distinct` values that nobody can decode, as fast as they are carried, then
    others that nobody asked for, until it is told to stop or the link ends.
    """

    def __init__(self, *arguments, distinct=200, unasked="2A51", **options):
        super().__init__(*arguments, **options)
        self.distinct = distinct
        self.unasked = unasked
        self.sent = 0

    def report(self):
        return {**super().report(), "sent": self.sent}

    async def answer(self, link, connection, request):
        if request[0] == ABORT:
            self.awake = False
            await super().answer(link, connection, request)
            return
        while self.device.link is link:
            for _ in range(BURST):
                uuid = self.measurement if self.sent < self.distinct else self.unasked
                # A base time in the year 65535.
                value = b"\xff" * (LONGEST - 4) + self.sent.to_bytes(4, "big")
                self.carry(connection, self.characteristics[uuid].handle, value)
                self.sent += 1
            await asyncio.sleep(TURN_S)

    def carry(self, connection, handle, value):
        """Past the log of the lab's bearer and the host's flow control, which would be what is tested."""
        pdu = bytes([HANDLE_VALUE_NOTIFICATION]) + handle.to_bytes(2, "little") + value
        link = self.controller.le_connections.get(connection.peer_address)
        if link is not None:
            link.on_acl_pdu(struct.pack("<HH", len(pdu), ATT_CID) + pdu)


class Inventor(Indicator):
    """Gives each reading under an address of its own."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, asleep_s=0.2, **options)
        self.addresses = 0

    def report(self):
        return {**super().report(), "addresses": self.addresses}

    async def advertise_until_connected(self):
        self.device.random_address = Address.generate_static_address()
        await self.device.send_sync_command(
            hci.HCI_LE_Set_Random_Address_Command(random_address=self.device.random_address))
        self.addresses += 1
        return await super().advertise_until_connected()

    def on_confirmed(self, link):
        super().on_confirmed(link)
        self.device.hang_up(link, REMOTE_USER_TERMINATED)
