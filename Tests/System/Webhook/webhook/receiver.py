"""A receiver that keeps what it gets, by path, and answers 200, or what it is told for the first of a path."""

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Request:
    headers: dict
    wire: bytes

    @property
    def body(self):
        """Without compression."""
        return gzip.decompress(self.wire) if self.headers.get("content-encoding") == "gzip" else self.wire


class Receiver:
    def __init__(self, first):
        """`first`: the status of the first answer, by path."""
        self.requests = {}
        kept = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name  # the name that http.server calls
                body = self.rfile.read(int(self.headers["Content-Length"]))
                name = self.path.strip("/")
                earlier = kept.setdefault(name, [])
                status = first.get(name, 200) if not earlier else 200
                earlier.append(Request({key.lower(): value for key, value in self.headers.items()}, body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_port}/{name}"
