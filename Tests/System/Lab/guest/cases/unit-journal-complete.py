"""No event is lost on its way to the journal, however long the backlog: the unit's limit is above the gateway's pace."""

import contextlib
import http.client
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

from labkit import commands, gateway, package
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "a backlog of 100,000 readings is delivered, and the journal has each numbered event"
# By the packaged program: the debug build takes ten times as long.
NEEDS_PACKAGE = True
LIMIT_S = 800
READINGS = 100_000
AT_ONCE = 500
SOCKET = "/run/ingestd/control.sock"
BINARY = "/usr/bin/ingestd"
EVENTS = "/var/tmp/events"
UNPACKED = "/var/tmp/package"
PORT = 8098
DELIVERY_LIMIT_S = 900
TELLING_LIMIT_S = 300


def run(lab):
    commands.run("dpkg-deb", "--extract", package.path("newer"), UNPACKED)
    commands.run("install", "-m", "755", UNPACKED + BINARY, BINARY)
    # The lab's own reader keeps whole entries, and there would be too many.
    lab.journal.pause()
    backend = Backend()
    try:
        with following(EVENTS):
            lab.gateway.start(adapter=False, sections={"destinations": [
                {"name": "backend", "type": "webhook", "url": f"http://127.0.0.1:{PORT}/readings",
                 "batch": {"max_records": 200, "max_wait": "0s"}}]})
            wait_until("the service takes entries", gateway.START_LIMIT_S, lambda: os.path.exists(SOCKET))
            began = time.monotonic()
            for first in range(0, READINGS, AT_ONCE):
                # At first it may not know yet that the clock is right.
                added = wait_until("entries are taken", gateway.START_LIMIT_S, lambda: post(entries(first)))
                expect_equal(added, AT_ONCE, "new entries")
            entered = time.monotonic() - began
            expect_equal(backend.ids, set(), "delivered while the backend was down")
            backend.is_up = True
            wait_until("the backlog is delivered", DELIVERY_LIMIT_S, lambda: len(backend.ids) == READINGS)
            delivered = time.monotonic() - began - entered
            wait_until("the journal has all events", TELLING_LIMIT_S,
                       lambda: counts(EVENTS).get("submitted") == READINGS)
            told = time.monotonic() - began - entered
        numbers = sorted(numbers_of(EVENTS))
        found = counts(EVENTS)
        expect_equal(found.get("read"), READINGS, "events of reading")
        expect_equal(len(set(numbers)), len(numbers), "different numbers")
        expect_equal(numbers[-1] - numbers[0] + 1, len(numbers), "numbers without a gap")
        dropped = commands.run("journalctl", "--boot", "--quiet", "--output=cat", "--grep=Suppressed", check=False)
        expect_equal(dropped, "", "what the journal says that it has left out")
        expect_equal(found.get("events-dropped"), None, "events that the gateway dropped")
        return (f"{len(numbers)} numbered events; entered in {entered:.0f} s, delivered in {delivered:.0f} s, "
                f"told in {told:.0f} s")
    finally:
        backend.close()
        lab.gateway.stop()
        gateway.install(mounts=False)
        lab.journal.resume()
        for path in (EVENTS, UNPACKED):
            commands.run("rm", "-rf", path)


class Backend(http.server.ThreadingHTTPServer):
    """Keeps the ids of the records that it takes. While it is down it says so."""

    daemon_threads = True

    def __init__(self):
        self.ids = set()
        self.is_up = False
        super().__init__(("127.0.0.1", PORT), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.is_up:
            self.server.ids.update(re.findall(rb'"id":"([0-9a-f-]{36})"', body))
        self.send_response(200 if self.server.is_up else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def entries(first):
    """Temperatures that somebody has written, a minute apart."""
    begin = int(time.time()) // 60 * 60 - 60 * READINGS
    return {"entries": [
        {"kind": "body-temperature", "origin": "manual", "start": begin + 60 * number, "utcOffset": 0,
         "timeSource": "entered", "flags": [], "source": {}, "name": f"MANUAL|{number}",
         "values": [{"type": "body-temperature", "code": 150364, "number": f"36.{number % 10}", "unit": "Cel"}]}
        for number in range(first, first + AT_ONCE)]}


class ControlConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(SOCKET)


def post(message):
    """Puts entries into the queue, as `ingestd submit` does; returns how many were new, or nothing if it is to be tried
    again."""
    connection = ControlConnection("localhost")
    try:
        connection.request("POST", "/v1/entries", json.dumps(message), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status == 400 and json.loads(text)["reason"] == "no-time":
            return None
        expect(answer.status == 200, f"the service says {answer.status} {text}")
        return json.loads(text)["added"]
    finally:
        connection.close()


@contextlib.contextmanager
def following(path):
    """Writes the names and numbers of all events meanwhile to a file, a line each."""
    reader = subprocess.Popen(
        f"journalctl --follow --lines=0 --unit={gateway.UNIT} --output=export "
        "--output-fields=INGEST_EVENT,INGEST_SEQ"
        f" | grep --text --line-buffered -E '^INGEST_(EVENT|SEQ)=' > {path}", shell=True, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(reader.pid, signal.SIGTERM)
        reader.wait()


def counts(path):
    names = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith("INGEST_EVENT="):
                name = line.strip().partition("=")[2]
                names[name] = names.get(name, 0) + 1
    return names


def numbers_of(path):
    with open(path, encoding="ascii") as lines:
        return [int(line.partition("=")[2]) for line in lines if line.startswith("INGEST_SEQ=")]
