"""What the fakes of backends have in common: a server on loopback that takes what a backend is known to take, refuses
everything else, and tells what it has got."""
import argparse
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Refused(Exception):
    """What is not taken; `words` say why, on standard error, and in the answer as far as the backend's has any."""

    def __init__(self, words, status=422, answer=None):
        super().__init__(words)
        self.status, self.answer = status, answer


class Number:
    """As it was sent."""

    def __init__(self, text):
        self.text = text


def need(truth, words, status=422):
    if not truth:
        raise Refused(words, status)


def members(value, names, optional=()):
    """An object with all of these members, and no other ones than the optional."""
    need(isinstance(value, dict), "expected an object")
    need(set(names) <= set(value), f"missing: {sorted(set(names) - set(value))}")
    unknown = set(value) - set(names) - set(optional)
    need(not unknown, f"unknown: {sorted(unknown)}")
    return value


class Backend:
    """One request at a time. A backend has `post(path, headers, body)`, which returns status and answer or raises
    Refused, `state()`, `control(change)` and `refusal(refused)`, its answer to what it refuses."""

    # Statuses by which it says that it was asked something that it does not know.
    fault_statuses = (422,)

    def __init__(self):
        self.lock = threading.Lock()
        self.requests, self.faults = [], []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        backend = self.server.backend
        with backend.lock:
            if self.path == "/state":
                self.reply(200, backend.state() | {"requests": backend.requests, "faults": backend.faults})
            else:
                self.reply(404, {})

    def do_POST(self):
        backend = self.server.backend
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with backend.lock:
            try:
                if self.path == "/control":
                    backend.control(json.loads(body))
                    return self.reply(200, {})
                backend.requests.append(self.path)
                self.reply(*backend.post(self.path, headers, body))
            except Refused as refused:
                self.refuse(refused)
            except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
                self.refuse(Refused(f"not understood: {error!r}"))

    def refuse(self, refused):
        backend = self.server.backend
        print(f"{refused.status}  {self.path}: {refused}", file=sys.stderr, flush=True)
        if refused.status in backend.fault_statuses:
            backend.faults.append(f"{self.path}: {refused}")
        self.reply(refused.status, backend.refusal(refused))

    def reply(self, status, value):
        body = (json.dumps(value, indent=1 if self.path == "/state" else None) + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main(backend, description, port, option, words, default=None):
    """A fake as a program that runs until Ctrl-C; `backend` is made with what the option says."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=port, help="on 127.0.0.1; 0 takes a free one")
    parser.add_argument(f"--{option}", default=default, required=default is None, help=words)
    arguments = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler)
    server.backend = backend(getattr(arguments, option))
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
