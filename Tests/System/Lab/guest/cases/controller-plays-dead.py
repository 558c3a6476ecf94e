"""A controller that stops answering, and answers again once it is reset."""

import json

from labkit.commands import run as command
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal

TITLE = "a controller that stops answering is switched off and on, which is told; then it reads on"
PROVE_ONLY = True
LIMIT_S = 500
# 150 s without an advert until the scan is begun anew, and the kernel's time-outs.
RESET_LIMIT_S = 240


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(thermometer)
    thermometer.give(temperature(361, -1))
    lab.journal.wait("submitted", thermometer)
    lab.air.play_dead()
    reset, = lab.journal.wait("adapter-reset", seconds=RESET_LIMIT_S)
    lab.journal.wait("adapter-ready", count=2)
    thermometer.give(temperature(362, -1))
    lab.journal.wait("submitted", thermometer, count=2)
    adapter, = json.loads(command("ingestd", "status", "--json", check=False))["adapters"]
    expect_equal((adapter["resets"], adapter["beyond_help"]), (1, False), "the status")
    return reset["INGEST_ERROR"]
