"""New readings while a backlog of some thousand records goes to a slow backend, by each order of delivery."""

import hashlib
import json
import sqlite3
import time
import uuid

from . import behaviours as do
from .cases import READINGS, expect_equal
from .gateway import NOBODY, Failure, Gateway
from .proof import nothing_lost, read_tags

RECORDS = 3000
# With this pause before each answer the backlog takes 23 s, and longer than the readings do.
MAX_RECORDS, PAUSE_S = 40, 0.3
PROMPT_S = 5


def slowly(server, connection):
    while request := server.read_request(connection):
        time.sleep(PAUSE_S)
        request.is_taken = True
        connection.sendall(do.OK)


def fill(path, count=RECORDS):
    """Writes records into the queue as a gateway that was offline for long would have left them; their ids."""
    ids = [str(uuid.uuid5(uuid.NAMESPACE_URL, f"backlog-{number}")) for number in range(count)]
    payload = bytes.fromhex("006c0100ff")
    database = sqlite3.connect(path)
    with database:
        first = database.execute("SELECT value FROM counter WHERE name = 'position'").fetchone()[0] + 1
        for position, name in enumerate(ids, first):
            body = json.dumps({
                "version": 1, "id": name, "kind": "body-temperature", "stage": "live",
                "time": {"value": "2026-11-20T09:15:00+00:00", "source": "device", "received": "2026-11-20T09:15:04Z"},
                "measurements": [{"type": "body-temperature", "value": 36.4, "unit": "Cel"}],
                "device": {"peripheral_id": 1002, "address": "C0:00:00:00:00:01"}, "gateway": "delivery-box"})
            text = [name.encode(), b"body-temperature", payload, body.encode()]
            checksum = hashlib.sha256(b"\0".join(text)).digest()
            database.execute(
                "INSERT INTO record (id, kind, peripheral_id, address, characteristic, payload, body, frozen, "
                "position, available_ns, committed_ns, checksum) VALUES (?, ?, 1002, ?, '2A1C', ?, ?, 1, ?, 0, 0, ?)",
                (name, "body-temperature", "C0:00:00:00:00:01", payload, body, position, checksum[:16]))
        database.execute("UPDATE counter SET value = ? WHERE name = 'position'", (first + count - 1,))
    database.close()
    return ids


def run(world):
    servers = {order: do.Backend(slowly) for order in ("fresh", "strict")}
    batch = {"max_records": MAX_RECORDS, "max_wait": "0s"}
    destinations = {order: {"url": f"http://127.0.0.1:{server.port}/", "order": order, "batch": batch}
                    for order, server in servers.items()}
    first = Gateway(world.directory, "backlog", destinations, peripherals=[NOBODY])
    first.wait(None, "started")
    first.stop()
    backlog = fill(first.state / "queue.db")
    gateway = Gateway(world.directory, "backlog", destinations)
    try:
        for order in servers:
            gateway.wait(order, "submitted", 100, count=RECORDS + READINGS)
    finally:
        status = gateway.stop()
    expect_equal(status, 0, "the exit status")
    new = read_tags(gateway)
    backlog = gateway.tags(backlog)
    expect_equal(len(new), READINGS, "new readings")
    orders = {}
    for order, server in servers.items():
        submitted = [event["INGEST_RECORD_ID"] for event in gateway.of(order, "submitted")]
        nothing_lost(gateway, server, submitted, backlog + new)
        orders[order] = gateway.tags(name for request in server.taken() for name in request.ids)
    expect_equal(orders["strict"] == backlog + new, True, "strict is first in, first out")
    expect_equal([name for name in orders["fresh"] if name not in new] == backlog, True, "the backlog keeps its order")
    if orders["fresh"][-1] != backlog[-1]:
        raise Failure("the backlog was through before the last new reading came")
    reads = {event["INGEST_RECORD_ID"]: event["at"] for event in gateway.events if event["INGEST_EVENT"] == "read"}
    for request in servers["fresh"].taken():
        for name in reads.keys() & gateway.tags(request.ids):
            delay = request.at + PAUSE_S - reads[name]
            if delay > PROMPT_S:
                raise Failure(f"a new reading took {delay:.1f} s")
