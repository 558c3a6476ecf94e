"""What needs a kernel with Bluetooth, and is measured in the lab's guest (Benchmarks/lab)."""

import json
import subprocess
import sys

from bench.measuring import HERE, Row

LAB = HERE.parent / "lab" / "run"
FIGURES = HERE.parent.parent / ".build" / "benchmarks" / "lab" / "last" / "figures.jsonl"
READS = "101"


def measure(*cases):
    """What the cases found, by the names that they gave it."""
    subprocess.run([LAB, *cases], stdout=sys.stderr, check=True)
    with open(FIGURES, encoding="utf-8") as file:
        return {line["name"]: line for line in map(json.loads, file)}


def rows():
    found = measure(READS)
    yield from reads(found)


def reads(found):
    for device in ("thermometer", "meter"):
        for contact in ("first", "second"):
            ours, other = (found[f"{contact} contact, {device}, {side}"] for side in ("ours", "bleak"))
            what = f"{contact} read of a {device}"
            yield Row(f"{what}, s to the commit", ours["seconds"], "at most 0.5", other["seconds"], "bleak on bluetoothd")
            yield Row(f"{what}, ATT PDUs to it", ours["pdus"], "at most 0.333", other["pdus"], "bleak on bluetoothd")
