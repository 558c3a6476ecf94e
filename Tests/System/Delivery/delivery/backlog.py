"""New readings while a backlog of some thousand records goes to a slow backend, by each order of delivery."""

import time

from kit.backlog import fill
from kit.gateway import NOBODY, Failure, Gateway, expect_equal

from . import behaviours as do
from .cases import READINGS
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


def run(world):
    servers = {order: do.Backend(slowly) for order in ("fresh", "strict")}
    batch = {"max_records": MAX_RECORDS, "max_wait": "0s"}
    destinations = {order: {"url": f"http://127.0.0.1:{server.port}/", "order": order, "batch": batch}
                    for order, server in servers.items()}
    first = Gateway(world.directory, "backlog", destinations, peripherals=[NOBODY])
    first.wait(None, "started")
    first.stop()
    backlog = fill(first.state / "queue.db", RECORDS)
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
