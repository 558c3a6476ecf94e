"""Measures in rounds, each thing in turn, and prints the medians side by side."""

import importlib
import sys

from bench.measuring import HEADING

# Each is a module here, whose `rows` measures and gives the lines of the table.
PARTS = ["adverts", "commits", "delivery", "mqtt", "backlog", "start", "lab"]


def main(names):
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"benchmarks: {unknown[0]} is none of: {', '.join(PARTS)}")
    print(HEADING)
    for name in names or PARTS:
        for row in importlib.import_module(f"bench.{name}").rows():
            print(row, flush=True)


main(sys.argv[1:])
