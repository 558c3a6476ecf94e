"""docs/receive-records.md as it stands: its receiver, and what is sent to it."""

import contextlib
import os
import socket
import sqlite3
import subprocess
import tempfile

from labkit.guide import DOCUMENTS, Guide
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.receiver import PORT
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "docs/receive-records.md as written: its receiver keeps one row of what comes twice, and takes a gateway's record"
LIMIT_S = 240
START_LIMIT_S = 60
DELIVERY_LIMIT_S = 60


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(DOCUMENTS, f"{directory}/docs")
        page = Guide("receive-records", directory)
        # What comes, shown and not run.
        page.take('{"version":1,')
        with lab.receiver.paused(), receiver(page.take("import http.server", "python").text, directory):
            rows = page.run("body=").splitlines()[-1:]
            expect(len(rows) == 1 and rows[0].endswith("|glucose|patient-17"), f"rows: {rows}")
            lab.gateway.start(thermometer)
            thermometer.give(temperature(371, -1))
            lab.journal.wait("submitted", thermometer)
            expect_equal(kinds(directory), ["body-temperature", "glucose"], "what the receiver keeps")
        # To the receiver that is part of the program.
        page.run("curl -d 503")
        thermometer.give(temperature(372, -1))
        lab.journal.wait("destination-down")
        lab.receiver.answer(200)
        lab.receiver.wait(thermometer)
        page.end()


@contextlib.contextmanager
def receiver(program, directory):
    process = subprocess.Popen(["python3", "-c", program], cwd=directory, stderr=subprocess.DEVNULL)
    try:
        wait_until("the page's receiver listens", START_LIMIT_S, listens)
        yield
    finally:
        process.terminate()
        process.wait()


def listens():
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


def kinds(directory):
    with contextlib.closing(sqlite3.connect(f"{directory}/readings.db")) as store:
        return sorted(kind for kind, in store.execute("SELECT kind FROM reading"))
