"""A stand-in for bluetoothd on a private bus: one adapter, four devices, and as many adverts as are asked for.

Run as a program by bleak_adverts.py: bluetoothd.py COUNT."""

import asyncio
import sys

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.constants import PropertyAccess
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property

ADAPTER = "/org/bluez/hci0"
PAUSE_EVERY = 50


class Adapter(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.Adapter1")
        self.started = asyncio.Event()

    @dbus_property(access=PropertyAccess.READ)
    def Address(self) -> "s":
        return "00:11:22:33:44:55"

    @dbus_property(access=PropertyAccess.READ)
    def Powered(self) -> "b":
        return True

    @dbus_property(access=PropertyAccess.READ)
    def Discovering(self) -> "b":
        return self.started.is_set()

    @dbus_property(access=PropertyAccess.READ)
    def Roles(self) -> "as":
        return ["central", "peripheral"]

    @dbus_method()
    def SetDiscoveryFilter(self, filter: "a{sv}"):
        pass

    @dbus_method()
    def StartDiscovery(self):
        self.started.set()

    @dbus_method()
    def StopDiscovery(self):
        pass


class Device(ServiceInterface):
    def __init__(self, number):
        super().__init__("org.bluez.Device1")
        self.number = number
        self.path = f"{ADAPTER}/dev_C6_55_44_33_22_{number:02X}"

    @dbus_property(access=PropertyAccess.READ)
    def Address(self) -> "s":
        return f"C6:55:44:33:22:{self.number:02X}"

    @dbus_property(access=PropertyAccess.READ)
    def AddressType(self) -> "s":
        return "random"

    @dbus_property(access=PropertyAccess.READ)
    def Alias(self) -> "s":
        return f"C6-55-44-33-22-{self.number:02X}"

    @dbus_property(access=PropertyAccess.READ)
    def Adapter(self) -> "o":
        return ADAPTER

    @dbus_property(access=PropertyAccess.READ)
    def Paired(self) -> "b":
        return False

    @dbus_property(access=PropertyAccess.READ)
    def Connected(self) -> "b":
        return False

    @dbus_property(access=PropertyAccess.READ)
    def RSSI(self) -> "n":
        return -60

    @dbus_property(access=PropertyAccess.READ)
    def UUIDs(self) -> "as":
        return []

    @dbus_property(access=PropertyAccess.READ)
    def ManufacturerData(self) -> "a{qv}":
        return {0x004C: Variant("ay", bytes(23))}

    def advert(self, number):
        """What bluetoothd sends for an advert whose data changed: the signal and the data."""
        changed = {"RSSI": Variant("n", -60 - number % 8),
                   "ManufacturerData": Variant("a{qv}", {0x004C: Variant("ay", number.to_bytes(4, "little") + bytes(19))})}
        return Message(message_type=MessageType.SIGNAL, path=self.path, interface="org.freedesktop.DBus.Properties",
                       member="PropertiesChanged", signature="sa{sv}as", body=["org.bluez.Device1", changed, []])


async def main(count):
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    adapter, devices = Adapter(), [Device(number) for number in range(4)]
    bus.export(ADAPTER, adapter)
    for device in devices:
        bus.export(device.path, device)
    await bus.request_name("org.bluez")
    print("ready", flush=True)
    await adapter.started.wait()
    await asyncio.sleep(0.2)
    for number in range(count):
        await bus.send(devices[number & 3].advert(number))
        if number % PAUSE_EVERY == PAUSE_EVERY - 1:
            # The bus holds what is not read yet.
            await asyncio.sleep(0.02)
    await bus.wait_for_disconnect()


asyncio.run(main(int(sys.argv[1])))
