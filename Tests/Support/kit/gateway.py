"""The gateway under test, on its built-in peripherals, with its events."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from .tags import tag

INGESTD = os.environ["INGESTD"]


class Failure(AssertionError):
    """A case's expectation that did not hold."""


def expect_equal(found, expected, what):
    if found != expected:
        raise Failure(f"{what}: {found!r} instead of {expected!r}")


def wait_until(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"not within {seconds} s: {what}")
        time.sleep(0.05)


THERMOMETER = {"id": 1002, "address": "C0:00:00:00:00:01"}
# What no event and no log may hold of its readings.
VALUES = (b'"measurements"', b"36.6")
# A device that is not there.
NOBODY = {"id": 1002, "address": "C0:00:00:00:00:99"}


def configuration(destinations, peripherals=(THERMOMETER,), **sections):
    """A file with a thermometer, which gives three readings, these destinations, and further sections. JSON is YAML."""
    entries = [{"name": name, "type": "webhook", "batch": {"max_wait": "0s"}, **keys}
               for name, keys in destinations.items()]
    return json.dumps({
        "gateway": {"id": "delivery-box", "trust_clock": True},
        "passive": {"quiet_period": "1s", "cooldown": "500ms"},
        "peripherals": list(peripherals),
        "destinations": entries,
        **sections,
    }, indent=1)


class Gateway:
    def __init__(self, directory: Path, name, destinations, prefix=(), peripherals=(THERMOMETER,), **sections):
        self.output = directory / f"{name}.output"
        self.file = directory / f"{name}.yaml"
        self.destinations = destinations
        self.file.write_text(configuration(destinations, peripherals, **sections))
        self.events = []
        self.errors = (directory / f"{name}.errors").open("ab")
        self.state = directory / f"{name}.state"
        environment = {**os.environ, "STATE_DIRECTORY": str(self.state)}
        self.process = subprocess.Popen(
            [*prefix, INGESTD + "-simulated", "run", "--config", str(self.file), "--radio", "simulated",
             "--events", "stdout"],
            stdout=subprocess.PIPE, stderr=self.errors, stdin=subprocess.DEVNULL, text=True, env=environment)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        with self.output.open("a") as copy:
            for line in self.process.stdout:
                copy.write(line)
                copy.flush()
                self.events.append({**json.loads(line), "at": time.monotonic()})

    def of(self, destination, name):
        """The events of this name so far, of this destination or of none."""
        return [event for event in list(self.events)
                if event.get("INGEST_DESTINATION") == destination and event["INGEST_EVENT"] == name]

    def tags(self, ids):
        """By which the events name these records."""
        return [tag(record_id, self.state) for record_id in ids]

    def wait(self, destination, name, seconds=120, count=1, error=""):
        """The events of this name, once there are enough whose error has this text."""
        deadline = time.monotonic() + seconds
        while True:
            found = [event for event in self.of(destination, name) if error in event.get("INGEST_ERROR", "")]
            if len(found) >= count:
                return found
            if time.monotonic() > deadline or self.process.poll() is not None:
                told = [(event["INGEST_EVENT"], event.get("INGEST_ERROR")) for event in list(self.events)
                        if event.get("INGEST_DESTINATION") == destination]
                raise Failure(f"expected {count} {name} {error!r} within {seconds} s, found {told[-10:]}")
            time.sleep(0.05)

    def until(self, condition, what, seconds=120):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise Failure(f"not within {seconds} s: {what}")
            time.sleep(0.05)

    def also_reads(self, peripheral):
        """Allows one more, under way."""
        self.file.write_text(configuration(self.destinations, (THERMOMETER, peripheral)))
        self.reload()

    def peak_memory(self):
        """The most that it has held so far, in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def kill(self):
        """Ends it as a power cut would."""
        self.process.kill()
        return self.stop()

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
    """What `ingestd check` says: its exit status, and its findings without the file's name."""
    result = subprocess.run([INGESTD, "check", "--config", str(file)], capture_output=True, text=True,
                            env={**os.environ, **(environment or {})}, timeout=60)
    lines = [line.removeprefix(f"{file}:") for line in result.stderr.splitlines()]
    # The last line of one that fails has the sums.
    return result.returncode, lines if result.returncode == 0 else lines[:-1]


def expect_untold(directory: Path, secrets):
    """No secret is in what the gateways of this directory wrote or in their queues, and no measured value in what they
    wrote."""
    outputs = [*directory.glob("*.output"), *directory.glob("*.errors")]
    written = b"".join(path.read_bytes() for path in outputs)
    queues = b"".join(path.read_bytes() for path in directory.glob("*.state/queue.db*"))
    if len(written) < 1000 or not queues:
        raise Failure(f"only {len(written)} characters of output")
    for secret in secrets:
        if secret.encode() in written + queues:
            raise Failure(f"{secret[:8]}… was written")
    for value in VALUES:
        if value in written:
            raise Failure(f"{value} was told")
