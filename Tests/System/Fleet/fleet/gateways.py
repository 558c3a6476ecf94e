"""Gateways under test, each with simulated peripherals of its own, which measure for as long as they are told to."""

import json
import os
import signal
import sqlite3
import subprocess
from pathlib import Path

from reliability.peripherals import MODELS, Peripherals

INGESTD = os.environ["INGESTD"]


class FleetGateway:
    def __init__(self, directory: Path, number, count):
        """Of the six peripherals it reads as many as come to one of `count` gateways, or one."""
        self.name = f"gateway-{number}"
        share = max(1, len(MODELS) // count)
        addresses = list(MODELS)
        self.addresses = {addresses[(number * share + offset) % len(addresses)] for offset in range(share)}
        self.directory = directory / self.name
        self.directory.mkdir()
        self.state = self.directory / "state"
        tls = directory / "tls"
        destination = {
            "name": "fleet", "type": "mqtt", "url": "mqtts://localhost:8883", "ca_file": str(tls / "authority.pem"),
            "client_certificate": str(tls / f"{self.name}.crt"), "client_key": str(tls / f"{self.name}.key"),
            "status_topic": "status/{gateway}", "batch": {"max_records": 20, "max_wait": "0s"}}
        self.file = self.directory / "ingestd.yaml"
        # JSON is YAML.
        self.file.write_text(json.dumps({
            "gateway": {"id": self.name, "trust_clock": True},
            "passive": {"quiet_period": "100ms", "cooldown": "0s"},
            "peripherals": [{"id": MODELS[address], "address": address} for address in sorted(self.addresses)],
            "destinations": [destination]}, indent=1))
        # Seeds of their own: other readings at other times.
        self.peripherals = Peripherals(self.directory, number)
        self.output = self.directory / "events"
        with self.output.open("ab") as events, (self.directory / "errors").open("ab") as errors:
            self.process = subprocess.Popen(
                [INGESTD + "-simulated", "run", "--config", str(self.file), "--radio", "simulated", "--peripherals",
                 str(self.peripherals.socket), "--events", "stdout"],
                stdin=subprocess.DEVNULL, stdout=events, stderr=errors,
                env={**os.environ, "STATE_DIRECTORY": str(self.state)})

    def events(self):
        """What it has told. The last line may be under way."""
        return [json.loads(line) for line in self.output.read_bytes().split(b"\n")[:-1]]

    def told(self, name):
        return sum(event["INGEST_EVENT"] == name for event in self.events())

    def readings(self):
        """The ids of its queue, by address, characteristic and bytes. Those that were submitted are still there."""
        database = sqlite3.connect(f"file:{self.state}/queue.db?mode=ro", uri=True, timeout=10)
        try:
            records = [json.loads(body) for (body,) in database.execute("SELECT body FROM record")]
        finally:
            database.close()
        found = {}
        for record in records:
            key = record["device"]["address"], record["raw"]["characteristic"], record["raw"]["hex"]
            found.setdefault(key, set()).add(record["id"])
        return found

    def ledger(self, event):
        """What its peripherals wrote down."""
        return [entry for entry in list(self.peripherals.ledger)
                if entry["event"] == event and entry["address"] in self.addresses]

    def confirmed(self):
        """The readings of which the peripherals heard that they are safe."""
        confirmed = {(entry["address"], entry["characteristic"], entry["hex"]) for entry in self.ledger("confirmed")}
        return {(*place, "".join(entry["packets"]))
                for entry in self.ledger("made") for place in [(entry["address"], entry["characteristic"])]
                if all((*place, packet) in confirmed for packet in entry["packets"])}

    def has_more(self):
        """Whether something that was made is not submitted yet."""
        return not len(self.ledger("made")) <= self.told("read") <= self.told("submitted")

    def reload(self):
        """Which tries again at once."""
        self.process.send_signal(signal.SIGHUP)
