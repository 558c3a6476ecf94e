"""Links, reloads and clients without number, while the gateway reads and delivers."""

import json
import os
import random
import signal
import socket
import subprocess

from kit.gateway import NOBODY, Failure

from .box import SEED, box

LINKS = int(os.environ.get("LINKS", "4000"))
RELOADS = int(os.environ.get("RELOADS", "2500"))
CLIENTS = int(os.environ.get("CLIENTS", "10000"))
# More than the control socket takes at a time.
MOST_OPEN = 200


def links():
    with box() as home:
        def many():
            home.told.wait("disconnected", LINKS, seconds=LINKS)
            return f"{home.told.counts['disconnected']} links"
        home.watch(many)


def reloads():
    with box() as home:
        file = home.gateway.file
        one = json.loads(file.read_text())
        other = json.loads(file.read_text())
        other["peripherals"].append(NOBODY)
        other["passive"]["cooldown"] = "10ms"
        wrong = {**one, "peripherals": [{"id": 0}]}

        def many():
            for number in range(1, RELOADS + 1):
                chosen, event = (one, other)[number % 2], "config-reloaded"
                if number % 50 == 0:
                    chosen, event = wrong, "config-rejected"
                before = home.told.count(event)
                file.write_text(json.dumps(chosen))
                home.process.send_signal(signal.SIGHUP)
                home.told.wait(event, before + 1)
            file.write_text(json.dumps(one))
            return f"{RELOADS} reloads"
        home.watch(many)


def request(line, *headers, body=b""):
    return "\r\n".join([line, "Host: ingestd", *headers, "", ""]).encode() + body


def long_body(text):
    return request("POST /v1/entries HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(text)}",
                   body=text)


# What is sent, and whether the connection then stays open, with nothing read of the answer.
MANNERS = {
    "nothing": (lambda _: b"", True),
    "nothing, and leaves": (lambda _: b"", False),
    "half a line": (lambda _: b"GET /v1/sta", True),
    "bytes that mean nothing": (lambda choice: choice.randbytes(4096), True),
    "a head without end": (lambda _: request("GET /v1/status HTTP/1.1") [:-2] + b"A: b\r\n" * 12_000, True),
    "a body that never comes": (lambda _: request("POST /v1/entries HTTP/1.1", "Content-Length: 1000000"), True),
    "a body of an exabyte": (lambda _: request("POST /v1/entries HTTP/1.1", f"Content-Length: {10 ** 18}"), True),
    "a length that is no number": (lambda _: request("POST /v1/entries HTTP/1.1", "Content-Length: -1"), True),
    "a chunk without end": (lambda _: request("POST /v1/entries HTTP/1.1", "Transfer-Encoding: chunked",
                                              body=b"fffffffffffffff\r\n" + bytes(9_000)), True),
    "a body that nests": (lambda _: long_body(b"[" * 50_000), False),
    "an entry of another shape": (lambda _: long_body(b'{"entries":[{"kind":7}]}'), False),
    "an answer that nobody reads": (lambda _: request("GET /v1/status HTTP/1.1") * 50, True),
    "a path that is not there": (lambda choice: request(f"GET /{choice.getrandbits(64)} HTTP/1.1"), False),
    "another method": (lambda _: request("BREW /v1/status HTTP/1.1"), False),
    "a question": (lambda _: request("GET /v1/status HTTP/1.1"), False),
}


def ask(home):
    """What an operator's command is answered meanwhile."""
    result = subprocess.run(
        [os.environ["INGESTD"], "status", "--json", "--config", str(home.gateway.file)], capture_output=True, timeout=30,
        text=True, check=False, env={**os.environ, "STATE_DIRECTORY": str(home.gateway.state)})
    if result.returncode > 1:
        raise Failure(f"status: {result.returncode} {result.stderr}")


def clients():
    choice = random.Random(SEED)
    with box() as home:
        path = str(home.gateway.state / "control.sock")

        def many():
            opened, answered = [], 0
            for number in range(CLIENTS):
                data, stays = MANNERS[choice.choice(list(MANNERS))]
                client = socket.socket(socket.AF_UNIX)
                client.connect(path)
                client.settimeout(10)
                try:
                    client.sendall(data(choice))
                except OSError:
                    # It was ended at the first wrong byte.
                    pass
                opened.append(client)
                if not stays or len(opened) > MOST_OPEN:
                    opened.pop(choice.randrange(len(opened)) if stays else -1).close()
                if number % 250 == 0:
                    before = home.told.count("submitted")
                    ask(home)
                    answered += 1
                    home.told.wait("submitted", before + 1)
            for client in opened:
                client.close()
            return f"{CLIENTS} clients, {answered} commands answered in time"
        home.watch(many)
