"""crowd DIRECTORY PORT: a process with many connections, each with a client certificate of its own, that publish like
gateways: a message is kept until PUBACK 0, and sent again on the next connection.

A line of JSON on standard input is an order: {"connect": N}, {"rate": MESSAGES_A_SECOND}, {"burst": CLIENTS},
{"jitter_s": SECONDS}, or {}. The state is the answer. The files `offered` and `acknowledged` have the ids.
"""

import asyncio
import json
import random
import ssl
import sys
import uuid
from collections import Counter
from pathlib import Path

from . import packets

KEEP_ALIVE_S = 60
# As many as a gateway has on their way (docs/destinations/mqtt.md).
WINDOW = 20
# How many make their first connection at the same time.
FIRSTS = 16
# How long an answer may take.
ANSWER_S = 60
# The size of a record, docs/fleet.md.
RECORD_BYTES = 818


class Refused(Exception):
    """CONNACK or PUBACK with a reason."""


class Client:
    def __init__(self, crowd, number):
        self.crowd, self.name = crowd, f"crowd-{number}"
        # By id: what is not acknowledged; by packet identifier: the ids on their way.
        self.waiting, self.under_way = {}, {}
        self.last_name = 0
        self.wake = asyncio.Event()
        self.is_connected = False
        self.context = None

    def add(self):
        made = str(uuid.uuid4())
        body = {"id": made, "kind": "synthetic", "gateway": self.name, "padding": ""}
        body["padding"] = "x" * (RECORD_BYTES - len(json.dumps(body)))
        self.waiting[made] = json.dumps(body).encode()
        self.crowd.offered.write(f"{made}\n")
        self.wake.set()

    async def live(self):
        # Its first connection comes after those of others, so that handshakes end in time on a busy machine.
        await self.crowd.firsts.acquire()
        is_first = True
        failures = 0
        while True:
            self.crowd.counts["attempts"] += 1
            try:
                async with asyncio.timeout(ANSWER_S):
                    reader, writer = await self.connect()
            except (OSError, EOFError, Refused, ssl.SSLError) as error:
                self.crowd.counts["failures"] += 1
                self.crowd.reasons[f"{type(error).__name__} {error}"[:80]] += 1
                failures += 1
            else:
                failures = 0
                if is_first:
                    is_first = False
                    self.crowd.firsts.release()
                await self.talk(reader, writer)
                self.crowd.counts["lost"] += 1
            # Full jitter, as a gateway's.
            longest = min(self.crowd.jitter_s, 2.0 ** failures)
            await asyncio.sleep(random.uniform(0, longest))

    async def connect(self):
        if self.context is None:
            tls = self.crowd.directory / "tls"
            self.context = ssl.create_default_context(cafile=tls / "authority.pem")
            self.context.load_cert_chain(tls / f"{self.name}.crt", tls / f"{self.name}.key")
        reader, writer = await asyncio.open_connection("127.0.0.1", self.crowd.port, ssl=self.context,
                                                       server_hostname="localhost")
        try:
            writer.write(packets.connect(self.name, KEEP_ALIVE_S))
            kind, body = await packets.read(reader)
            if kind != packets.CONNACK or body[1] != 0:
                raise Refused(f"CONNACK {body[1]:#04x}")
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer

    async def talk(self, reader, writer):
        """Until the connection breaks."""
        self.is_connected = True
        self.under_way.clear()
        tasks = [asyncio.ensure_future(self.send(writer)), asyncio.ensure_future(self.receive(reader))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.is_connected = False
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            writer.transport.abort()

    async def send(self, writer):
        while True:
            under_way = set(self.under_way.values())
            for made, payload in list(self.waiting.items()):
                if len(self.under_way) >= WINDOW:
                    break
                if made in under_way:
                    continue
                self.last_name = self.last_name % 65535 + 1
                self.under_way[self.last_name] = made
                writer.write(packets.publish(f"ingestd/{self.name}/synthetic", self.last_name, payload))
            await writer.drain()
            self.wake.clear()
            try:
                await asyncio.wait_for(self.wake.wait(), ANSWER_S if self.under_way else KEEP_ALIVE_S * 0.8)
            except TimeoutError:
                if self.under_way:
                    self.crowd.counts["unanswered"] += 1
                    return
                writer.write(packets.packet(packets.PINGREQ, b""))

    async def receive(self, reader):
        while True:
            kind, body = await packets.read(reader)
            if kind != packets.PUBACK:
                continue
            made = self.under_way.pop(int.from_bytes(body[:2], "big"), None)
            reason = body[2] if len(body) > 2 else 0
            if reason != 0:
                self.crowd.reasons[f"PUBACK {reason:#04x}"] += 1
                await asyncio.sleep(1)
            elif made in self.waiting:
                del self.waiting[made]
                self.crowd.counts["acknowledged"] += 1
                self.crowd.acknowledged.write(f"{made}\n")
                if self.crowd.is_bursting:
                    self.add()
            self.wake.set()


class Crowd:
    def __init__(self, directory, port):
        self.directory, self.port = directory, port
        self.offered, self.acknowledged = (directory / "offered").open("a"), (directory / "acknowledged").open("a")
        self.clients, self.tasks = [], []
        self.counts, self.reasons = Counter(), Counter()
        self.firsts = asyncio.Semaphore(FIRSTS)
        self.rate, self.is_bursting, self.jitter_s = 0, False, 30

    async def measure(self):
        """New messages, as many a second as wanted, of clients by chance."""
        loop = asyncio.get_running_loop()
        due, before = 0.0, loop.time()
        while True:
            await asyncio.sleep(0.05)
            now = loop.time()
            due, before = due + self.rate * (now - before), now
            while due >= 1:
                random.choice(self.clients).add()
                due -= 1

    def obey(self, order):
        for _ in range(order.get("connect", 0) - len(self.clients)):
            self.clients.append(Client(self, len(self.clients) + 1))
            self.tasks.append(asyncio.ensure_future(self.clients[-1].live()))
        self.rate = order.get("rate", self.rate)
        self.jitter_s = order.get("jitter_s", self.jitter_s)
        if "burst" in order:
            self.is_bursting = order["burst"] > 0
            for client in self.clients[:order["burst"]]:
                for _ in range(WINDOW):
                    client.add()
        if not order:
            self.offered.flush()
            self.acknowledged.flush()
        return {"connected": sum(client.is_connected for client in self.clients),
                "waiting": sum(len(client.waiting) for client in self.clients),
                **{name: self.counts[name] for name in ("attempts", "failures", "lost", "acknowledged", "unanswered")},
                "reasons": dict(self.reasons)}

    async def serve(self):
        measuring = asyncio.ensure_future(self.measure())
        orders = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        while line := await orders.readline():
            print(json.dumps(self.obey(json.loads(line))), flush=True)
        measuring.cancel()
        for task in self.tasks:
            task.cancel()


if __name__ == "__main__":
    asyncio.run(Crowd(Path(sys.argv[1]), int(sys.argv[2])).serve())
