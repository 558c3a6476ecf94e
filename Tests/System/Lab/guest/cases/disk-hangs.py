"""A disk that hangs: with the file system frozen, a write neither succeeds nor fails."""

import json
import time

from labkit import disk
from labkit.commands import run as command
from labkit.kinds import CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal, hold_for, wait_until

TITLE = "a disk that hangs for 90 s: told after 60 s, the link is let go, the status answers, reading goes on by itself"
PROVE_ONLY = True
LIMIT_S = 400
HANG_S = 90
# 60 s, on a guest that has little of its host's processors.
TOLD_LIMIT_S = 120
# 2 s, and the start of the command.
STATUS_LIMIT_S = 15


def run(lab):
    cuff = lab.add("cuff-at-hang", CUFF)
    lab.gateway.start(cuff)
    cuff.hold()
    payload = blood_pressure((123, 0), (81, 0), (95, 0), DateTime(2024, 3, 2, 8, 0, 0))
    cuff.give(payload)
    cuff.wait_subscribed()
    with disk.frozen():
        frozen = time.monotonic()
        cuff.hold(False)
        cuff.wait_indicated(1)
        disk.wait_blocked(lab.gateway)
        lab.journal.wait("store-error", seconds=TOLD_LIMIT_S)
        told = time.monotonic() - frozen
        cuff.wait_link_ended(1)
        began = time.monotonic()
        # It is not healthy: 1.
        status = json.loads(command("sh", "-c", "ingestd status --json || [ $? = 1 ]", limit=STATUS_LIMIT_S))
        answered = time.monotonic() - began
        expect(any("the disk does not answer" in problem for problem in status["problems"]), "the status says so")
        hold_for("nothing is confirmed", max(1, HANG_S - (time.monotonic() - frozen)), lambda: not cuff.given)
        expect_equal(len(cuff.links), 1, "links while the disk hangs")
    cuff.wait_given()
    record, = lab.receiver.wait(cuff)
    # What the frozen commit wrote in the end comes again, under the same name.
    wait_until("both times are told", 60,
               lambda: lab.journal.names(cuff).count("read") + lab.journal.names(cuff).count("duplicate-ignored") == 2)
    expect_equal(len(lab.journal.events("store-error")), 1, "store-errors")
    expect(record["id"], "it has a name")
    return f"told after {told:.0f} s, status within {answered:.1f} s"
