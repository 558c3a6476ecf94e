"""The lab's air as a service: takes orders as JSON lines on a socket, logs every PDU.

An order is {"do": NAME, "peripheral": NAME, ...}; the answer is {"ok": true, ...} or {"ok": false, "error": TEXT}.
"""

import asyncio
import json
import logging
import os
import socket
import time

from emulation.adapter import ADAPTER_ADDRESSES, Adapter, Air
from emulation.broadcaster import Broadcaster, Neighbour
from emulation.indicator import Indicator
from emulation.intruders import Crowd, Flooder, Inventor
from emulation.recorder import Recorder
from emulation.streamer import Streamer

ORDERS_SOCKET = "/run/lab/peripherals.sock"
LOG_FILE = "/run/lab/air.jsonl"
FORMS = {"indicator": Indicator, "recorder": Recorder, "streamer": Streamer, "broadcaster": Broadcaster,
         "crowd": Crowd, "flooder": Flooder, "inventor": Inventor}
# What a peripheral can be told: the order's field with what it is told, and the method that takes it.
ORDERS = {
    "give": ("readings", "give"), "store": ("records", "store"), "broadcast": ("adverts", "broadcast"),
    "wake": ("wake", "wake"), "erase": ("erase", "erase"), "script": ("script", "set_script"),
    "linger": ("linger", "set_linger"), "hold": ("hold", "set_hold"), "fault": ("fault", "add_fault"),
    "pairing": ("pairing", "set_pairing_mode"), "forget": ("forget", "forget"),
}


class Lab:
    def __init__(self, log_file):
        self.log_file = log_file
        self.air = Air()
        self.adapters = {number: Adapter(self.air, number) for number in ADAPTER_ADDRESSES}
        self.peripherals = {}
        self.neighbour = Neighbour(self.air)

    def log(self, what, **fields):
        self.log_file.write(json.dumps({"time": round(time.time(), 6), "what": what, **fields}) + "\n")
        self.log_file.flush()

    async def obey(self, order):
        name = order.get("peripheral")
        match order["do"]:
            case "plug":
                await self.adapters[order["adapter"]].plug()
                return {"address": ADAPTER_ADDRESSES[order["adapter"]]}
            case "unplug":
                await self.adapters[order["adapter"]].unplug()
            case "adapter-state":
                return self.adapters[order["adapter"]].state()
            case "signal":
                self.adapters[order["adapter"]].set_signal(order["address"], order["dbm"])
            case "links":
                self.adapters[order["adapter"]].set_most_links(order["most"])
            case "deafness":
                self.adapters[order["adapter"]].set_deafness(order["seconds"])
            case "answer-delay":
                self.adapters[order["adapter"]].set_answer_delay(order["seconds"])
            case "play-dead":
                self.adapters[order["adapter"]].play_dead()
            case "neighbour":
                self.neighbour.set_present(order["present"])
            case "interval":
                self.air.connection_interval_s = order["seconds"]
            case "add":
                properties = dict(order["properties"])
                form = FORMS[properties.pop("form")]
                self.peripherals[name] = form(self.air, self.log, name, **properties)
                await self.peripherals[name].start()
            case "remove":
                await self.peripherals.pop(name).remove()
            case "report":
                return self.peripherals[name].report()
            case do if do in ORDERS:
                field, method = ORDERS[do]
                getattr(self.peripherals[name], method)(order[field])
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
        await lab.adapters[1].plug()
        await asyncio.start_unix_server(lab.serve, ORDERS_SOCKET, limit=1 << 20)
        tell_systemd_ready()
        await asyncio.get_running_loop().create_future()


logging.basicConfig(level=logging.WARNING)
asyncio.run(main())
