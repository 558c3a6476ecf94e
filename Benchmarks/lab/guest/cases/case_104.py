"""What a start takes until the gateway scans."""

import glob
import json
import statistics
import subprocess

from benchmarks import figures
from labkit.kinds import CUFF, THERMOMETER

TITLE = "start to scanning"
STARTS = 5


def run(lab):
    lab.gateway.configure(lab.add("cuff", CUFF), lab.add("thermometer", THERMOMETER))
    nothing = processor_ns_until(["/usr/bin/env", "echo", "{}"], lambda event: True)
    starts = [processor_ns_until(["/usr/bin/ingestd", "run", "--events", "stdout"],
                                 lambda event: event.get("INGEST_EVENT") == "adapter-ready") for _ in range(STARTS)]
    figures.note("start", nothing_ms=nothing / 1e6, first_ms=starts[0] / 1e6, cpu_ms=statistics.median(starts[1:]) / 1e6)


def processor_ns_until(command, awaited):
    """The processor time of a program until it has printed what is awaited, in nanoseconds.

    Under systemd the preparation of its sandbox would count, which is systemd's.
    """
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, close_fds=False,
                               env={"PATH": "/usr/bin", "STATE_DIRECTORY": "/var/lib/ingestd", "LIBDISPATCH_LOG": "NO",
                                    "RUNTIME_DIRECTORY": "/run"})
    try:
        for line in program.stdout:
            if awaited(json.loads(line)):
                break
        return sum(processor_ns(path) for path in glob.glob(f"/proc/{program.pid}/task/*/schedstat"))
    finally:
        program.terminate()
        program.wait()


def processor_ns(path):
    with open(path, encoding="utf-8") as file:
        return int(file.read().split()[0])
