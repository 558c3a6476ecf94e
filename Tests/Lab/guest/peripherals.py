"""The lab's air as a service: takes orders as JSON lines on a socket, logs every PDU.

An order is {"do": NAME, "peripheral": NAME, ...}; the answer is {"ok": true, ...} or {"ok": false, "error": TEXT}.
"""

import asyncio
import json
import logging
import os
import socket
import time

from emulation.adapter import Adapter, Air
from emulation.peripheral import Peripheral

ORDERS_SOCKET = "/run/lab/peripherals.sock"
LOG_FILE = "/run/lab/air.jsonl"


class Lab:
    def __init__(self, log_file):
        self.log_file = log_file
        self.air = Air()
        self.adapter = Adapter(self.air)
        self.peripherals = {}

    def log(self, what, **fields):
        self.log_file.write(json.dumps({"time": round(time.time(), 6), "what": what, **fields}) + "\n")
        self.log_file.flush()

    async def obey(self, order):
        name = order.get("peripheral")
        match order["do"]:
            case "plug":
                await self.adapter.plug()
            case "unplug":
                await self.adapter.unplug()
            case "add":
                self.peripherals[name] = Peripheral(self.air, self.log, name, **order["properties"])
                await self.peripherals[name].start()
            case "remove":
                await self.peripherals.pop(name).remove()
            case "give":
                self.peripherals[name].give(order["readings"])
            case "linger":
                self.peripherals[name].set_linger(order["linger"])
            case "hold":
                self.peripherals[name].set_hold(order["hold"])
            case "fault":
                self.peripherals[name].add_fault(order["fault"])
            case "report":
                return self.peripherals[name].report()
            case unknown:
                raise ValueError(f"unknown order {unknown}")
        self.log("order", order=order)
        return {}

    async def serve(self, reader, writer):
        while line := await reader.readline():
            try:
                answer = {"ok": True, **await self.obey(json.loads(line))}
            except Exception as error:  # The test that gave the order fails with these words.
                logging.exception("order failed: %s", line)
                answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()


def tell_systemd_ready():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])


async def main():
    with open(LOG_FILE, "a", encoding="utf-8") as log_file:
        lab = Lab(log_file)
        await lab.adapter.plug()
        await asyncio.start_unix_server(lab.serve, ORDERS_SOCKET, limit=1 << 20)
        tell_systemd_ready()
        await asyncio.get_running_loop().create_future()


logging.basicConfig(level=logging.WARNING)
asyncio.run(main())
