"""A thermometer whose host is bluetoothd: bluez_server.py ADAPTER [encrypt]

An application of GattManager1 and an advertisement of LEAdvertisingManager1, on an adapter such as hci1. With
`encrypt` its readings are for encrypted links alone, and an agent agrees to pairing without asking anybody.

Orders come as JSON lines on standard input:
    {"give": HEX}      wakes up, and indicates this value to a client that subscribes
    {"grow": true}     adds a service before all others that it had, so that the thermometer's handles move
    {"show": true}     advertises without a value, and with false no more
What happens goes out in the same way: {"said": "ready"}, advertising, subscribed, unsubscribed, confirmed (with the
value), grown.
It advertises until its value is confirmed, with a pause now and then, as a device does that is switched off.
"""

import json
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

PROPERTIES, OBJECTS = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"
SERVICE, CHARACTERISTIC = "org.bluez.GattService1", "org.bluez.GattCharacteristic1"
ADVERTISEMENT, AGENT = "org.bluez.LEAdvertisement1", "org.bluez.Agent1"
THERMOMETER, MEASUREMENT = "1809", "2A1C"
# Of bluetoothd, which may be busy with the other host of the guest.
LIMIT_S = 60
# When a value is sent over a link whose client has subscribed on an earlier one: with a bond it stays subscribed, and
# bluetoothd says that it is back, and not when the link is encrypted.
LINK_AGE_S = 5
# The pause is longer than the gateway's quiet_period and cooldown, however busy that is.
AWAKE_S, ASLEEP_S = 40, 8


def say(said, **fields):
    print(json.dumps({"said": said, **fields}), flush=True)


class Described(dbus.service.Object):
    """An object with properties that do not change."""

    def __init__(self, bus, path, interface, properties):
        super().__init__(bus, path)
        self.path, self.interface, self.properties = dbus.ObjectPath(path), interface, properties

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, _interface):
        return self.properties

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


class Characteristic(Described):
    def __init__(self, bus, service, number, uuid, flags, value=b""):
        super().__init__(bus, f"{service.path}/char{number}", CHARACTERISTIC, {
            "UUID": uuid, "Service": service.path, "Flags": dbus.Array(flags, signature="s")})
        self.value = value
        self.notifying, self.was_sent = False, False

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="ay")
    def ReadValue(self, _options):
        return dbus.ByteArray(self.value)

    @dbus.service.method(CHARACTERISTIC)
    def StartNotify(self):
        self.notifying, self.was_sent = True, False
        say("subscribed")
        self.indicate()

    @dbus.service.method(CHARACTERISTIC)
    def StopNotify(self):
        self.notifying = False
        say("unsubscribed")

    @dbus.service.method(CHARACTERISTIC)
    def Confirm(self):
        value, self.value = self.value, b""
        say("confirmed", value=value.hex())
        self.confirmed()

    def confirmed(self):
        """Called with each confirmation."""

    def linked(self):
        self.was_sent = False
        GLib.timeout_add_seconds(LINK_AGE_S, self.indicate)

    def indicate(self):
        """Sends the value to who has subscribed, once on a link."""
        if self.notifying and self.value and not self.was_sent:
            self.was_sent = True
            self.PropertiesChanged(CHARACTERISTIC, {"Value": dbus.Array(self.value, signature="y")}, [])
        return False


class Application(dbus.service.Object):
    """Services that bluetoothd takes together."""

    def __init__(self, bus, path, services):
        super().__init__(bus, path)
        self.bus, self.path, self.objects = bus, path, []
        for number, (uuid, characteristics) in enumerate(services.items()):
            service = Described(bus, f"{path}/service{number}", SERVICE, {"UUID": uuid, "Primary": True})
            self.objects.append(service)
            for index, (characteristic, (flags, value)) in enumerate(characteristics.items()):
                self.objects.append(Characteristic(bus, service, index, characteristic, flags, value))

    @dbus.service.method(OBJECTS, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return {item.path: {item.interface: item.properties} for item in self.objects}

    def characteristic(self, uuid):
        return next(item for item in self.objects if item.properties["UUID"] == uuid)


class Agreeing(dbus.service.Object):
    """An agent that can show and ask nothing, and agrees."""

    @dbus.service.method(AGENT, in_signature="o")
    def RequestAuthorization(self, _device):
        pass

    @dbus.service.method(AGENT)
    def Release(self):
        pass

    @dbus.service.method(AGENT)
    def Cancel(self):
        pass


class Host:
    def __init__(self, bus, adapter, encrypt):
        self.bus, self.adapter = bus, adapter
        proxy = bus.get_object("org.bluez", f"/org/bluez/{adapter}")
        self.gatt = dbus.Interface(proxy, "org.bluez.GattManager1")
        self.advertising = dbus.Interface(proxy, "org.bluez.LEAdvertisingManager1")
        self.advertisement = Described(bus, "/lab/advertisement", ADVERTISEMENT, {
            "Type": "peripheral", "ServiceUUIDs": dbus.Array([THERMOMETER], signature="s"), "LocalName": "lab",
            "Discoverable": True})
        self.turn, self.is_advertising = None, False
        flag = "encrypt-indicate" if encrypt else "indicate"
        self.thermometer = Application(bus, "/lab/thermometer", {
            THERMOMETER: {MEASUREMENT: ([flag], b"")},
            "180F": {"2A19": (["read"], bytes([64]))},
        })
        # Comes and goes with the order `grow`: what is registered again afterwards has other handles.
        self.other = Application(bus, "/lab/other", {"1805": {"2A2B": (["read"], bytes(10))}})
        self.measurement = self.thermometer.characteristic(MEASUREMENT)
        self.measurement.confirmed = self.stop_advertising
        bus.add_signal_receiver(
            self.on_changed, "PropertiesChanged", PROPERTIES, arg0="org.bluez.Device1", path_keyword="path")
        if encrypt:
            Agreeing(bus, "/lab/agent")
            agents = dbus.Interface(bus.get_object("org.bluez", "/org/bluez"), "org.bluez.AgentManager1")
            agents.RegisterAgent("/lab/agent", "NoInputNoOutput")
            agents.RequestDefaultAgent("/lab/agent")
        self.register(self.thermometer, lambda: say("ready"))

    def on_changed(self, _interface, changed, _invalidated, path):
        if path.startswith(f"/org/bluez/{self.adapter}/") and changed.get("Connected"):
            self.measurement.linked()

    def register(self, application, done):
        """bluetoothd asks for the objects before it answers, so that waiting for it here would end in nothing."""
        self.gatt.RegisterApplication(
            application.path, {}, reply_handler=done, error_handler=fail, timeout=LIMIT_S)

    def obey(self, order):
        if "give" in order:
            self.measurement.value = bytes.fromhex(order["give"])
            if self.turn is None:
                self.advertise()
        elif "show" in order:
            if not order["show"]:
                self.stop_advertising()
            elif not self.is_advertising:
                self.rest()
                self.advertise()
        elif "grow" in order:
            self.gatt.UnregisterApplication(self.thermometer.path)
            self.register(self.other, lambda: self.register(self.thermometer, lambda: say("grown")))

    def advertise(self):
        say("advertising")
        self.is_advertising = True
        self.advertising.RegisterAdvertisement(
            self.advertisement.path, {}, reply_handler=lambda: None, error_handler=fail, timeout=LIMIT_S)
        self.turn = GLib.timeout_add_seconds(AWAKE_S, self.stop_advertising)

    def rest(self):
        """Ends the pause or the turn that it is in."""
        if self.turn is not None:
            GLib.source_remove(self.turn)
        self.turn = None

    def stop_advertising(self):
        self.rest()
        # A value that is given while the link is up goes over it, without an advert.
        if self.is_advertising:
            self.is_advertising = False
            self.advertising.UnregisterAdvertisement(self.advertisement.path)
        self.turn = GLib.timeout_add_seconds(ASLEEP_S, self.wake)

    def wake(self):
        self.turn = None
        if self.measurement.value:
            self.advertise()
        return False


def fail(error):
    say("failed", error=str(error))


def main(adapter, *options):
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    host = Host(dbus.SystemBus(), adapter, "encrypt" in options)

    def on_input(source, _condition):
        data = os.read(source, 65536)
        if not data:
            loop.quit()
            return False
        *lines, partial[0] = (partial[0] + data).split(b"\n")
        for line in lines:
            host.obey(json.loads(line))
        return True

    # Of a line whose end has not come yet.
    partial = [b""]
    loop = GLib.MainLoop()
    GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, on_input)
    loop.run()


main(*sys.argv[1:])
