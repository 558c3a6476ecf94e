"""The backend: counts what it takes, and is sometimes slow, absent-minded or rude."""

import hashlib
import http.server
import json
import random
import threading
import time
from pathlib import Path


class Receiver:
    """An HTTP server on a port of its own, which outlives the gateway. A request that it has taken is kept, whatever
    it answers."""

    def __init__(self, directory: Path, seed):
        self.random = random.Random(seed)
        self.is_calm = False
        self.deliveries = []
        self.arrived = threading.Condition()
        self.manners = {}
        self.file = (directory / "deliveries").open("w")
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.take(self, self.headers["Idempotency-Key"], body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A gateway that was killed answers no more."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, handler, key, body):
        with self.arrived:
            manner = "takes" if self.is_calm else self.random.choices(
                ["takes", "refuses", "takes late", "takes and says 503", "takes and hangs up"],
                [84, 3, 5, 4, 4])[0]
            self.manners[manner] = self.manners.get(manner, 0) + 1
            delay = self.random.uniform(0.1, 0.8)
            if manner != "refuses":
                self.keep(key, body)
            self.arrived.notify_all()
        if manner == "takes late":
            time.sleep(delay)
        if manner == "takes and hangs up":
            handler.close_connection = True
            return
        handler.send_response(503 if manner in ("refuses", "takes and says 503") else 200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def keep(self, key, body):
        records = [{"id": record["id"], "address": record["device"]["address"],
                    "characteristic": record["raw"]["characteristic"], "hex": record["raw"]["hex"],
                    "digest": hashlib.sha256(json.dumps(record).encode()).hexdigest()}
                   for record in json.loads(body)["records"]]
        delivery = {"key": key, "digest": hashlib.sha256(body).hexdigest(), "records": records}
        self.deliveries.append(delivery)
        self.file.write(json.dumps(delivery) + "\n")
        self.file.flush()

    def wait_for_request(self, seconds):
        with self.arrived:
            self.arrived.wait(timeout=seconds)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.file.close()
