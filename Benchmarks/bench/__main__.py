"""Measures in rounds, each thing in turn, and prints the medians side by side."""

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BUILD = Path(os.environ["BUILD"])
ROUNDS = int(os.environ.get("ROUNDS") or 7)


def number(*command):
    """What a program prints as its last line."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout.split()[-1])


def allocations(*command):
    """How often a program asks for memory."""
    done = subprocess.run(["valgrind", *(str(word) for word in command)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True, text=True)
    return int(re.search(r"total heap usage: ([\d,]+) allocs", done.stderr).group(1).replace(",", ""))


def beside(ours, others):
    """The medians of `ours` and of each of `others`, measured in turn, so that the machine is the same to all."""
    figures = {name: [] for name in ["ours", *others]}
    for _ in range(ROUNDS):
        for name, measure in {"ours": ours, **others}.items():
            figures[name].append(measure())
    return {name: statistics.median(values) for name, values in figures.items()}


def adverts():
    program = BUILD / "AdvertDecision"
    medians = beside(lambda: number(program, "ours", 10_000_000), {
        "a sum over the bytes": lambda: number(program, "floor", 10_000_000),
        "bleak's callback": lambda: number(sys.executable, HERE / "bleak_adverts.py", 10_000)})
    # The start allocates, and it is the same for both.
    allocated = allocations(program, "ours", 20_000) - allocations(program, "ours", 10_000)
    return [("an advert that is not allow-listed, CPU ns", "ours", "a sum over the bytes", medians),
            ("an advert that is not allow-listed, CPU ns", "ours", "bleak's callback", medians),
            ("allocations for 10,000 such adverts", allocated)]


MEASURED = {"adverts": adverts}


def main(names):
    unknown = [name for name in names if name not in MEASURED]
    if unknown:
        sys.exit(f"benchmarks: {unknown[0]} is none of: {', '.join(MEASURED)}")
    print("| what | ours | the other | | other / ours |\n|---|---|---|---|---|")
    for name in names or MEASURED:
        for row in MEASURED[name]():
            if len(row) == 2:
                print(f"| {row[0]} | {row[1]} | | | |", flush=True)
            else:
                what, ours, other, medians = row
                print(f"| {what} | {medians[ours]:.4g} | {medians[other]:.4g} | {other} "
                      f"| {medians[other] / medians[ours]:.3g} |", flush=True)


main(sys.argv[1:])
