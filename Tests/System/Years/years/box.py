"""A gateway in a home: peripherals that measure all the time, a backend that takes it, and what became of it."""

import json
import shutil
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from kit.gateway import Failure, wait_until
from reliability import comparison
from reliability.comparison import Evidence
from reliability.drain import drained
from reliability.gateway import Gateway
from reliability.peripherals import Peripherals
from reliability.receiver import Receiver

from .process import anonymous, at_rest

# The peripherals measure the same in each run.
SEED = 28
# Beside what the process had when it had just begun.
MORE_KIB = 10 * 1024
# Links and threads come and go with the work: far less than one for a hundred links.
MORE_OF_EACH = 4


class Told:
    """Counts the events of a run as they come."""

    def __init__(self, file):
        self.file = file
        self.place = 0
        self.counts = Counter()

    def count(self, name):
        with self.file.open("rb") as file:
            file.seek(self.place)
            data = file.read()
        whole = data[:data.rfind(b"\n") + 1]
        self.place += len(whole)
        self.counts.update(json.loads(line)["INGEST_EVENT"] for line in whole.splitlines())
        return self.counts[name]

    def wait(self, name, count, seconds=120):
        wait_until(lambda: self.count(name) >= count, f"{count} {name}, {self.counts[name]} so far", seconds)


class Box:
    def __init__(self, directory: Path):
        self.peripherals = Peripherals(directory, SEED)
        self.receiver = Receiver(directory, SEED)
        self.receiver.is_calm = True
        self.gateway = Gateway(directory, self.peripherals.socket, self.receiver.port)
        self.told = None

    @property
    def process(self):
        return self.gateway.process

    def start(self):
        self.gateway.start()
        self.told = Told(self.gateway.events_file(self.gateway.runs))

    def close(self):
        if self.process and self.process.poll() is None:
            self.gateway.kill()
        self.peripherals.stop()
        self.receiver.stop()

    def settle(self):
        """Ends the run and begins a last one, in which the rest arrives; what was given has to be what came."""
        statuses = [self.gateway.stop(), drained(self.peripherals, self.receiver, self.gateway)]
        evidence = Evidence(self.peripherals.ledger, self.receiver.deliveries, self.gateway.all_events(),
                            self.gateway.queue(), [status for status in statuses if status], self.gateway.state, [])
        wrong = [f"{check.__name__}: {line}" for check in comparison.CHECKS for line in check(evidence)]
        if wrong:
            raise Failure(f"{len(wrong)} differences: {'; '.join(wrong[:5])}")
        return len(evidence.received())

    def watch(self, body):
        """Does this, and compares what the process takes before it and after it; the last run of the box."""
        self.start()
        self.told.wait("submitted", 100)
        before, memory = at_rest(self.process), anonymous(self.process)
        done = body()
        after, more = at_rest(self.process), anonymous(self.process) - memory
        described = (f"{done}; descriptors {before[0]} before and {after[0]} after, threads {before[1]} and {after[1]}, "
                     f"RssAnon {memory} KiB and {more:+}")
        if more > MORE_KIB or any(end > start + MORE_OF_EACH for start, end in zip(before, after)):
            raise Failure(described)
        print(f"{described}; {self.settle()} readings, none lost, none twice", flush=True)


@contextmanager
def box():
    """A box of its own for a case. After a failure its files stay."""
    directory = Path(tempfile.mkdtemp(prefix="ingestd-years-"))
    made = Box(directory)
    try:
        yield made
    except BaseException as error:
        made.close()
        raise Failure(f"{error}; everything is kept in {directory}") from error
    made.close()
    shutil.rmtree(directory)
