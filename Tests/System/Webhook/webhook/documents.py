"""What docs/destinations/webhook.md shows is what happens: its request, its Python and its commands."""

import json
import os
import re
import subprocess
import tempfile
import uuid
from pathlib import Path

from kit.gateway import INGESTD, Failure, check, expect_equal
from kit.ports import free_ports, wait_for_port

from .schema import BODIES, ROOT, expect_valid

TEXT = (ROOT / "docs/destinations/webhook.md").read_text()
KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NAMESPACE = uuid.UUID("02322d06-b248-45e8-8c81-81d8effc6022")


def block(language):
    found = re.findall(f"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    expect_equal(len(found), 1, f"blocks of {language}")
    return found[0]


def example():
    """The headers of the request that is shown, with names in lower case, and its body."""
    header, _, body = block("http").partition("\n\n")
    fields = dict(line.split(": ", 1) for line in header.splitlines()[1:])
    return {name.lower(): value for name, value in fields.items()}, body.rstrip("\n")


def verify():
    shown = {}
    exec(block("python"), shown)  # pylint: disable=exec-used  # running it is the test
    return shown["verify"]


def has_a_good_configuration():
    with tempfile.TemporaryDirectory(prefix="webhook-") as temporary:
        file = Path(temporary) / "ingestd.yaml"
        file.write_text("gateway: {id: ward-3-box-1}\nperipherals: [{id: 1001}]\n" + block("yaml"))
        expect_equal(check(file, {"CREDENTIALS_DIRECTORY": ""}), (0, []), "check")


def has_a_true_example():
    headers, body = example()
    expect_valid(BODIES, json.loads(body))
    samples = (ROOT / "Tests/System/Webhook/records.ndjson").read_text().splitlines()
    if body.partition('"records":[')[2].removesuffix("]}") not in samples:
        raise Failure("its record is none of records.ndjson")
    expect_equal(headers["idempotency-key"], str(uuid.uuid5(NAMESPACE, body)), "the key")
    expect_equal(headers["webhook-id"], headers["idempotency-key"], "the id")


def has_python_that_verifies():
    headers, body = example()
    body, now = body.encode(), int(headers["webhook-timestamp"])
    check = verify()
    both = {**headers, "webhook-signature": f"v1a,x {headers['webhook-signature']}"}
    for good in (check(KEY, headers, body, now), check(KEY, headers, body, now + 300), check(KEY, both, body, now)):
        expect_equal(good, True, "verify")
    for bad in (check(KEY, headers, body + b" ", now), check(KEY, headers, body, now + 301),
                check(KEY, headers, body), check("whsec_" + "AAAA" * 8, headers, body, now),
                check(KEY, {**headers, "webhook-id": "other"}, body, now)):
        expect_equal(bad, False, "verify of what is not signed")


def has_commands_that_work():
    """A receiver with a key takes the signed request of the commands; one with another key refuses it."""
    body = example()[1]
    with tempfile.TemporaryDirectory(prefix="webhook-") as temporary:
        directory = Path(temporary)
        (directory / "body.json").write_text(body)
        commands = block("sh")
        answers = []
        for name, key in {"signing.key": KEY, "other.key": "whsec_" + "AAAA" * 8}.items():
            (directory / name).write_text(key + "\n")
            port = free_ports(1)[0]
            program = subprocess.Popen([INGESTD, "receive", "--json", "--port", str(port), "--signing-key", name],
                                       cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                wait_for_port(port, program)
                result = subprocess.run(
                    ["bash", "-euc", commands.replace("https://clinic.example/readings", f"http://127.0.0.1:{port}/")],
                    cwd=directory, env={**os.environ, "KEY": KEY}, capture_output=True, text=True, timeout=30,
                    check=True)
                answers.append(result.stdout.strip())
            finally:
                program.terminate()
                received = program.communicate(timeout=20)[0]
            if name == "signing.key" and json.loads(received)["record"] != json.loads(body)["records"][0]:
                raise Failure(f"received {received}")
    expect_equal(answers, ["200", "401"], "the answers")


CASES = {"document-configuration": has_a_good_configuration, "document-example": has_a_true_example,
         "document-python": has_python_that_verifies, "document-commands": has_commands_that_work}
