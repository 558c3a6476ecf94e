"""What the gateway on its built-in peripherals sends to destinations of every form."""

import base64
import json
import subprocess
import time
import uuid

from kit.gateway import INGESTD, Failure, Gateway, expect_equal, wait_until
from kit.ports import free_ports, wait_for_port

from .openapi import STATUS_OPERATION, expect_described
from .receiver import Receiver
from .schema import BODIES, RECORDS, expect_valid

from standardwebhooks import Webhook, WebhookVerificationError


# Of all built-in peripherals but those that are paired with or on no list.
READINGS = 12
PERIPHERALS = [{"id": 1002, "address": "C0:00:00:00:00:01", "subject": "patient-17"},
               {"id": 1001, "address": "C0:00:00:00:00:02", "alias": "cuff"},
               {"id": 1000, "address": "C0:00:00:00:00:04"}, {"id": 1004, "address": "C0:00:00:00:00:05"}]
NAMESPACE = uuid.UUID("02322d06-b248-45e8-8c81-81d8effc6022")
KEY, OLD_KEY, STRANGE_KEY = ("whsec_" + base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2, 3))


def is_signed(request, key):
    """As a receiver would ask that uses the reference library."""
    try:
        Webhook(key).verify(request.body, request.headers, json_parse=False)
        return True
    except WebhookVerificationError:
        return False


class Requests:
    """The destinations of one gateway, and what they got."""

    def __init__(self, directory):
        self.directory = directory
        self.receiver = Receiver({"retried": 503})
        self.key = self.file("key", KEY + "\n")
        both = self.file("both-keys", f"{KEY} {OLD_KEY}\n")
        self.ports = dict(zip(("receive", "refuses"), free_ports(2)))
        self.programs = [self.receive("receive", self.key),
                         self.receive("refuses", self.file("strange-key", STRANGE_KEY))]
        signed = {"signing_key": self.key}
        lines = {"format": "ndjson"}
        keys = {"json": {"headers": {"X-Ward": "3"}, "credential": self.file("token", "s3cret-token")},
                "ndjson": lines, "gzip": {"gzip": True}, "signed": signed, "rotated": {"signing_key": both},
                "all": {**signed, **lines, "gzip": True}, "retried": signed,
                "hidden": {**signed, "gzip": True, "redact": ["address"],
                           "status": {"url": self.receiver.url("hidden-status")}}}
        keys["json"]["status"] = {"url": self.receiver.url("json-status"), "every": "1h"}
        destinations = {name: {"url": self.receiver.url(name), **more} for name, more in keys.items()}
        for name, port in self.ports.items():
            destinations[name] = {"url": f"http://127.0.0.1:{port}/", **signed, **lines, "gzip": True}
        destinations["receive"]["status"] = {"url": f"http://127.0.0.1:{self.ports['receive']}/status"}
        self.started = time.time()
        self.gateway = Gateway(directory, "webhook", destinations, peripherals=PERIPHERALS)
        self.taking = [*keys, "receive"]

    def file(self, name, content):
        path = self.directory / name
        path.write_text(content)
        path.chmod(0o600)
        return str(path)

    def receive(self, name, key):
        with (self.directory / f"{name}.received").open("wb") as output:
            program = subprocess.Popen([INGESTD, "receive", "--json", "--port", str(self.ports[name]), "--signing-key",
                                        key], stdout=output, stderr=subprocess.DEVNULL)
        wait_for_port(self.ports[name], program)
        return program

    def stop(self):
        for program in self.programs:
            program.terminate()
            program.wait(timeout=20)
        return self.gateway.stop()

    def of(self, name):
        return self.receiver.requests[name]

    def records(self, name):
        found = []
        for request in self.of(name):
            if request.headers["content-type"] == "application/x-ndjson":
                if not request.body.endswith(b"\n"):
                    raise Failure("the last line has no end")
                found += [json.loads(line) for line in request.body.splitlines()]
            else:
                body = json.loads(request.body)
                expect_valid(BODIES, body)
                expect_equal(body["gateway"], "delivery-box", "the gateway")
                found += body["records"]
        for record in found:
            expect_valid(RECORDS, record)
            expect_equal((record["gateway"], record["simulated"]), ("delivery-box", True), "gateway and simulated")
        return found

    def statuses(self, name):
        wait_until(lambda: name in self.receiver.requests, f"a document for {name}")
        return self.of(name)

    # The cases

    def tells_how_it_fares(self):
        """A status document goes to its own URL in the way of records, without what the destination does not get."""
        for name in ("json-status", "hidden-status"):
            for request in self.statuses(name):
                expect_described(request, STATUS_OPERATION)
                document = json.loads(request.body)
                expect_equal((document["gateway"], document["status"]), ("delivery-box", "online"),
                             f"the document of {name}")
                expect_equal(len(document["devices"]), len(PERIPHERALS), "devices")
                expect_equal(any("address" in device for device in document["devices"]), name == "json-status",
                             "addresses")
        headers = self.of("json-status")[0].headers
        expect_equal((headers["authorization"], headers["x-ward"]), ("Bearer s3cret-token", "3"), "headers")
        request = self.of("hidden-status")[0]
        if not is_signed(request, KEY) or request.headers["content-encoding"] != "gzip":
            raise Failure("a document is not signed or not compressed")

    def arrives(self):
        for name in self.taking:
            self.gateway.wait(name, "submitted", 60, count=READINGS)

    def has_the_same_records_everywhere(self):
        ids = {name: sorted(record["id"] for record in self.records(name))
               for name in ("json", "ndjson", "gzip", "signed", "rotated", "all")}
        expect_equal(len(set(ids["json"])), READINGS, "readings")
        for name, found in ids.items():
            expect_equal(found, ids["json"], f"records of {name}")
        kinds = {record["kind"] for record in self.records("json")}
        expect_equal(kinds, {"body-temperature", "blood-pressure", "glucose", "weight", "body-composition"}, "kinds")

    def has_the_headers(self):
        for name in ("json", "ndjson", "gzip", "all"):
            for request in self.of(name):
                expect_equal(request.headers["idempotency-key"],
                             str(uuid.uuid5(NAMESPACE, request.body.decode())), f"the key of {name}")
                kind = "application/x-ndjson" if name in ("ndjson", "all") else "application/json"
                expect_equal(request.headers["content-type"], kind, f"the type of {name}")
        headers = self.of("json")[0].headers
        expect_equal((headers["authorization"], headers["x-ward"], headers["user-agent"]),
                     ("Bearer s3cret-token", "3", "ingestd"), "headers")
        if any(name.startswith("webhook-") for name in headers):
            raise Failure("signed without a key")

    def is_described(self):
        for name in ("json", "ndjson", "gzip", "signed", "rotated", "all", "retried"):
            for request in self.of(name):
                expect_described(request)

    def is_verified(self):
        for name, keys in {"signed": [KEY], "rotated": [KEY, OLD_KEY], "all": [KEY]}.items():
            for request in self.of(name):
                if not all(is_signed(request, key) for key in keys):
                    raise Failure(f"{name}: the reference library refuses {request.headers['webhook-signature']}")
                expect_equal(request.headers["webhook-id"], request.headers["idempotency-key"], "the id")
                expect_equal(len(request.headers["webhook-signature"].split(" ")), len(keys), "signatures")
                if not self.started - 1 <= int(request.headers["webhook-timestamp"]) <= time.time():
                    raise Failure("the time is not that of the attempt")

    def is_refused_when_changed(self):
        request = self.of("signed")[0]
        later = str(int(request.headers["webhook-timestamp"]) + 1)
        changes = [{"webhook-id": str(uuid.uuid4())}, {"webhook-timestamp": later}]
        requests = [type(request)({**request.headers, **change}, request.wire) for change in changes]
        requests.append(type(request)(request.headers, request.wire.replace(b"36.60", b"36.61")))
        if b"36.60" not in request.wire:
            raise Failure("the first reading is not the thermometer's")
        if any(is_signed(changed, KEY) for changed in requests) or is_signed(request, STRANGE_KEY):
            raise Failure("the reference library takes what was not signed")

    def signs_each_attempt(self):
        first, second = self.of("retried")[:2]
        expect_equal(first.wire, second.wire, "the body of the retry")
        expect_equal(first.headers["webhook-id"], second.headers["webhook-id"], "the id of the retry")
        if not is_signed(first, KEY) or not is_signed(second, KEY):
            raise Failure("an attempt is not signed")

    def is_received(self):
        """`ingestd receive --signing-key` takes what is signed with its key, and nothing else."""
        path = self.directory / "receive.received"
        wait_until(lambda: '{"status":200,"document":' in path.read_text(), "a status document")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        documents = [line for line in lines if "document" in line]
        expect_equal([line["document"]["gateway"] for line in documents[:1]], ["delivery-box"], "status documents")
        lines = [line for line in lines if line not in documents]
        expect_equal([line["status"] for line in lines], [200] * READINGS, "statuses")
        for line in lines:
            expect_valid(RECORDS, line["record"])
        expect_equal((self.directory / "refuses.received").read_text(), "", "records with another key")
        event = self.gateway.wait("refuses", "auth-rejected")[0]
        expect_equal(event["INGEST_HTTP_STATUS"], "401", "the status")

    def shows_no_key(self):
        """No key is in what the gateway wrote or keeps."""
        files = [self.gateway.output, self.directory / "webhook.errors", *self.gateway.state.glob("queue.db*")]
        written = b"".join(file.read_bytes() for file in files)
        for key in (KEY, OLD_KEY):
            if key.removeprefix("whsec_").encode() in written:
                raise Failure("a key was written")

    def cases(self):
        return {"arrives": self.arrives, "records": self.has_the_same_records_everywhere, "headers": self.has_the_headers,
                "openapi": self.is_described,
                "signature": self.is_verified, "changed": self.is_refused_when_changed,
                "retry": self.signs_each_attempt, "status": self.tells_how_it_fares,
                "receive": self.is_received, "no-key-anywhere": self.shows_no_key,
                "ends": lambda: expect_equal(self.stop(), 0, "the exit status")}
