"""A controller that stops answering for good, until it is plugged in anew."""

import json

from labkit.commands import run as command
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "a controller that stops answering is switched off and on, which is told, and what to do when that does not help"
PROVE_ONLY = True
LIMIT_S = 600
# 150 s without an advert until the scan is begun anew, a minute between two tries, and the kernel's time-outs.
RESETS_LIMIT_S = 400
TRIES = 3


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer)
    thermometer.give(temperature(361, -1))
    lab.journal.wait("submitted", thermometer)
    lab.air.play_dead()
    reset, = lab.journal.wait("adapter-reset", count=TRIES, seconds=RESETS_LIMIT_S)[:1]
    wait_until("the status says that nothing helps", 60, lambda: adapter()["beyond_help"])
    told = command("ingestd", "status", check=False)
    expect("unplug it and plug it in again" in told, f"the status: {told}")
    lab.air.unplug()
    lab.air.plug()
    wait_until("the new one listens", 60, lambda: adapter()["listening"])
    thermometer.give(temperature(362, -1))
    lab.journal.wait("submitted", thermometer, count=2)
    expect_equal((adapter()["resets"], adapter()["beyond_help"]), (0, False), "the status of the new one")
    return reset["INGEST_ERROR"]


def adapter():
    adapters = json.loads(command("ingestd", "status", "--json", check=False))["adapters"]
    return adapters[0] if adapters else {"listening": False, "beyond_help": False}
