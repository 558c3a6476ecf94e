"""Whatever a backend does, it is told, nothing is lost, nothing counts twice, and delivery goes on once it behaves.

One gateway delivers to all of them at once, three readings while they misbehave and three more once they are well.
"""

import math
import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait

from kit.gateway import Failure, Gateway, expect_equal

from . import behaviours
from .cases import READINGS
from .misbehaviours import misbehaviours

CUFF = {"id": 1001, "address": "C0:00:00:00:00:02"}
# From a reading to its arrival where the backend behaves, in seconds: the link ends first. Others hang for 30 s.
PROMPT_S = 10
# What the process may hold at most, in KiB: far less than what is thrown at it.
MEMORY_KIB = 128 * 1024


def query(gateway, sql, *arguments):
    """Rows of the gateway's queue, read beside it."""
    database = sqlite3.connect(f"file:{gateway.state}/queue.db?mode=ro", uri=True, timeout=10)
    try:
        return database.execute(sql, arguments).fetchall()
    finally:
        database.close()


def state(gateway, destination):
    return query(gateway, "SELECT state FROM destination WHERE name = ?", destination)[0][0]


def read_tags(gateway):
    return [event["INGEST_RECORD_ID"] for event in list(gateway.events) if event["INGEST_EVENT"] == "read"]


def nothing_lost(gateway, server, submitted, expected):
    """Each record was counted once, and told once; what was sent again was the same request. Both are tags."""
    taken = server.taken()
    counted = gateway.tags(id for request in taken for id in request.ids)
    expect_equal(sorted(counted), sorted(expected), "records that were counted")
    expect_equal(sorted(submitted), sorted(expected), "records told as submitted")
    for request in list(server.requests):
        others = [other.body for other in taken if other.key == request.key]
        if others and others != [request.body]:
            raise Failure(f"the request with key {request.key} has changed")


def nothing_split(gateway, server, known):
    """Every request that was refused came again as it was: none of its records went out under another key, but for
    those with these tags."""
    keys = {request.key for request in server.taken()}
    for request in list(server.requests):
        if request.key not in keys and not known.issuperset(gateway.tags(request.ids)):
            raise Failure(f"the request with key {request.key} did not come again")


class Proof:
    def __init__(self, world):
        self.world = world
        self.elsewhere = behaviours.Backend(behaviours.takes)
        self.cases = misbehaviours(world, f"http://127.0.0.1:{self.elsewhere.port}/")
        self.servers = {case.name: behaviours.Backend(case.behave, **case.options) for case in self.cases}
        self.control = behaviours.Backend(behaviours.takes)
        self.gateway = None

    def destinations(self):
        found = {"behaves": {"url": f"http://127.0.0.1:{self.control.port}/"}}
        for case in self.cases:
            scheme = "https" if self.servers[case.name].tls[True] else "http"
            found[case.name] = {"url": f"{scheme}://localhost:{self.servers[case.name].port}/", **case.keys}
        return found

    # While it misbehaves

    def misbehaves(self, case):
        """The event, the state, and that nothing is taken for delivered that was not."""
        gateway = self.gateway
        event = gateway.wait(case.name, case.event, case.seconds)[0]
        expect_equal((event.get("INGEST_HTTP_STATUS"), event.get("INGEST_ERROR")), (case.status, case.error),
                     "status and error")
        if case.event == "destination-down":
            first = gateway.wait(case.name, "retrying")[0]
            expect_equal((first.get("INGEST_HTTP_STATUS"), first.get("INGEST_ERROR"), first["INGEST_ATTEMPT"]),
                         (case.status, case.error, "1"), "retrying")
        expect_equal(state(gateway, case.name), case.state, "the state")
        if case.event != "submitted":
            expect_equal(gateway.of(case.name, "submitted"), [], "submitted")

    def misbehaved(self, case, told):
        """What holds of the whole time, also while others were waited for."""
        told.result()
        changes = [event["INGEST_EVENT"] for event in list(self.gateway.events)
                   if event.get("INGEST_DESTINATION") == case.name and event["INGEST_EVENT"] in
                   ("destination-down", "destination-up", "auth-rejected", "destination-misconfigured")]
        expect_equal(changes, [case.event] if case.changes_state else [], "changes of the state")
        times = [request.at for request in list(self.servers[case.name].requests)]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        least, most = case.gap
        if any(gap < least for gap in gaps):
            raise Failure(f"asked again after {min(gaps):.1f} s instead of {least}")
        if case.name == "413-for-two" and all(len(ids) == 1 for ids in self.servers[case.name].asked()):
            raise Failure("no batch was halved")
        if most < math.inf and (not gaps or gaps[0] > most):
            raise Failure(f"asked again after {gaps[:1]} s instead of {most}")

    # Once it is well

    def recovers(self, case, before):
        """All is delivered, what was kept and what came later; what was refused for good is kept."""
        before.result()
        gateway, server = self.gateway, self.servers[case.name]
        failed = [event["INGEST_RECORD_ID"] for event in gateway.of(case.name, "failed")]
        expect_equal(len(failed), READINGS if case.event == "failed" else 0, "records set aside")
        gateway.wait(case.name, "submitted", 60, count=2 * READINGS - len(failed))
        submitted = [event["INGEST_RECORD_ID"] for event in gateway.of(case.name, "submitted")]
        nothing_lost(gateway, server, submitted, set(read_tags(gateway)) - set(failed))
        nothing_split(gateway, server, set(failed) | (set(submitted) if case.name.startswith("413") else set()))
        expect_equal(len(gateway.of(case.name, "destination-up")), int(case.changes_state), "destination-up")
        expect_equal(state(gateway, case.name), "up", "the state")
        kept = query(gateway, "SELECT record.id FROM dead_letter JOIN record ON record.seq = record_seq "
                              "WHERE destination = ?", case.name)
        expect_equal(sorted(gateway.tags(id for (id,) in kept)), sorted(failed), "what was set aside and kept")
        left = query(gateway, "SELECT count(*) FROM batch WHERE destination = ?", case.name)
        expect_equal(left, [(0,)], "batches left")

    # Of all together

    def delays_nobody(self):
        """The one that behaves has each reading at once, whatever the others do."""
        arrivals = {tag: request.at for request in self.control.taken() for tag in self.gateway.tags(request.ids)}
        for event in list(self.gateway.events):
            if event["INGEST_EVENT"] == "read":
                delay = arrivals[event["INGEST_RECORD_ID"]] - event["at"]
                if delay > PROMPT_S:
                    raise Failure(f"a reading took {delay:.1f} s")
        expect_equal(len(arrivals), 2 * READINGS, "readings at the one that behaves")

    def follows_no_redirect(self):
        expect_equal(self.elsewhere.connections, 0, "connections to where a redirect points")

    def has_no_gaps(self):
        numbers = [int(event["INGEST_SEQ"]) for event in list(self.gateway.events) if "INGEST_SEQ" in event]
        expect_equal(numbers, list(range(1, len(numbers) + 1)), "the numbers of the events")

    def is_bounded(self, peak):
        if peak > MEMORY_KIB:
            raise Failure(f"the gateway held {peak} KiB")

    def run(self, note):
        """Tells the outcome of each case, and of what holds for all, with `note`."""
        self.gateway = Gateway(self.world.directory, "proof", self.destinations())
        with ThreadPoolExecutor(len(self.cases)) as pool:
            first = [pool.submit(self.misbehaves, case) for case in self.cases]
            wait(first)
            held = [pool.submit(self.misbehaved, case, told) for case, told in zip(self.cases, first)]
            wait(held)
            for server in self.servers.values():
                server.recover()
            self.gateway.also_reads(CUFF)
            ends = [pool.submit(note, case.name, self.recovers, case, before)
                    for case, before in zip(self.cases, held)]
            # Ends the waits, which have grown by now.
            while wait(ends, timeout=1).not_done:
                self.gateway.reload()
        peak = self.gateway.peak_memory()
        note("delays-nobody", self.delays_nobody)
        note("follows-no-redirect", self.follows_no_redirect)
        note("events-without-gaps", self.has_no_gaps)
        note("memory-is-bounded", self.is_bounded, peak)
        note("ends", lambda: expect_equal(self.gateway.stop(), 0, "the exit status"))
