"""The gateway is stopped, or killed, with requests and waits of every kind under way, and starts again."""

import time

from kit.gateway import NOBODY, Failure, Gateway, expect_equal

from . import behaviours as do
from .cases import READINGS
from .proof import nothing_lost, nothing_split, query, read_tags, state

# What the service says in its unit is more (TimeoutStopSec=).
BOUND_S = 10


def backends():
    """What each is doing when the gateway ends: its behaviour, its options, and the event that comes before."""
    hangs = do.says(b"", then_closes=False)
    return {
        "in-request": (do.Backend(hangs), None),
        "in-header": (do.Backend(do.says(b"HTTP/1.1 200 OK\r\nX-", then_closes=False)), None),
        # The status has come: the records are taken, or come again under their key.
        "in-body": (do.Backend(do.says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", True, False)), None),
        "in-connection": (do.Backend(do.takes, is_full=True), None),
        "in-back-off": (do.Backend(do.answers("503 Later", "Retry-After: 7200")), "retrying"),
        "in-pause": (do.Backend(do.answers("401 Unauthorized")), "auth-rejected"),
    }


def submitted(key, *gateways):
    """The records told as submitted. An event that is told again, because of a crash, has the same number."""
    events = [event for gateway in gateways for event in gateway.of(key, "submitted")]
    return list({event["INGEST_SEQ"]: event["INGEST_RECORD_ID"] for event in events}.values())


def ends(world, name, is_killed):
    made = backends()
    servers = {key: server for key, (server, _) in made.items()}
    told = {key: event for key, (_, event) in made.items() if event}
    destinations = {key: {"url": f"http://127.0.0.1:{server.port}/"} for key, server in servers.items()}
    gateway = Gateway(world.directory, name, destinations)
    for key, event in told.items():
        gateway.wait(key, event)
    gateway.wait(None, "read", count=READINGS)
    if not servers["in-request"].requests:
        raise Failure("no request is under way")
    before = {key: list(server.requests) for key, server in servers.items()}
    start = time.monotonic()
    if is_killed:
        gateway.kill()
    else:
        expect_equal(gateway.stop(), 0, "the exit status")
    if time.monotonic() - start > BOUND_S:
        raise Failure(f"took {time.monotonic() - start:.0f} s to end")
    for server in servers.values():
        server.recover()
    expect_equal([state(gateway, key) for key in ("in-request", "in-back-off", "in-pause")],
                 ["up", "down", "auth-rejected"], "the states that are kept")

    # The same queue, and no new reading.
    again = Gateway(world.directory, name, destinations, peripherals=[NOBODY])
    records = read_tags(gateway)
    try:
        for key, server in servers.items():
            again.until(lambda key=key: query(again, "SELECT delivered FROM destination WHERE name = ?", key)
                        == [(READINGS,)], f"{key} has everything")
            again.until(lambda key=key: len(submitted(key, gateway, again)) >= READINGS, f"{key} is told of everything")
            nothing_lost(again, server, submitted(key, gateway, again), records)
            nothing_split(again, server, set())
            for request in before[key]:
                if (request.key, request.body) not in [(other.key, other.body) for other in server.taken()]:
                    raise Failure(f"{key}: another request instead of the one that was under way")
            expect_equal(state(again, key), "up", f"the state of {key}")
    finally:
        status = again.stop()
    expect_equal(status, 0, "the exit status")


def stops(world):
    ends(world, "stopped", is_killed=False)


def is_killed(world):
    ends(world, "killed", is_killed=True)
