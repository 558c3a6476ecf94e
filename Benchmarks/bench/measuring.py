"""What the parts measure with, and the rows that they give."""

import os
import statistics
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BUILD = Path(os.environ["BUILD"])
INGESTD = Path(os.environ["INGESTD"])
QUEUE_BENCHMARK = Path(os.environ["QUEUE_BENCHMARK"])
WORK = Path(os.environ["WORK"])
ROUNDS = int(os.environ.get("ROUNDS") or 7)


@dataclass
class Row:
    """A line of the table."""

    what: str
    # Medians.
    ours: float
    # What is to be reached: of ours / other, or of ours where there is no other; such as "at most 1.3".
    aim: str
    other: float | None = None
    beside: str = ""

    def __str__(self):
        if self.other is None:
            return f"| {self.what} | {figure(self.ours)} | | | | {self.aim} |"
        return (f"| {self.what} | {figure(self.ours)} | {figure(self.other)} | {self.beside} "
                f"| {figure(self.ours / self.other)} | {self.aim} |")


HEADING = "| what | ours | the other | | ours / other | to reach |\n|---|---|---|---|---|---|"


def figure(value):
    """Three digits that count, and no exponent."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:#.3g}".rstrip(".")


@contextmanager
def workspace():
    """A directory on the disk that is measured, for as long as it is needed."""
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        yield Path(directory)


@contextmanager
def undisturbed():
    """What else the machine does comes after what is measured, where that may be asked for: on a busy machine the end of
    each sync would have to wait for a processor."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pass
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


def number(*command, **options):
    """What a program prints as the last word."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True, **options)
    return float(done.stdout.split()[-1])


def median(rounds):
    """The median of each of the figures that several rounds found, however they are nested; of what is none, the first."""
    first = rounds[0]
    if isinstance(first, dict):
        return {name: median([found[name] for found in rounds]) for name in first}
    return statistics.median(rounds) if isinstance(first, int | float) else first


def beside(ours, others):
    """The medians of `ours` and of each of `others`, measured in turn, so that the machine is the same to all."""
    figures = {name: [] for name in ["ours", *others]}
    for _ in range(ROUNDS):
        for name, measure in {"ours": ours, **others}.items():
            figures[name].append(measure())
    return {name: statistics.median(values) for name, values in figures.items()}
