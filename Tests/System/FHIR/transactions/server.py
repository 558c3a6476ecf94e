"""A FHIR server as far as the gateway needs one. It takes what the rules have nothing against, and gives it back."""

import gzip
import json
import re
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from .rules import Checker, identifiers, references, token

TYPE = "application/fhir+json"


class Refused(Exception):
    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


def read(text):
    """Numbers with decimals as texts, so that their digits are kept."""
    return json.loads(text, parse_float=lambda digits: f"\0{digits}\0")


def written(value):
    return re.sub(r'"\\u0000([-0-9.eE+]+)\\u0000"', r"\1", json.dumps(value, indent=1))


def outcome(words):
    return {"resourceType": "OperationOutcome",
            "issue": [{"severity": "error", "code": "invalid", "diagnostics": word} for word in words]}


def replaced(value, names):
    if isinstance(value, list):
        return [replaced(item, names) for item in value]
    if isinstance(value, dict):
        return {name: names.get(item, item) if name == "reference" else replaced(item, names)
                for name, item in value.items()}
    return value


class Server:
    def __init__(self, port=0, say=lambda line: None):
        self.checker = Checker()
        self.resources = {}
        self.answers = []
        self.say = say
        self.lock = threading.Lock()
        # What a case wants otherwise: resources that are not liked; how many answers get lost; one for each entry.
        self.dislikes = lambda resource: False
        self.lost = 0
        self.answers_each = False
        self.http = ThreadingHTTPServer(("127.0.0.1", port), self.handler())
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}/r4"

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def of(self, kind):
        return [resource for resource in self.resources.values() if resource["resourceType"] == kind]

    def find(self, kind, wanted):
        return [resource for resource in self.of(kind) if wanted in identifiers(resource)]

    # Transactions

    def transaction(self, headers, body):
        if headers.get("Content-Type") != TYPE:
            raise Refused(415, f"Content-Type {TYPE} is expected")
        if TYPE not in headers.get("Accept", ""):
            raise Refused(406, f"Accept {TYPE} is expected")
        if headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        text = body.decode()
        problems = self.checker.problems(text)
        if problems:
            raise Refused(400, "\n".join(problems))
        before = dict(self.resources)
        names, results = {}, []
        for entry in read(text)["entry"]:
            try:
                results.append({"response": self.create(entry, names)})
            except Refused as refused:
                if not self.answers_each:
                    self.resources = before
                    raise
                results.append(
                    {"response": {"status": f"{refused.status} Refused", "outcome": outcome([str(refused)])}})
        kind = "batch" if self.answers_each else "transaction"
        return {"resourceType": "Bundle", "type": f"{kind}-response", "entry": results}

    def create(self, entry, names):
        resource, kind = entry["resource"], entry["request"]["url"]
        found = self.find(kind, token(entry["request"]["ifNoneExist"]))
        if len(found) > 1:
            raise Refused(412, f"several match {entry['request']['ifNoneExist']}")
        if self.dislikes(resource):
            raise Refused(422, "this one is not liked")
        for reference in references(resource):
            if reference not in names and reference not in self.resources:
                raise Refused(400, f"{reference} is not known")
        if found:
            name, status = f"{kind}/{found[0]['id']}", "200 OK"
        else:
            # The same ids each time, so that what the server has can be compared.
            identity = str(uuid.uuid5(uuid.NAMESPACE_URL, entry["fullUrl"]))
            name, status = f"{kind}/{identity}", "201 Created"
            self.resources[name] = {"resourceType": kind, "id": identity, **replaced(resource, names)}
        names[entry["fullUrl"]] = name
        return {"status": status, "location": f"{name}/_history/1"}

    # HTTP

    def get(self, path, query):
        if path in self.resources:
            return self.resources[path]
        if path not in {"Patient", "Device", "Observation", "Media"}:
            raise Refused(404, f"{path} is not here")
        unknown = set(query) - {"identifier"}
        if unknown:
            raise Refused(400, f"cannot search by {', '.join(unknown)}")
        wanted = query.get("identifier")
        found = self.find(path, token("identifier=" + wanted[0])) if wanted else self.of(path)
        return {"resourceType": "Bundle", "type": "searchset", "total": len(found),
                "entry": [{"fullUrl": f"{self.url}/{path}/{resource['id']}", "resource": resource}
                          for resource in found]}

    def handle(self, method, target, headers, body):
        parts = urlsplit(target)
        path = parts.path.removeprefix("/r4").strip("/")
        if not parts.path.startswith("/r4"):
            raise Refused(404, "the base is /r4")
        if method == "GET":
            return self.get(path, parse_qs(parts.query))
        if path:
            raise Refused(404, "transactions are posted to the base")
        result = self.transaction(headers, body)
        if self.lost:
            self.lost -= 1
            raise Refused(503, "this answer is lost")
        return result

    def handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, method):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with server.lock:
                    try:
                        status, result = 200, server.handle(method, self.path, self.headers, body)
                    except Refused as refused:
                        status, result = refused.status, outcome(str(refused).splitlines())
                    if method == "POST":
                        statuses = [entry["response"]["status"][:3] for entry in result.get("entry", [])]
                        server.answers.append((status, statuses))
                        server.say(f"{status} {' '.join(statuses)}" if status == 200 else f"{status} {written(result)}")
                content = written(result).encode()
                self.send_response(status)
                self.send_header("Content-Type", TYPE)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_POST(self):  # pylint: disable=invalid-name  # the names that http.server calls
                self.answer("POST")

            def do_GET(self):  # pylint: disable=invalid-name
                self.answer("GET")

            def log_message(self, *_):
                pass

        return Handler
