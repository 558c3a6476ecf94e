"""The simulated peripherals: a process of their own, which outlives the gateway, and its ledger."""

import json
import os
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

SIMULATOR = os.environ["SIMULATOR"]

# What BusyPeripherals.swift has, and the model in the catalogue.
MODELS = {
    "C0:00:00:00:00:11": 1002,
    "C0:00:00:00:00:12": 1002,
    "C0:00:00:00:00:13": 1001,
    "C0:00:00:00:00:14": 1004,
    "C0:00:00:00:00:15": 1000,
    "C0:00:00:00:00:16": 1007,
}

# What they send: indications, of which 2A9C are values in one packet or two, and stored records.
CHARACTERISTICS = ["2A1C", "2A35", "2A9D", "2A9C", "2A18", "2AA7"]


class Peripherals:
    def __init__(self, directory: Path, seed):
        self.socket = directory / "peripherals.sock"
        self.ledger = []
        self.offered = threading.Condition()
        self.offers = Counter()
        # Those with a link.
        self.linked = set()
        self.file = (directory / "ledger").open("w")
        self.process = subprocess.Popen([SIMULATOR, str(self.socket), str(seed)], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        deadline = time.monotonic() + 20
        while not self.socket.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the simulated peripherals do not start")
            time.sleep(0.02)

    def read(self):
        for line in self.process.stdout:
            self.file.write(line)
            entry = json.loads(line)
            self.ledger.append(entry)
            if entry["event"] == "linked":
                self.linked.add(entry["address"])
            elif entry["event"] == "link-ended":
                self.linked.discard(entry["address"])
            elif entry["event"] == "offered":
                with self.offered:
                    self.offers[entry["characteristic"]] += 1
                    self.offered.notify_all()

    def wait_for_offer(self, characteristic, seconds):
        """Waits until a value of this characteristic is sent to the gateway."""
        with self.offered:
            before = self.offers[characteristic]
            self.offered.wait_for(lambda: self.offers[characteristic] > before, timeout=seconds)

    def rest(self):
        """Nothing is measured any more; what was measured is still given."""
        self.process.stdin.write("rest\n")

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(timeout=10)
        self.file.close()
