"""What all scripted health devices have in common: their life on the air, their services, their links."""

import asyncio
import collections
import struct

from bumble.core import AdvertisingData, UUID
from bumble.controller import Controller
from bumble.device import AdvertisingType
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, OwnAddressType
from bumble.host import Host
from bumble.transport.common import AsyncPipeSink

from .bearer import FAULTS, FaultyDevice, Link
from .bonding import Bonding, no_bonding
from .clock import EXTRA_OCTETS, Clock

ADVERTISING_INTERVAL_MS = 100
# A link on which nothing is sent for so long, or twice as long, is ended by the device, as by most that have a battery.
IDLE_S = 60
UNUSED_RANDOM_ADDRESS = "C0:DE:00:00:00:00"
# Flags in adverts (Supplement to the Core Specification, Part A 1.3).
GENERAL_DISCOVERABLE, BR_EDR_NOT_SUPPORTED = 0x02, 0x04
DEVICE_INFORMATION = {"2A29": "manufacturer", "2A24": "model", "2A25": "serial", "2A26": "firmware"}
PROPERTIES = {
    "read": Characteristic.Properties.READ, "write": Characteristic.Properties.WRITE,
    "notify": Characteristic.Properties.NOTIFY, "indicate": Characteristic.Properties.INDICATE,
}
PERMISSIONS = {"read": Characteristic.Permissions.READABLE, "write": Characteristic.Permissions.WRITEABLE}


class Peripheral:
    """One device on the air.

    It wakes up when it has something to give, and advertises for `awake_s`. When the link ends or nobody connects, it
    sleeps for `asleep_s` and wakes again, as long as something is left. With `linger` set it goes on advertising when
    it has given everything, and so it does in pairing mode. While it is on hold it sends nothing of its own accord.

    `services` says for each service which characteristics it has, and what can be done with each: words of PROPERTIES.
    `values` has the values that can be read, in hexadecimal, by characteristic. Clocks show the guest's time and
    `clock_ahead_s` more.
    With `answers_name` its name is not in its adverts: it is the answer to a scan request.
    `bonding` has the options of `Bonding`; without it the device has no keys and needs none.
    With `public` it advertises `address` as a public address, else as a random one.
    """

    def __init__(self, air, log, name, address, services, values=None, information=None, battery=None,
                 bonding=None, awake_s=8.0, asleep_s=4.5, clock_ahead_s=0, answers_name=False, public=False):
        self.name = name
        self.write_log = log
        self.awake_s = awake_s
        self.asleep_s = asleep_s
        self.linger = False
        self.links = []
        self.faults = collections.deque()
        self.changed = asyncio.Event()
        self.may_send = asyncio.Event()
        self.may_send.set()
        self.tasks = []
        self.air = air
        self.is_public = public
        own = Address(address, Address.PUBLIC_DEVICE_ADDRESS if public else Address.RANDOM_DEVICE_ADDRESS)
        self.controller = Controller(name, link=air, public_address=own)
        # bumble wants a random address of every device; one that advertises its public address never shows it.
        self.device = FaultyDevice(
            name=name, address=Address(UNUSED_RANDOM_ADDRESS) if public else own, host=Host(self.controller, AsyncPipeSink(self.controller)))
        self.device.log = self.log
        self.device.on_confirmed = self.on_confirmed
        self.clock = Clock(clock_ahead_s)
        self.bonding = Bonding(**bonding) if bonding is not None else no_bonding()
        self.bonding.attach(self.device, self.log)
        self.characteristics = {}
        for uuid, characteristics in services.items():
            self.add_service(uuid, characteristics, values or {})
        self.bonding.protect(self.device.gatt_server, self.characteristics.values())
        self.add_information(information or {}, battery)
        self.advertised = [
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS,
             b"".join(struct.pack("<H", int(service, 16)) for service in services))]
        local_name = (AdvertisingData.COMPLETE_LOCAL_NAME, name.encode()[:18])
        self.scan_answer = bytes(AdvertisingData([local_name])) if answers_name else b""
        if not answers_name:
            self.advertised.append(local_name)
        self.device.on("connection", self.on_connection)

    def add_service(self, uuid, characteristics, values):
        added = {}
        for characteristic, words in characteristics.items():
            words = words.split()
            value = bytes.fromhex(values.get(characteristic, ""))
            if characteristic in EXTRA_OCTETS:
                value = CharacteristicValue(
                    read=lambda connection, uuid=characteristic: self.clock.read(uuid),
                    write=lambda connection, written, uuid=characteristic: self.clock.write(uuid, written))
            elif "write" in words:
                value = CharacteristicValue(
                    read=lambda connection, value=value: value,
                    write=lambda connection, written, uuid=characteristic: self.on_written(uuid, connection, written))
            added[characteristic] = Characteristic(
                UUID(characteristic), sum(PROPERTIES[word] for word in words),
                sum(PERMISSIONS[word] for word in words if word in PERMISSIONS), value)
        self.device.add_service(Service(UUID(uuid), list(added.values())))
        for characteristic, attribute in added.items():
            attribute.on("subscription", lambda connection, notifications, indications, uuid=characteristic:
                         self.on_subscription(uuid, connection, notifications, indications))
        self.characteristics.update(added)

    def add_information(self, information, battery):
        strings = {uuid: information[key].encode().hex()
                   for uuid, key in DEVICE_INFORMATION.items() if key in information}
        if strings:
            self.add_service("180A", dict.fromkeys(strings, "read"), strings)
        if battery is not None:
            self.add_service("180F", {"2A19": "read"}, {"2A19": f"{battery:02x}"})

    def log(self, what, **fields):
        self.write_log(what, peripheral=self.name, **fields)

    # What a kind of device adds

    @property
    def has_something(self):
        """Whether it has something to give."""
        return False

    def on_subscribed(self, link, connection):
        """The gateway has subscribed to one more characteristic."""

    def on_written(self, uuid, connection, value):
        """The gateway has written to a characteristic; an att.ATT_Error raised here is the answer."""

    def on_confirmed(self, link):
        """The gateway has confirmed an indication. The link may be gone before another task runs."""

    # Orders

    async def start(self):
        await self.device.power_on()
        self.tasks.append(asyncio.get_running_loop().create_task(self.live()))

    async def remove(self):
        # wait_for of Python before 3.12 forgets a cancellation that comes together with what it waits for.
        while going_on := [task for task in self.tasks if not task.done()]:
            for task in going_on:
                task.cancel()
            await asyncio.wait(going_on, timeout=0.1)
        await self.device.stop_advertising()
        link = self.device.link
        if link is not None:
            await link.connection.disconnect()
        self.air.remove_controller(self.controller)

    def set_linger(self, linger):
        self.linger = linger
        self.changed.set()

    def set_hold(self, hold):
        if hold:
            self.may_send.clear()
        else:
            self.may_send.set()

    def add_fault(self, fault):
        """Adds the faults of the next link that has none yet."""
        unknown = set(fault) - set(FAULTS)
        if unknown:
            raise ValueError(f"unknown faults: {unknown}")
        self.faults.append(fault)

    def set_pairing_mode(self, pairing):
        """Whether its user has told it to accept pairing. In pairing mode it advertises until it is paired."""
        self.bonding.in_pairing_mode = pairing
        self.changed.set()

    def forget(self, forget):
        """Its user deletes all bonds from it."""
        if forget:
            self.bonding.forget()

    def report(self):
        return {
            "bonding": self.bonding.report(),
            "subscribed": self.device.link is not None and bool(self.device.link.subscribed),
            "links": [link.report() for link in self.links], "faults_left": len(self.faults),
            "advertising": self.air.hears(self.own_address), "connected": self.device.link is not None,
            "handles": {uuid: characteristic.handle for uuid, characteristic in self.characteristics.items()},
        }

    # Life

    @property
    def own_address(self):
        """The address that it advertises under."""
        return self.controller.public_address if self.is_public else self.device.random_address

    @property
    def is_kept_awake(self):
        return self.linger or self.bonding.in_pairing_mode

    @property
    def is_wanted(self):
        return self.has_something or self.is_kept_awake

    @property
    def advertising_data(self):
        # A device that can be paired says that it wants to be found when it is in pairing mode; others always do.
        is_discoverable = self.bonding.in_pairing_mode or not self.bonding.is_demanded
        flags = BR_EDR_NOT_SUPPORTED | (GENERAL_DISCOVERABLE if is_discoverable else 0)
        return bytes(AdvertisingData([(AdvertisingData.FLAGS, bytes([flags])), *self.advertised]))

    async def live(self):
        while True:
            while not self.is_wanted:
                self.changed.clear()
                await self.changed.wait()
            if await self.advertise_until_connected():
                await self.links[-1].ended.wait()
            if not self.is_kept_awake:
                await asyncio.sleep(self.asleep_s)

    async def advertise_until_connected(self):
        """Returns whether somebody connected before it was time to sleep."""
        known = len(self.links)
        if self.bonding.private:
            await self.bonding.renew_address()
        self.log("awake", address=str(self.own_address))
        await self.start_advertising()
        deadline = asyncio.get_running_loop().time() + self.awake_s
        while len(self.links) == known:
            left = deadline - asyncio.get_running_loop().time()
            if not self.is_wanted or (left <= 0 and not self.is_kept_awake):
                break
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), None if self.is_kept_awake else left)
            except asyncio.TimeoutError:
                pass
            if len(self.links) == known and self.device.advertising_data != self.advertising_data:
                await self.start_advertising()
        await self.device.stop_advertising()
        self.log("connected" if len(self.links) > known else "asleep")
        return len(self.links) > known

    async def start_advertising(self):
        target = self.bonding.gateway if self.bonding.directed else None
        await self.device.start_advertising(
            AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE if target is None
            else AdvertisingType.DIRECTED_CONNECTABLE_LOW_DUTY,
            target, own_address_type=OwnAddressType.PUBLIC if self.is_public else OwnAddressType.RANDOM,
            advertising_data=self.advertising_data, scan_response_data=self.scan_answer,
            advertising_interval_min=ADVERTISING_INTERVAL_MS, advertising_interval_max=ADVERTISING_INTERVAL_MS)

    def on_connection(self, connection):
        link = Link(len(self.links) + 1, connection, self.faults.popleft() if self.faults else {})
        self.links.append(link)
        self.device.link = link
        self.bonding.follow(link)
        self.log("link", link=link.number, faults=link.faults)
        sending = asyncio.get_running_loop().create_task(self.device.send_queued(link))
        idling = asyncio.get_running_loop().create_task(self.hang_up_when_idle(link, connection))

        def on_disconnection(reason):
            sending.cancel()
            idling.cancel()
            self.device.link = None
            link.end(reason)
            self.log("link-ended", link=link.number, reason=link.reason)

        connection.on("disconnection", on_disconnection)
        self.changed.set()

    async def hang_up_when_idle(self, link, connection):
        """A kernel can lose a link without ending it; see the case controller-answers-late."""
        seen = -1
        while len(link.pdus) != seen:
            seen = len(link.pdus)
            await asyncio.sleep(IDLE_S)
        self.log("idle", link=link.number)
        await connection.disconnect()

    def on_subscription(self, uuid, connection, notifications, indications):
        link = self.device.link
        if link is None:
            return
        if notifications or indications:
            link.subscribed[uuid] = "indicate" if indications else "notify"
            self.on_subscribed(link, connection)
        else:
            link.subscribed.pop(uuid, None)

    async def send(self, link, connection, uuid, value):
        """Notifies or indicates, as the gateway has subscribed; an indication takes until it is confirmed."""
        characteristic = self.characteristics[uuid]
        if link.subscribed[uuid] == "indicate":
            await self.device.indicate_subscriber(connection, characteristic, value)
        else:
            await self.device.notify_subscriber(connection, characteristic, value)
