"""A controller that makes two links at a time, where the configuration allows three."""

import json

from labkit.commands import run as command
from labkit.kinds import CUFF, STRAP
from labkit.payloads import DateTime, blood_pressure, heart_rate
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "a controller that refuses the third link is asked for two, which the status says; nothing fails, and all are read"
SHOWN_BY_UNITS = True
LIMIT_S = 300
LINKS = 2


def run(lab):
    straps = [lab.add(f"strap-{number}", STRAP) for number in range(1, LINKS + 1)]
    cuff = lab.add("cuff", CUFF)
    lab.air.most_links(LINKS)
    lab.gateway.start(*straps, cuff, passive={"stream_interval": "5s"})
    expect_equal(links(), 3, "links before the refusal")
    for strap in straps:
        strap.linger()
        strap.give(heart_rate(70, 830))
        wait_records(lab, strap, 1)

    cuff.give(blood_pressure((121, 0), (80, 0), (93, 0), DateTime(2026, 11, 3, 8, 0, 0)))
    cuff.wait_given()
    lab.receiver.wait(cuff)
    expect_equal(links(), LINKS, "links after the refusal")
    told = command("ingestd", "status", check=False)
    expect("2 links at a time" in told, f"the status: {told}")
    for strap in straps:
        wait_records(lab, strap, len(lab.receiver.records(strap)) + 2)
    expect_equal(lab.journal.events("read-failed"), [], "failures")


def wait_records(lab, strap, count):
    wait_until("the strap streams", 60, lambda: len(lab.receiver.records(strap)) >= count)


def links():
    status = json.loads(command("ingestd", "status", "--json", check=False))
    return status["adapters"][0]["links"]
