"""The gateway as a process, with a queue of so many records that wait for one destination."""

import hashlib
import json
import os
import socket
import sqlite3
import subprocess
import time
import uuid

from bench.measuring import INGESTD


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def environment(directory):
    return {**os.environ, "STATE_DIRECTORY": str(directory), "RUNTIME_DIRECTORY": str(directory)}


def configure(directory, port):
    """Writes a configuration with the defaults, and a webhook."""
    path = directory / "ingestd.yaml"
    path.write_text(json.dumps({
        "gateway": {"id": "box", "trust_clock": True}, "queue": {"max_size": "100GiB"},
        # None that the simulation has: nothing is read.
        "peripherals": [{"id": 1002, "address": "C0:00:00:00:00:0F"}],
        "destinations": [{"name": "receiver", "type": "webhook", "url": f"http://127.0.0.1:{port}/"}]}))
    return path


def start(directory):
    """The gateway on simulated peripherals; its events are in `events` of the directory."""
    with open(directory / "events", "w") as events:
        return subprocess.Popen(
            [f"{INGESTD}-simulated", "run", "--config", directory / "ingestd.yaml", "--radio", "simulated", "--events", "stdout"],
            stdout=events, stderr=subprocess.DEVNULL, env=environment(directory))


def until(process, directory, name, limit_s=300):
    """Waits for an event of this name."""
    end = time.monotonic() + limit_s
    text = f'"INGEST_EVENT":"{name}"'
    while text not in (directory / "events").read_text():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"benchmarks: the gateway ended, or was not at {name} after {limit_s} s")
        time.sleep(0.001)


def stop(process):
    process.terminate()
    process.wait(timeout=60)


def checksum(row):
    """As RecordRow.checksum."""
    text = b"".join(part + b"\0" for part in (row["id"].encode(), row["kind"].encode(), row["payload"]))
    text += row["body"].encode()
    for part in (str(row["peripheral_id"]), row["alias"], row["destinations"]):
        text += b"\0" + (b"\0" if part is None else b"\1" + part.encode())
    return hashlib.sha256(text).digest()[:20]


def fill(directory, count):
    """Makes the queue, with one record that the gateway took and copies of it under ids of their own, all released.

    Returns what the destination is to get, a line each, of the first thousand."""
    subprocess.run(
        [INGESTD, "submit", "--config", directory / "ingestd.yaml", "blood-pressure", "120/80", "--pulse", "64",
         "--time", "2026-11-01T09:15:00", "--subject", "patient-17"],
        stdout=subprocess.DEVNULL, env=environment(directory), check=True)
    database = sqlite3.connect(directory / "queue.db")
    # It is filled anew if this is interrupted.
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1500000"):
        database.execute(f"PRAGMA {pragma}")
    database.row_factory = sqlite3.Row
    first = dict(database.execute("SELECT * FROM record").fetchone())
    # As if an earlier run had taken it: it is backlog.
    first |= {"boot_id": None, "received_ns": None}
    columns = [name for name in first if name != "seq"]
    bodies = []

    def copies():
        for number in range(1, count + 1):
            row = {**first, "id": str(uuid.uuid4()), "position": number}
            row["body"] = first["body"].replace(first["id"], row["id"])
            row["checksum"] = checksum(row)
            if number <= 1000:
                bodies.append(row["body"])
            yield [row[name] for name in columns]

    database.execute("DELETE FROM record")
    database.execute("DELETE FROM outbox")
    marks = ", ".join("?" * len(columns))
    database.executemany(f"INSERT INTO record ({', '.join(columns)}) VALUES ({marks})", copies())
    database.execute("UPDATE counter SET value = ? WHERE name = 'position'", [count])
    database.commit()
    database.close()
    return bodies
