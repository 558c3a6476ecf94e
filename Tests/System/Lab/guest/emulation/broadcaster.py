"""Sensors that nobody connects to: all that they say is in their adverts."""

import asyncio

from bumble.hci import Address
from bumble.ll import AdvNonConnInd


class Neighbour:
    """A device that is nobody's and always advertises: whoever receives hears it."""

    ADDRESS = Address("C0:FF:00:00:00:00", Address.RANDOM_DEVICE_ADDRESS)
    # Flags, and the appearance of a device that names none (Assigned Numbers 2.6).
    DATA = bytes([2, 0x01, 0x06, 3, 0x19, 0x00, 0x00])
    INTERVAL_S = 0.5

    def __init__(self, air):
        self.air = air
        self.task = None

    def set_present(self, is_present):
        if is_present and self.task is None:
            self.task = asyncio.get_running_loop().create_task(self.live())
        elif not is_present and self.task is not None:
            self.task.cancel()
            self.task = None

    async def live(self):
        while True:
            self.air.send_advertising_pdu(None, AdvNonConnInd(self.ADDRESS, self.DATA))
            await asyncio.sleep(self.INTERVAL_S)


class Broadcaster:
    """Sends non-connectable adverts."""

    def __init__(self, air, log, name, address, interval_s=0.1):
        self.air = air
        self.write_log = log
        self.name = name
        self.address = Address(address)
        self.interval_s = interval_s
        self.sent = []
        self.queue = asyncio.Queue()
        self.task = None

    async def start(self):
        self.task = asyncio.get_running_loop().create_task(self.live())

    async def remove(self):
        self.task.cancel()

    def broadcast(self, adverts):
        """Sends advertising data, in hexadecimal, so many times each: pairs of both."""
        for data, times in adverts:
            self.queue.put_nowait((bytes.fromhex(data), times))

    def report(self):
        return {"sent": self.sent, "links": [], "connected": False}

    async def live(self):
        while True:
            data, times = await self.queue.get()
            for _ in range(times):
                self.air.send_advertising_pdu(None, AdvNonConnInd(self.address, data))
                await asyncio.sleep(self.interval_s)
            self.write_log("broadcast", peripheral=self.name, hex=data.hex(), times=times)
            self.sent.append([data.hex(), times])
