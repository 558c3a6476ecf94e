"""The processes of the crowd and of the reader, from outside."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from kit.gateway import wait_until


class CrowdProcess:
    # Of the nice values of setpriority(2). Behind each connection stands a box with a processor of its own; one process
    # that gets no more of the machine than any gateway makes its handshakes too slowly.
    NICE = -15

    def __init__(self, directory: Path, port):
        self.directory = directory
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fleet.crowd", directory, str(port)], text=True, bufsize=1, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=(directory / "crowd.errors").open("ab"), start_new_session=True)
        # A container may not give it.
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, self.process.pid, self.NICE)
            # Where the kernel shares processors out by sessions, this value counts instead (sched(7), autogroup).
            autogroup = Path(f"/proc/{self.process.pid}/autogroup")
            if autogroup.exists():
                autogroup.write_text(str(self.NICE))

    def order(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the crowd ended: {(self.directory / 'crowd.errors').read_text()[-2000:]}")
        return json.loads(line)

    def state(self):
        return self.order()

    def connect(self, count, seconds=900):
        self.order(connect=count)
        wait_until(lambda: self.state()["connected"] == count, f"{count} connections", seconds)

    def ids(self, name):
        return (self.directory / name).read_text().split()

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


class ReaderProcess:
    def __init__(self, directory: Path, port):
        self.directory, self.port, self.process = directory, port, None

    def start(self):
        """Returns when it has subscribed."""
        subscribed = self.directory / "subscribed"
        subscribed.unlink(missing_ok=True)
        with (self.directory / "reader.output").open("ab") as output:
            self.process = subprocess.Popen([sys.executable, "-m", "fleet.reader", self.directory, str(self.port)],
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_until(lambda: self.process.poll() is not None or subscribed.exists(), "the reader subscribes", 300)
        if self.process.poll() is not None:
            raise RuntimeError(f"the reader ended: {(self.directory / 'reader.output').read_text()[-2000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, sql):
        database = sqlite3.connect(f"file:{self.directory}/store.db?mode=ro", uri=True, timeout=30)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def rows(self):
        return self.ask("SELECT count(*) FROM reading")[0][0]

    def counted(self, name):
        return self.ask(f"SELECT value FROM counter WHERE name = '{name}'")[0][0]

    def is_quiet(self, seconds):
        """Whether no row has come for so long."""
        before = self.rows()
        time.sleep(seconds)
        return self.rows() == before

    def ids(self):
        return {name for (name,) in self.ask("SELECT id FROM reading")}
