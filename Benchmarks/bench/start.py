"""The start, to the moment in which the gateway listens."""

import statistics
import time

from bench import gateway
from bench.measuring import ROUNDS, Row, workspace


def processor_time(pid):
    """Milliseconds that the threads of a process have run (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2) * 1000


def started():
    with workspace() as directory:
        gateway.configure(directory, gateway.free_port())
        process = gateway.start(directory)
        try:
            gateway.until(process, directory, "adapter-ready")
            return processor_time(process.pid)
        finally:
            gateway.stop(process)


def rows():
    yield Row("start to listening, CPU ms", statistics.median(started() for _ in range(ROUNDS)), "at most 100")
