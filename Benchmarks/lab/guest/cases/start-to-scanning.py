"""What a start takes until the gateway scans."""

import json
import statistics
import subprocess
import time

from benchmarks import figures
from labkit.kinds import CUFF, THERMOMETER

TITLE = "start to scanning"
STARTS = 5


def run(lab):
    lab.gateway.configure(lab.add("cuff", CUFF), lab.add("thermometer", THERMOMETER))
    starts = [start_ms() for _ in range(STARTS)]
    figures.note("start", first_ms=starts[0], cpu_ms=statistics.median(starts[1:]))


def start_ms():
    """The processor time of all threads from the fork until it listens, in milliseconds.

    Under systemd the preparation of its sandbox would count, which is systemd's.
    """
    program = subprocess.Popen(["/usr/bin/ingestd", "run", "--events", "stdout"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, close_fds=False,
                               env={"PATH": "/usr/bin", "STATE_DIRECTORY": "/var/lib/ingestd", "LIBDISPATCH_LOG": "NO",
                                    "RUNTIME_DIRECTORY": "/run"})
    try:
        for line in program.stdout:
            if json.loads(line).get("INGEST_EVENT") == "adapter-ready":
                break
        # clock_getcpuclockid(3)
        return time.clock_gettime((~program.pid << 3) | 2) * 1000
    finally:
        program.terminate()
        program.wait()
