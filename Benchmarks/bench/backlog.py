"""A long backlog beside a short one: the start, the memory, the delivery, and commits to the queue."""

import os
import statistics
import subprocess
import time

from bench import gateway
from bench.measuring import QUEUE_BENCHMARK, Row, beside, undisturbed, workspace
from bench.receiver import rate, receiver, wait_for

LONG = int(os.environ.get("BACKLOG") or 10_000_000)
SHORT = 1000
BATCH = 100
COMMITS = 300


class Backlog:
    """A queue of so many records, in a directory of its own."""

    def __init__(self, directory, count, port):
        directory.mkdir()
        self.directory, self.count, self.port = directory, count, port
        gateway.configure(directory, port)
        self.fill()

    def fill(self):
        gateway.fill(self.directory, self.count)

    def refill(self):
        """Of the long one a round delivers little; the short one is made anew."""
        if self.count == SHORT:
            for file in self.directory.glob("queue.db*"):
                file.unlink()
            self.fill()

    def start(self):
        """Milliseconds to the moment in which it listens; there is nobody to deliver to."""
        began = time.monotonic()
        process = gateway.start(self.directory)
        try:
            gateway.until(process, self.directory, "adapter-ready")
            return (time.monotonic() - began) * 1000
        finally:
            gateway.stop(process)

    def deliver(self):
        """Records a second, from the first of ten requests to the last, and the MiB that the process has for itself
        after them."""
        self.refill()
        with receiver(self.directory, self.port) as requests:
            process = gateway.start(self.directory)
            try:
                found = wait_for(requests, SHORT // BATCH)[:SHORT // BATCH]
                with open(f"/proc/{process.pid}/smaps_rollup") as file:
                    words = file.read().split()
            finally:
                process.kill()
                process.wait()
        return rate(found, BATCH), int(words[words.index("Anonymous:") + 1]) / 1024

    def commit(self):
        """Microseconds a commit of one record."""
        done = subprocess.run([QUEUE_BENCHMARK, "commit", self.directory, str(COMMITS), "1"],
                              stdout=subprocess.PIPE, check=True, text=True)
        return float(done.stdout.split()[0])


def rows():
    with workspace() as directory:
        port = gateway.free_port()
        short = Backlog(directory / "short", SHORT, port)
        long = Backlog(directory / "long", LONG, port)
        with undisturbed():
            yield from undisturbed_rows(long, short)


def undisturbed_rows(long, short):
    aim = "at most 1.1"
    name = f"{{}}, {LONG:,} records in the queue".format
    other = f"{SHORT:,} records"
    medians = beside(long.start, {"short": short.start})
    yield Row(name("start, ms"), medians["ours"], aim, medians["short"], other)
    memory = {"long": [], "short": []}

    def delivered(backlog, found):
        records, mebibytes = backlog.deliver()
        found.append(mebibytes)
        return records

    medians = beside(lambda: delivered(long, memory["long"]), {"short": lambda: delivered(short, memory["short"])})
    yield Row(name("anonymous memory, MiB"), statistics.median(memory["long"]), aim,
              statistics.median(memory["short"]), other)
    yield Row(name("delivery, records a second"), medians["ours"], "at least 0.9", medians["short"], other)
    medians = beside(long.commit, {"short": short.commit})
    yield Row(name("one committed record, µs"), medians["ours"], aim, medians["short"], other)
