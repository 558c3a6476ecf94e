"""The authorization server, and a resource server that asks it about each token."""

import base64
import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

from kit.gateway import wait_until
from kit.ports import free_ports

# By which the resource server asks.
OWN = ("clinic", "secret of the clinic")


class Issuer:
    def __init__(self, directory, lifetime):
        self.port, = free_ports(1)
        self.url = f"http://127.0.0.1:{self.port}/oauth"
        self.log = directory / "issuer.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "oauth.issuer", str(self.port), str(directory / "issuer.db"), str(lifetime)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.order("client", name=OWN[0], secret=OWN[1])
        wait_until(self.answers, "the authorization server answers")

    def order(self, what, **fields):
        self.process.stdin.write(json.dumps({"do": what, **fields}) + "\n")
        self.process.stdin.flush()
        # What else it prints comes before.
        while (line := self.process.stdout.readline()) != "done\n":
            if not line:
                raise RuntimeError(f"the authorization server ended: {self.log.read_text()[-2000:]}")

    def answers(self):
        try:
            return not self.holds("none")
        except OSError:
            return False

    def holds(self, token):
        """Whether the token is good now (RFC 7662)."""
        pair = base64.b64encode(":".join(map(urllib.parse.quote, OWN)).encode()).decode()
        request = urllib.request.Request(
            f"{self.url}/introspect", urllib.parse.urlencode({"token": token}).encode(), {"Authorization": f"Basic {pair}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["active"]

    @property
    def issued(self):
        """How many tokens it has issued."""
        return self.log.read_text().count("Issued client_credentials token for client ")

    def stop(self):
        self.process.kill()
        self.process.wait()


class Resource(http.server.ThreadingHTTPServer):
    """Takes a webhook's records and a FHIR server's transactions under a good token, after a moment."""

    def __init__(self, issuer, pause=0.0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.issuer = issuer
        self.pause = pause
        self.url = f"http://127.0.0.1:{self.server_port}/readings"
        # Statuses of the answers, and what was taken: an id, or the text of a transaction, each.
        self.statuses = []
        self.taken = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self, body, token):
        time.sleep(self.pause)
        if not self.issuer.holds(token):
            self.statuses.append(401)
            return 401, b""
        content = json.loads(body)
        self.statuses.append(200)
        if content.get("resourceType") != "Bundle":
            self.taken += [record["id"] for record in content["records"]]
            return 200, b""
        self.taken.append(body.decode())
        entries = [{"response": {"status": "201 Created"}} for _ in content["entry"]]
        return 200, json.dumps({"resourceType": "Bundle", "type": "transaction-response", "entry": entries}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = self.server.take(body, self.headers.get("Authorization", "").removeprefix("Bearer "))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass
