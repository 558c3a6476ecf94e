"""The gateway under test: one state directory, many runs."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

from .peripherals import MODELS

INGESTD = os.environ["INGESTD"]


def configuration(port):
    """Everything as fast as it may be. JSON is YAML."""
    return json.dumps({
        "gateway": {"id": "reliability-box", "trust_clock": True},
        "passive": {"quiet_period": "100ms", "cooldown": "0s"},
        "peripherals": [{"id": model, "address": address} for address, model in MODELS.items()],
        "destinations": [{"name": "receiver", "type": "webhook", "url": f"http://127.0.0.1:{port}/readings",
                          "batch": {"max_records": 20, "max_wait": "0s"}}],
    }, indent=1)


class Gateway:
    def __init__(self, directory: Path, socket, port):
        self.directory = directory
        self.state = directory / "state"
        self.file = directory / "ingestd.yaml"
        self.file.write_text(configuration(port))
        self.socket = socket
        self.runs = 0
        self.process = None

    def start(self):
        self.runs += 1
        environment = {**os.environ, "STATE_DIRECTORY": str(self.state)}
        with self.events_file(self.runs).open("wb") as events, (self.directory / "errors").open("ab") as errors:
            self.process = subprocess.Popen(
                [INGESTD + "-simulated", "run", "--config", str(self.file), "--radio", "simulated", "--peripherals",
                 str(self.socket), "--events", "stdout"],
                stdin=subprocess.DEVNULL, stdout=events, stderr=errors, env=environment)

    def kill(self):
        """Ends it at once. Returns how it had ended by itself before, if it had."""
        self.process.kill()
        status = self.process.wait()
        return None if status == -signal.SIGKILL else status

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "nothing within 30 s"

    def events_file(self, run):
        return self.directory / f"events-{run:04}"

    def events(self, run):
        """What a run told. A line that the kill has cut off was not told."""
        lines = self.events_file(run).read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in lines]

    def wait_for_event(self, seconds):
        """Waits until the present run tells something more, without a pause: the event is noted as told within about a
        millisecond."""
        file = self.events_file(self.runs)
        before, deadline = file.stat().st_size, time.monotonic() + seconds
        while file.stat().st_size == before and time.monotonic() < deadline:
            pass

    def all_events(self):
        return [self.events(run) for run in range(1, self.runs + 1)]

    def wait_for_submissions(self, count, seconds):
        """Waits until so many records are submitted, over all runs."""
        before = {event["INGEST_RECORD_ID"] for run in range(1, self.runs) for event in self.events(run)
                  if event["INGEST_EVENT"] == "submitted"}
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            now = {event["INGEST_RECORD_ID"] for event in self.events(self.runs)
                   if event["INGEST_EVENT"] == "submitted"}
            if len(before | now) >= count:
                return True
            time.sleep(0.2)
        return False

    def queue(self):
        """What the queue says of itself at the end."""
        database = sqlite3.connect(f"file:{self.state}/queue.db?mode=ro", uri=True)
        try:
            def value(sql):
                return database.execute(sql).fetchone()[0]
            return {"integrity": value("PRAGMA integrity_check"),
                    "last event": value("SELECT value FROM counter WHERE name = 'event'"),
                    "records": value("SELECT count(*) FROM record"),
                    "undecoded": value("SELECT count(*) FROM record WHERE kind = 'undecoded'"),
                    "outbox": value("SELECT count(*) FROM outbox"),
                    "dead letters": value("SELECT count(*) FROM dead_letter")}
        finally:
            database.close()
