"""The whole of it: three nodes, the balancer, the reader, the gateways and the crowd."""

import contextlib
import os
import threading
import time
from dataclasses import dataclass, fields
from pathlib import Path

from kit.gateway import Failure, wait_until

from .certificates import Authority
from .clients import CrowdProcess, ReaderProcess
from .cluster import Cluster
from .gateways import FleetGateway

PORT = 8883


@dataclass
class Numbers:
    gateways: int
    connections: int
    acknowledged: int

    def __post_init__(self):
        for field in fields(self):
            setattr(self, field.name, int(os.environ.get(field.name.upper()) or getattr(self, field.name)))


def say(words):
    print(f"# {words}", flush=True)


class Watch:
    """How many rows came, and for how long none."""

    def __init__(self, reader):
        self.reader, self.rows, self.gap = reader, 0, 0.0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        first = last = self.reader.rows()
        since = time.monotonic()
        while not self.is_over.wait(0.5):
            now = self.reader.rows()
            if now > last:
                since, last = time.monotonic(), now
            self.gap = max(self.gap, time.monotonic() - since)
            self.rows = now - first


class Fleet:
    def __init__(self, directory: Path, numbers):
        self.directory, self.numbers = directory, numbers
        self.gateways, self.crowd = [], None
        # New messages of the crowd a second.
        self.rate = 20
        authority = Authority(directory / "tls")
        names = [f"gateway-{number}" for number in range(1, numbers.gateways + 1)]
        names += [f"crowd-{number}" for number in range(1, numbers.connections + 1)]
        for name in [*names, "reader"]:
            authority.sign(name)
        self.cluster = Cluster(directory, authority, names, ["reader"])
        say(f"{len(names) + 1} users in {self.cluster.begin():.0f} s")
        self.reader = ReaderProcess(directory, PORT)
        self.crowd = CrowdProcess(directory, PORT)

    def settle(self):
        """What a cluster has on its disks after half a minute, when the kernel has written what it was given. A node
        whose power is cut in its first seconds does not start again: RabbitMQ does not sync each file that it makes."""
        for node in self.cluster.nodes:
            node.disk.sync()

    def begin_gateways(self):
        for number in range(1, self.numbers.gateways + 1):
            self.gateways.append(FleetGateway(self.directory, number, self.numbers.gateways))

    def memory(self):
        """Of each node, in KiB."""
        return [node.memory() for node in self.cluster.nodes if node.process]

    def rows_grow(self, seconds=60):
        """Records go through: the store has more rows than a moment ago."""
        before = self.reader.rows()
        wait_until(lambda: self.reader.rows() > before, "new rows in the store", seconds)

    def all_connected(self, seconds=300):
        wait_until(lambda: self.crowd.state()["connected"] == self.numbers.connections, "all connections are back",
                   seconds)

    @contextlib.contextmanager
    def watching(self):
        watch = Watch(self.reader)
        watch.thread.start()
        try:
            yield watch
        finally:
            watch.is_over.set()
            watch.thread.join()

    def rest(self, seconds=600):
        """Nothing new is made, and all that was made is delivered."""
        self.crowd.order(rate=0, burst=0)
        for gateway in self.gateways:
            gateway.peripherals.rest()
        # What is measured at this moment may be in the ledger a moment later.
        time.sleep(1)
        deadline = time.monotonic() + seconds
        reloaded = 0.0
        while True:
            state = self.crowd.state()
            waiting = [gateway.name for gateway in self.gateways if gateway.has_more()]
            if not waiting and state["waiting"] == 0:
                break
            if time.monotonic() > deadline:
                raise Failure(f"not delivered after {seconds} s: {state['waiting']} of the crowd, {waiting}")
            if time.monotonic() - reloaded > 30:
                reloaded = time.monotonic()
                for gateway in self.gateways:
                    gateway.reload()
            time.sleep(1)
