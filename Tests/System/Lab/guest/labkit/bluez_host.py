"""A radio and a peripheral that this project did not write: BlueZ's controller emulator btvirt in the place of the lab's,
and bluetoothd as the peripheral's host.

btvirt makes two controllers that hear each other: one is the gateway's, the other the peripheral's. One bluetoothd has
both, as it would have two adapters of a box.
"""

import json
import os
import shutil
import subprocess
import threading
from dataclasses import dataclass

from .commands import run
from .pairing import PROGRAM
from .waiting import Failure, expect, wait_until

# Options of btvirt: a controller of Bluetooth 4 for LE alone, which advertises in the legacy way, and one of Bluetooth
# 5.2 with extended advertising.
LEGACY, EXTENDED = ("-L",), ()
EXAMPLES = "/usr/share/doc/bluez-test-scripts/examples"
# Of bluetoothd, by the address of the adapter.
STORAGE = "/var/lib/bluetooth"
READY_LIMIT_S = 90


@dataclass(frozen=True, eq=False)
class Listed:
    """A peripheral behind an adapter, as a configuration lists it."""
    name: str
    address: str
    kind: object


class Btvirt:
    """Two controllers in the place of the lab's adapter, until it is closed."""

    def __init__(self, lab, options):
        lab.air.unplug()
        wait_until("no adapter", READY_LIMIT_S, lambda: not adapters())
        self.process = subprocess.Popen(["btvirt", "-l2", *options], stdout=subprocess.DEVNULL)
        wait_until("btvirt has two controllers", READY_LIMIT_S, lambda: len(adapters()) == 2)
        wait_until("bluetoothd has both", READY_LIMIT_S, lambda: all(map(is_powered, adapters())))
        self.addresses = [address_of(adapter) for adapter in adapters()]

    def close(self):
        # Of a case that failed: the next peripheral has the same address, and no such bond.
        for address in self.addresses:
            run(PROGRAM, "unpair", address, check=False, limit=READY_LIMIT_S)
        self.process.terminate()
        self.process.wait()
        wait_until("its controllers are gone", READY_LIMIT_S, lambda: not adapters())
        # The next btvirt has controllers with the same addresses: they find no bonds and no handles of these.
        for address in self.addresses:
            shutil.rmtree(f"{STORAGE}/{address}", ignore_errors=True)


class Example:
    """A program of BlueZ's examples, on the adapter that it finds first."""

    def __init__(self, name):
        self.process = subprocess.Popen(
            ["python3", "-u", f"{EXAMPLES}/{name}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.terminate()
        self.process.wait()


class Thermometer:
    """bluez_server.py on one of the adapters."""

    def __init__(self, adapter, *options):
        self.lines = []
        self.process = subprocess.Popen(
            ["python3", "-u", "/lab/guest/bluez_server.py", adapter, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.follow, daemon=True).start()
        self.wait("ready")

    def follow(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def order(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def said(self, what):
        return [line for line in self.lines if line["said"] == what]

    def wait(self, what, count=1, seconds=READY_LIMIT_S):
        """Waits until it has said this so often, and returns what it said."""
        def found():
            failures = self.said("failed")
            expect(not failures, f"bluetoothd refused an order: {failures}")
            return len(self.said(what)) >= count and self.said(what)
        try:
            return wait_until("there", seconds, found)
        except Failure as failure:
            said = " ".join(line["said"] for line in self.lines) or "nothing"
            raise Failure(f"{failure}: {count} × {what}; the thermometer said: {said}") from None

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(READY_LIMIT_S)
        except subprocess.TimeoutExpired:
            # What made it hang has been told, or will be.
            self.process.kill()
            self.process.wait()


def adapters():
    return sorted(name for name in os.listdir("/sys/class/bluetooth") if ":" not in name)


def is_powered(adapter):
    return adapter_property(adapter, "Powered") == "b true"


def address_of(adapter):
    return adapter_property(adapter, "Address").split('"')[1]


def adapter_with(uuid):
    """The adapter on which bluetoothd offers this service."""
    return next((adapter for adapter in adapters() if uuid.lower() in adapter_property(adapter, "UUIDs")), None)


def adapter_property(adapter, name):
    return run("busctl", "get-property", "org.bluez", f"/org/bluez/{adapter}", "org.bluez.Adapter1", name, check=False)


def visit(adapter, address):
    """bluetoothd itself connects by this adapter to a device that advertises, finds its services, and leaves it."""
    device = ("org.bluez", f"/org/bluez/{adapter}/dev_{address.replace(':', '_')}")

    def has(name, value):
        return run("busctl", "get-property", *device, "org.bluez.Device1", name, check=False) == f"b {value}"
    run("busctl", "call", "--timeout=60", *device, "org.bluez.Device1", "Connect", limit=READY_LIMIT_S)
    wait_until("bluetoothd has found the services", READY_LIMIT_S, lambda: has("ServicesResolved", "true"))
    run("busctl", "call", *device, "org.bluez.Device1", "Disconnect", limit=READY_LIMIT_S)
    wait_until("bluetoothd has left", READY_LIMIT_S, lambda: has("Connected", "false"))


def listed(adapter, name, kind):
    return Listed(name, address_of(adapter), kind)


def other(adapter):
    return next(name for name in adapters() if name != adapter)
