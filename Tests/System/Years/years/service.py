"""Who speaks to the gateway: a client of its control socket, and a backend that takes everything."""

import http.client
import http.server
import json
import socket
import threading

from kit.gateway import Failure


# Records that a receiver keeps.
MOST_KEPT = 1_000


class Control(http.client.HTTPConnection):
    """The control socket."""

    def __init__(self, path):
        super().__init__("ingestd")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def enter(self, *numbers):
        """Puts entries in, each a reading of its own."""
        entries = [{"kind": "weight", "origin": "manual", "start": 1_700_000_000 + number, "utcOffset": 0,
                    "timeSource": "entered", "flags": [], "source": {}, "name": f"MANUAL|weight|{number}",
                    "values": [{"type": "weight", "code": 188736, "number": "72.5", "unit": "kg"}]}
                   for number in numbers]
        self.request("POST", "/v1/entries", json.dumps({"entries": entries}), {"Content-Type": "application/json"})
        answer = self.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Failure(f"entries from {numbers[0]} on: {answer.status} {body[:200]}")


class Receiver(http.server.ThreadingHTTPServer):
    """Takes everything; keeps the first records."""

    daemon_threads = True

    def __init__(self):
        self.taken = 0
        self.records = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Header and body in one packet.
            wbufsize = -1

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                records = json.loads(body)["records"]
                receiver.taken += len(records)
                receiver.records += records[:MOST_KEPT - len(receiver.records)]
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
