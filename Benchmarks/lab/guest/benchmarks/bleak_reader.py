"""Reads a thermometer and a glucose meter with bleak on bluetoothd, as the gateway does: each as it appears, its
readings into SQLite, once what describes the device.

Run as a program: bleak_reader.py DATABASE passive|active|at-once ADDRESS=temperature|glucose…; prints a line of JSON for
each commit and for each link that has ended. With at-once it scans passively and reads all that it hears concurrently.
"""

import asyncio
import json
import sqlite3
import sys
import time

from bleak import BleakClient, BleakScanner
from bleak.args.bluez import BlueZScannerArgs, OrPattern
from bleak.assigned_numbers import AdvertisementDataType

TEMPERATURE, GLUCOSE, GLUCOSE_CONTEXT, GLUCOSE_FEATURE, CONTROL_POINT = "2A1C", "2A18", "2A34", "2A51", "2A52"
MANUFACTURER, MODEL, SERIAL, FIRMWARE, BATTERY = "2A29", "2A24", "2A25", "2A26", "2A19"
REPORT_ALL = b"\x01\x01"
# Greater than or equal to a sequence number, which follows.
REPORT_FROM = b"\x01\x03\x01"
LIMIT_S = 30


def uuid(short):
    return f"0000{short.lower()}-0000-1000-8000-00805f9b34fb"


class Reader:
    def __init__(self, database, kinds):
        self.database = sqlite3.connect(database)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = FULL")
        self.database.execute("CREATE TABLE IF NOT EXISTS record (address, received, hex)")
        self.database.commit()
        self.kinds = kinds
        self.found = asyncio.Queue()
        self.reading = None
        # The reads that are under way, by address; None where one follows the other.
        self.concurrent = None
        self.described = set()
        self.newest = {}

    def on_advert(self, device, _advertisement):
        if self.concurrent is not None:
            if device.address in self.kinds and device.address not in self.concurrent:
                self.concurrent[device.address] = asyncio.create_task(self.read_until_read(device))
        elif device.address in self.kinds and self.reading is None:
            self.reading = device.address
            self.found.put_nowait(device)

    async def run(self, scanning_mode):
        options = BlueZScannerArgs(filters={"DuplicateData": True})
        if scanning_mode == "at-once":
            scanning_mode, self.concurrent = "passive", {}
        if scanning_mode == "passive":
            # Complete list of services of 16 bits: thermometer, glucose.
            options = BlueZScannerArgs(or_patterns=[
                OrPattern(0, AdvertisementDataType.COMPLETE_LIST_SERVICE_UUID16, service)
                for service in (b"\x09\x18", b"\x08\x18")])
        scanner = BleakScanner(self.on_advert, scanning_mode=scanning_mode, bluez=options)
        await scanner.start()
        tell(what="scanning")
        while True:
            device = await self.found.get()
            if scanning_mode == "active":
                # The kernel makes no connection while it discovers.
                await scanner.stop()
            await self.try_to_read(device)
            if scanning_mode == "active":
                await scanner.start()
            self.reading = None

    async def read_until_read(self, device):
        # bluetoothd tells of no advert that is like the last one, so the next attempt does not wait for one.
        while not await self.try_to_read(device):
            pass
        self.concurrent.pop(device.address)

    async def try_to_read(self, device):
        try:
            await self.read(device)
        except Exception as error:  # The next advert is another chance, and the case's bound ends it.
            tell(what="failed", address=device.address, error=f"{type(error).__name__}: {error}")
            return False
        return True

    async def read(self, device):
        async with BleakClient(device) as client:
            connected = time.time()
            values = asyncio.Queue()
            await {"temperature": self.temperature, "glucose": self.glucose}[self.kinds[device.address]](client, values)
            committed = self.commit(device.address, values)
            if device.address not in self.described:
                for characteristic in (MANUFACTURER, MODEL, SERIAL, FIRMWARE, BATTERY):
                    await client.read_gatt_char(uuid(characteristic))
                self.described.add(device.address)
        tell(what="read", address=device.address, connected=connected, ended=time.time(), **committed)

    async def temperature(self, client, values):
        arrived = asyncio.Event()

        def on_value(_characteristic, value):
            values.put_nowait(value)
            arrived.set()

        await client.start_notify(uuid(TEMPERATURE), on_value)
        await asyncio.wait_for(arrived.wait(), LIMIT_S)

    async def glucose(self, client, values):
        finished = asyncio.Event()
        await client.start_notify(uuid(GLUCOSE), lambda _, value: values.put_nowait(value))
        await client.start_notify(uuid(GLUCOSE_CONTEXT), lambda _, value: values.put_nowait(value))
        await client.start_notify(uuid(CONTROL_POINT), lambda _, value: finished.set())
        newest = self.newest.get(client.address)
        request = REPORT_ALL if newest is None else REPORT_FROM + newest.to_bytes(2, "little")
        await client.write_gatt_char(uuid(CONTROL_POINT), request, response=True)
        await asyncio.wait_for(finished.wait(), LIMIT_S)

    def commit(self, address, values):
        rows = []
        while not values.empty():
            value = values.get_nowait()
            rows.append((address, time.time(), value.hex()))
            # Of a glucose measurement: its sequence number.
            self.newest[address] = int.from_bytes(value[1:3], "little")
        with self.database:
            self.database.executemany("INSERT INTO record VALUES (?, ?, ?)", rows)
        return {"committed": time.time(), "records": len(rows)}


def tell(**fields):
    print(json.dumps(fields), flush=True)


def main():
    database, scanning_mode, *kinds = sys.argv[1:]
    reader = Reader(database, dict(kind.split("=") for kind in kinds))
    asyncio.run(reader.run(scanning_mode))


main()
