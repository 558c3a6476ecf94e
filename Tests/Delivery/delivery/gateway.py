"""The gateway under test, on its built-in peripherals, with its events."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

INGESTD = os.environ["INGESTD"]


class Failure(AssertionError):
    """A case's expectation that did not hold."""


def configuration(destinations):
    """A file with one thermometer, which gives three readings, and these destinations. JSON is YAML."""
    entries = [{"name": name, "type": "webhook", "batch": {"max_wait": "0s"}, **keys}
               for name, keys in destinations.items()]
    return json.dumps({
        "gateway": {"id": "delivery-box", "trust_clock": True},
        "passive": {"quiet_period": "1s", "cooldown": "500ms"},
        "peripherals": [{"id": 1002, "address": "C0:00:00:00:00:01"}],
        "destinations": entries,
    }, indent=1)


class Gateway:
    def __init__(self, directory: Path, name, destinations, prefix=()):
        self.output = directory / f"{name}.output"
        self.file = directory / f"{name}.yaml"
        self.file.write_text(configuration(destinations))
        self.events = []
        self.errors = (directory / f"{name}.errors").open("wb")
        environment = {**os.environ, "STATE_DIRECTORY": str(directory / f"{name}.state")}
        self.process = subprocess.Popen(
            [*prefix, INGESTD, "run", "--config", str(self.file), "--radio", "simulated", "--events", "stdout"],
            stdout=subprocess.PIPE, stderr=self.errors, stdin=subprocess.DEVNULL, text=True, env=environment)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        with self.output.open("w") as copy:
            for line in self.process.stdout:
                copy.write(line)
                copy.flush()
                self.events.append(json.loads(line))

    def of(self, destination, name):
        return [event for event in list(self.events)
                if event.get("INGEST_DESTINATION") == destination and event["INGEST_EVENT"] == name]

    def wait(self, destination, name, seconds=30, count=1, error=""):
        """The events of this name, once there are enough whose error has this text."""
        deadline = time.monotonic() + seconds
        while True:
            found = [event for event in self.of(destination, name) if error in event.get("INGEST_ERROR", "")]
            if len(found) >= count:
                return found
            if time.monotonic() > deadline or self.process.poll() is not None:
                told = [(event["INGEST_EVENT"], event.get("INGEST_ERROR")) for event in list(self.events)
                        if event.get("INGEST_DESTINATION") == destination]
                raise Failure(f"expected {count} {name} {error!r} within {seconds} s, found {told}")
            time.sleep(0.05)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(timeout=20)
        finally:
            self.process.kill()
        self.reader.join(timeout=5)
        self.errors.close()
        return status


def check(file: Path, environment=None):
    """What `ingestd check` says: its exit status, and its lines without the file's name."""
    result = subprocess.run([INGESTD, "check", "--config", str(file)], capture_output=True, text=True,
                            env={**os.environ, **(environment or {})}, timeout=60)
    return result.returncode, [line.removeprefix(f"{file}:") for line in result.stderr.splitlines()]
