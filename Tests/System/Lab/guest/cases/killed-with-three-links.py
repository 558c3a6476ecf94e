"""Killed while three devices wait for their confirmations."""

from labkit.kinds import CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect_equal, wait_until

TITLE = "killed in the middle of three links: each reading is given again, and is one record"
LIMIT_S = 300
PROVE_ONLY = True
RESTARTS = 1
LINKS = 3


def run(lab):
    cuffs = [lab.add(f"cuff-{number}", CUFF) for number in range(1, LINKS + 1)]
    lab.gateway.start(*cuffs)
    for number, cuff in enumerate(cuffs):
        cuff.hold()
        cuff.give(blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2026, 11, 3, 8, number, 0)))
    wait_until("all are subscribed to at once", 60,
               lambda: all(cuff.report()["subscribed"] for cuff in cuffs))
    for cuff in cuffs:
        cuff.hold(False)
    pid = lab.gateway.kill()
    lab.gateway.wait_restarted(pid)
    for cuff in cuffs:
        cuff.wait_given()
        record, = lab.receiver.wait(cuff)
        expect_equal(record["raw"]["hex"], cuff.given[0][1], f"the reading of {cuff.name}")
