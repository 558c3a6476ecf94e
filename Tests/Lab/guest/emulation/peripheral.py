"""A scripted health device: sleeps until it has a reading to give, and gives it until it is confirmed."""

import asyncio
import collections
import struct

from bumble.core import AdvertisingData, UUID
from bumble.controller import Controller
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.host import Host
from bumble.transport.common import AsyncPipeSink

from .bearer import FAULTS, FaultyDevice, Link

ADVERTISING_INTERVAL_MS = 100
DEVICE_INFORMATION = {"2A29": "manufacturer", "2A24": "model", "2A25": "serial", "2A26": "firmware"}


class Peripheral:
    """One device on the air.

    It wakes up when it is given readings, and advertises for `awake_s`. When the link ends or nobody connects, it
    sleeps for `asleep_s` and wakes again, as long as readings are left. A reading counts as given when its indication
    was confirmed; otherwise the same bytes come again on the next link. With `linger` set it goes on advertising when
    it has given everything. While it is on hold it indicates nothing.
    """

    def __init__(self, air, log, name, address, service, characteristic, information=None, battery=None,
                 awake_s=8.0, asleep_s=4.5):
        self.name = name
        self.write_log = log
        self.awake_s = awake_s
        self.asleep_s = asleep_s
        self.linger = False
        self.readings = collections.deque()
        self.given = []
        # The reading whose confirmation is awaited.
        self.offered = None
        self.links = []
        self.faults = collections.deque()
        self.changed = asyncio.Event()
        self.may_indicate = asyncio.Event()
        self.may_indicate.set()
        self.tasks = []
        self.air = air
        self.controller = Controller(name, link=air, public_address=address)
        self.device = FaultyDevice(
            name=name, address=Address(address), host=Host(self.controller, AsyncPipeSink(self.controller)))
        self.device.log = self.log
        self.device.on_confirmed = self.on_confirmed
        self.measurement = Characteristic(UUID(characteristic), Characteristic.Properties.INDICATE, 0, b"")
        self.device.add_service(Service(UUID(service), [self.measurement]))
        self.add_information(information or {}, battery)
        self.device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, struct.pack("<H", int(service, 16))),
            (AdvertisingData.COMPLETE_LOCAL_NAME, name.encode()[:20])]))
        self.measurement.on("subscription", self.on_subscription)
        self.device.on("connection", self.on_connection)

    def add_information(self, information, battery):
        def readable(uuid, value):
            return Characteristic(
                UUID(uuid), Characteristic.Properties.READ, Characteristic.Permissions.READABLE, value)

        strings = [readable(uuid, information[key].encode())
                   for uuid, key in DEVICE_INFORMATION.items() if key in information]
        if strings:
            self.device.add_service(Service(UUID("180A"), strings))
        if battery is not None:
            self.device.add_service(Service(UUID("180F"), [readable("2A19", bytes([battery]))]))

    def log(self, what, **fields):
        self.write_log(what, peripheral=self.name, **fields)

    # Orders

    async def start(self):
        await self.device.power_on()
        self.tasks.append(asyncio.get_running_loop().create_task(self.live()))

    async def remove(self):
        for task in self.tasks:
            task.cancel()
        await self.device.stop_advertising()
        link = self.device.link
        if link is not None:
            await link.connection.disconnect()
        self.air.remove_controller(self.controller)

    def give(self, readings):
        self.readings.extend(bytes.fromhex(reading) for reading in readings)
        self.changed.set()

    def set_linger(self, linger):
        self.linger = linger
        self.changed.set()

    def set_hold(self, hold):
        if hold:
            self.may_indicate.clear()
        else:
            self.may_indicate.set()

    def add_fault(self, fault):
        """Adds the faults of the next link that has none yet."""
        unknown = set(fault) - set(FAULTS)
        if unknown:
            raise ValueError(f"unknown faults: {unknown}")
        self.faults.append(fault)

    def report(self):
        return {
            "left": [reading.hex() for reading in self.readings], "given": self.given,
            "subscribed": self.device.link is not None and self.device.link.giving is not None,
            "links": [link.report() for link in self.links], "faults_left": len(self.faults),
            "advertising": self.air.hears(self.device.random_address), "connected": self.device.link is not None,
        }

    # Life

    @property
    def is_wanted(self):
        return bool(self.readings) or self.linger

    async def live(self):
        while True:
            while not self.is_wanted:
                self.changed.clear()
                await self.changed.wait()
            if await self.advertise_until_connected():
                await self.links[-1].ended.wait()
            if not self.linger:
                await asyncio.sleep(self.asleep_s)

    async def advertise_until_connected(self):
        """Returns whether somebody connected before it was time to sleep."""
        known = len(self.links)
        self.log("awake")
        await self.device.start_advertising(
            advertising_interval_min=ADVERTISING_INTERVAL_MS, advertising_interval_max=ADVERTISING_INTERVAL_MS)
        deadline = asyncio.get_running_loop().time() + self.awake_s
        while len(self.links) == known:
            left = deadline - asyncio.get_running_loop().time()
            if not self.is_wanted or (left <= 0 and not self.linger):
                break
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), None if self.linger else left)
            except asyncio.TimeoutError:
                pass
        await self.device.stop_advertising()
        self.log("connected" if len(self.links) > known else "asleep")
        return len(self.links) > known

    def on_connection(self, connection):
        link = Link(len(self.links) + 1, connection, self.faults.popleft() if self.faults else {})
        self.links.append(link)
        self.offered = None
        self.device.link = link
        self.log("link", link=link.number, faults=link.faults)
        sending = asyncio.get_running_loop().create_task(self.device.send_queued(link))

        def on_disconnection(reason):
            sending.cancel()
            self.device.link = None
            link.end(reason)
            self.log("link-ended", link=link.number, reason=link.reason)

        connection.on("disconnection", on_disconnection)
        self.changed.set()

    def on_subscription(self, connection, _notifications, indications):
        link = self.device.link
        if indications and link is not None and link.giving is None:
            link.giving = asyncio.get_running_loop().create_task(self.give_all(link, connection))

    async def give_all(self, link, connection):
        while self.readings:
            await self.may_indicate.wait()
            self.offered = self.readings[0]
            await self.device.indicate_subscriber(connection, self.measurement, self.offered)

    def on_confirmed(self, link):
        """Counts the reading at once: the link may be gone before the giving task runs again."""
        if self.offered is None:
            return
        self.readings.popleft()
        self.given.append([link.number, self.offered.hex()])
        self.log("given", link=link.number, hex=self.offered.hex())
        self.offered = None
