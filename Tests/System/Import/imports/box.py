"""A box with its configuration, and the program that is run on it."""

import json
import os
import socket
import sqlite3
import subprocess
import time
from dataclasses import dataclass

from kit.gateway import INGESTD, Failure, wait_until


def expect(expected, found, what):
    if expected != found:
        raise Failure(f"{what}: expected {expected!r}, got {found!r}")


@dataclass
class Outcome:
    status: int
    out: str
    err: str
    # The most that it had in memory, in MiB, and how long it took, in seconds.
    memory: float
    seconds: float

    @property
    def result(self):
        return json.loads(self.out)


class Box:
    def __init__(self, directory, destinations="[]", size="1GiB"):
        self.directory = directory
        self.state = directory / "state"
        self.state.mkdir(mode=0o700)
        self.configuration = directory / "ingestd.yaml"
        self.configuration.write_text(
            f"gateway: {{id: import-box, trust_clock: true, state_directory: {self.state}}}\n"
            f"queue: {{max_size: {size}}}\nperipherals: []\ndestinations: {destinations}\n")
        self.gateway = None

    def run(self, *arguments):
        """Runs the program to its end, and sees what it took."""
        out, err = self.directory / "out", self.directory / "err"
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("STATE_DIRECTORY", "RUNTIME_DIRECTORY")}
        begin = time.monotonic()
        with out.open("wb") as stdout, err.open("wb") as stderr:
            program = subprocess.Popen(
                [INGESTD, *map(str, arguments), "--config", str(self.configuration)], env=environment,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
            memory = 0.0
            while program.poll() is None:
                memory = max(memory, highest_memory(program.pid))
                time.sleep(0.01)
        return Outcome(program.returncode, out.read_text(), err.read_text(), memory, time.monotonic() - begin)

    def take(self, file, *arguments):
        return self.run("import", "apple-health", file, "--json", *arguments)

    def start(self):
        """Runs the gateway without a radio worth the name, until `stop`."""
        with (self.directory / "events").open("wb") as events, (self.directory / "gateway.err").open("wb") as err:
            self.gateway = subprocess.Popen(
                [INGESTD + "-simulated", "run", "--radio", "simulated", "--events", "stdout", "--config",
                 str(self.configuration)],
                stdout=events, stderr=err)
        wait_until(lambda: (self.state / "control.sock").exists() and answers(self.state / "control.sock"),
                 "the gateway's socket")

    def stop(self):
        self.gateway.terminate()
        expect(0, self.gateway.wait(timeout=30), "the gateway's exit")

    def kill(self):
        """Ends it, if a case that failed left it."""
        self.gateway.kill()
        self.gateway.wait()

    def events(self, name):
        lines = (self.directory / "events").read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["INGEST_EVENT"] == name]

    def kinds(self):
        """How many records of each kind are in the queue."""
        with sqlite3.connect(f"file:{self.state}/queue.db?mode=ro", uri=True) as database:
            return dict(database.execute("SELECT kind, count(*) FROM record GROUP BY kind"))


def highest_memory(pid):
    """In MiB. What wait4(2) tells counts what this process had before the program was executed."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:")), 0.0)
    except OSError:
        return 0.0


def answers(path):
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0
