"""A burst of readings, each with a commit and a delivery of its own, as fast as the gateway takes them."""

import http.client
import http.server
import json
import os
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

from kit.gateway import Failure, Gateway, wait_until
from kit.results import Results

READINGS = int(os.environ.get("READINGS", "60000"))
# In KiB, above what the process holds before the burst.
MOST_IN_BURST = 10 * 1024
MOST_AFTER_REST = 4 * 1024
REST = 60


class Control(http.client.HTTPConnection):
    """The control socket."""

    def __init__(self, path):
        super().__init__("ingestd")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def enter(self, number):
        entry = {"kind": "weight", "origin": "manual", "start": 1_700_000_000 + number, "utcOffset": 0,
                 "timeSource": "entered", "flags": [], "source": {}, "name": f"MANUAL|weight|{number}",
                 "values": [{"type": "weight", "code": 188736, "number": "72.5", "unit": "kg"}]}
        self.request("POST", "/v1/entries", json.dumps({"entries": [entry]}),
                     {"Content-Type": "application/json"})
        answer = self.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Failure(f"entry {number}: {answer.status} {body[:200]}")


class Receiver(http.server.ThreadingHTTPServer):
    """Takes everything."""

    daemon_threads = True

    def __init__(self):
        self.taken = 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Header and body in one packet.
            wbufsize = -1

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.taken += len(json.loads(body)["records"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def anonymous(gateway):
    """What the process has for itself, in KiB."""
    status = Path(f"/proc/{gateway.process.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0])


def burst(directory):
    receiver = Receiver()
    gateway = Gateway(directory, "memory", {
        "clinic": {"url": f"http://127.0.0.1:{receiver.server_port}/", "batch": {"max_wait": "0s"}}}, peripherals=())
    try:
        socket_path = gateway.state / "control.sock"
        wait_until(socket_path.exists, "the service listens")
        # The commands of the start, and the memory that it needed, are over.
        time.sleep(30)
        control = Control(socket_path)
        for number in range(100):
            control.enter(number)
        time.sleep(5)
        start = most = anonymous(gateway)
        began = time.monotonic()
        for number in range(100, READINGS + 100):
            control.enter(number)
            if number % 100 == 0:
                most = max(most, anonymous(gateway))
        took = time.monotonic() - began
        wait_until(lambda: receiver.taken >= READINGS + 100, "everything is delivered")
        most = max(most, anonymous(gateway))
        time.sleep(REST)
        end = anonymous(gateway)
        print(f"{READINGS} readings in {took:.0f} s; RssAnon {start} KiB before, {most - start:+} KiB at most, "
              f"{end - start:+} KiB after {REST} s of rest")
        if most - start > MOST_IN_BURST:
            raise Failure(f"{most - start} KiB more in the burst; at most {MOST_IN_BURST}")
        if end - start > MOST_AFTER_REST:
            raise Failure(f"{end - start} KiB more after a rest; at most {MOST_AFTER_REST}")
    finally:
        gateway.stop()


def main():
    results = Results()
    with tempfile.TemporaryDirectory(prefix="ingestd-memory-") as temporary:
        results.run_wanted({"burst": lambda: burst(Path(temporary))})
    return results.end()


sys.exit(main())
