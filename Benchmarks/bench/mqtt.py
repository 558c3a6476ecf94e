"""Delivery of a backlog to a broker with one subscriber, beside mosquitto_pub with the same payloads."""

import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

from bench import gateway
from bench.measuring import Row, beside, undisturbed, workspace

RECORDS = 20_000
TOPIC = "ingestd/box/blood-pressure"
LIMIT_S = 300
# What waits for the subscriber is not dropped; all else as mosquitto has it.
BROKER = "listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n"


@contextmanager
def broker(directory, port):
    """A broker and its subscriber, which gives the time of each message."""
    (directory / "mosquitto.conf").write_text(BROKER.format(port=port))
    processes = [subprocess.Popen(["/usr/sbin/mosquitto", "-c", directory / "mosquitto.conf"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    try:
        until(lambda: listens(port), "the broker listens")
        with open(directory / "times", "w") as times:
            processes.append(subprocess.Popen(
                ["/usr/bin/mosquitto_sub", "-p", str(port), "-V", "5", "-q", "1", "-t", TOPIC, "-t", "ready", "-F", "%U"],
                stdout=times))
        while lines(directory) == 0:
            subprocess.run(["/usr/bin/mosquitto_pub", "-p", str(port), "-t", "ready", "-m", "x"], check=True)
        yield
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(is_so, what):
    end = time.monotonic() + LIMIT_S
    while not is_so():
        if time.monotonic() > end:
            raise SystemExit(f"benchmarks: {what}: not within {LIMIT_S} s")
        time.sleep(0.05)


def lines(directory):
    return (directory / "times").read_bytes().count(b"\n")


def rate(directory, ready):
    """Messages a second from the first that came after those that only asked, to the last."""
    until(lambda: lines(directory) >= ready + RECORDS, "all have come")
    times = [float(line) for line in (directory / "times").read_text().split()[ready:]]
    return (len(times) - 1) / (times[-1] - times[0])


def ours(filled, port):
    with workspace() as directory, broker(directory, port):
        shutil.copyfile(filled / "queue.db", directory / "queue.db")
        configure(directory, port)
        ready = lines(directory)
        process = gateway.start(directory)
        try:
            return rate(directory, ready)
        finally:
            gateway.stop(process)


def mosquitto_pub(filled, port):
    with workspace() as directory, broker(directory, port), open(filled / "messages") as messages:
        ready = lines(directory)
        with subprocess.Popen(["/usr/bin/mosquitto_pub", "-p", str(port), "-V", "5", "-q", "1", "-t", TOPIC, "-l"],
                              stdin=messages):
            return rate(directory, ready)


def configure(directory, port):
    path = gateway.configure(directory, port)
    settings = json.loads(path.read_text())
    settings["destinations"] = [{"name": "receiver", "type": "mqtt", "url": f"mqtt://127.0.0.1:{port}"}]
    path.write_text(json.dumps(settings))


def rows():
    port = gateway.free_port()
    with workspace() as filled:
        configure(filled, port)
        bodies = gateway.fill(filled, RECORDS)
        (filled / "messages").write_text("".join(body + "\n" for body in (bodies * (RECORDS // len(bodies)))))
        with undisturbed():
            medians = beside(lambda: ours(filled, port), {"pub": lambda: mosquitto_pub(filled, port)})
    yield Row("delivery of a backlog by MQTT, records a second", medians["ours"], "at least 0.5", medians["pub"],
              "mosquitto_pub -l")
