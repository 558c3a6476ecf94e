"""What needs a kernel with Bluetooth, and is measured in the lab's guest (Benchmarks/lab)."""

import json
import os
import subprocess
import sys

from bench.measuring import HERE, Row, median

LAB = HERE.parent / "lab" / "run"
FIGURES = HERE.parent.parent / ".build" / "benchmarks" / "lab" / "last" / "figures.jsonl"
READS, IDLE, ADVERTS, START = "reads-beside-bleak", "idle", "adverts-beside-theengs", "start-to-scanning"
AT_ONCE, SIGNS = "devices-at-once", "signs-of-reads"
# Waiting takes no time.
HURRIED = "-accel tcg,thread=single -icount shift=0,sleep=off -smp 1"
ROUNDS = int(os.environ.get("LAB_ROUNDS") or 3)


def measure(case, rounds=ROUNDS, **environment):
    """The medians of what a case found, by the names that it gave it.

    Each round has a guest of its own, so that none finds what another has left."""
    found = {}
    for _ in range(rounds):
        subprocess.run([LAB, case], stdout=sys.stderr, check=True, env={**os.environ, **environment})
        with open(FIGURES, encoding="utf-8") as file:
            for figures in map(json.loads, file):
                found.setdefault(figures.pop("name"), []).append(figures)
    return {name: median(figures) for name, figures in found.items()}


def rows():
    yield from reads(measure(READS))
    yield from at_once(measure(AT_ONCE))
    yield from signs(measure(SIGNS))
    yield from adverts(measure(ADVERTS))
    yield from start(measure(START, MACHINE=HURRIED))
    # It is long enough for one: twenty times what comes every 30 s.
    yield from idle(measure(IDLE, rounds=1, MACHINE=HURRIED))


def reads(found):
    for device in ("thermometer", "meter"):
        for contact in ("first", "second"):
            ours, other = (found[f"{contact} contact, {device}, {side}"] for side in ("ours", "bleak"))
            what = f"{contact} read of a {device}"
            yield Row(f"{what}, s to the commit", ours["seconds"], "at most 0.5", other["seconds"], "bleak on bluetoothd")
            yield Row(f"{what}, ATT PDUs to it", ours["pdus"], "at most 0.333", other["pdus"], "bleak on bluetoothd")


def at_once(found):
    for count in (1, 2, 4, 8):
        devices = f"{count} device{'s' * (count > 1)} at once"
        other = found[f"{count} at once, bleak"]
        for links in (1, 3, 8):
            ours = found[f"{count} at once, links {links}"]
            for which in ("median", "worst"):
                # What is asked is asked of all links that there may be.
                aim = "at most 1" if links == 8 and which == "worst" else ""
                yield Row(f"{devices}, links {links}, s to the {which} commit", ours[which], aim, other[which],
                          "bleak on bluetoothd")
    bound = (found["1 at once, links 8"]["last"] + found["bare connections"]["seconds"]) * 1.2
    yield Row("8 devices at once, links 8, s to the last commit", found["8 at once, links 8"]["last"], "at most 1", bound,
              "one read, seven bare connections, and a fifth")


def signs(found):
    cost = found["signs"]
    yield Row(f"{cost['reads']:.0f} reads, adverts that wake the gateway up", cost["passed"], "", cost["reported"],
              "those that the kernel is told of")
    yield Row(f"{cost['reads']:.0f} reads, times that the kernel's filter is opened", cost["openings"], "two a read")


def adverts(found):
    ours, other = (found[f"adverts, {side}"] for side in ("ours", "TheengsGateway"))
    # Of the process, of bluetoothd and of the bus.
    heard = [[cost / side["adverts"] * 1000 for cost in side["cpu_ms"].values()] for side in (ours, other)]
    yield Row("1,000 adverts heard, CPU ms", heard[0][0], "at most 0.1", heard[1][0], "TheengsGateway")
    yield Row("1,000 adverts heard, CPU ms with bluetoothd and the bus", sum(heard[0]), "", sum(heard[1]),
              "TheengsGateway")
    guest = [side["guest_ms"] / side["adverts"] * 1000 for side in (ours, other)]
    yield Row("1,000 adverts heard, CPU ms of the whole guest", guest[0], "", guest[1], "TheengsGateway")
    for kind in ("anonymous", "resident"):
        yield Row(f"1,000 adverts a second, {kind} KiB", ours[f"{kind}_kib"], "at most 0.333", other[f"{kind}_kib"],
                  "TheengsGateway")


def idle(found):
    yield Row("idle for 10 min, times that a thread is woken up", found["idle"]["wake_ups"], "the watchdog's")
    yield Row("idle for 10 min, anonymous KiB", found["idle"]["anonymous_kib"], "under 8,192")
    yield Row("idle for 10 min, resident KiB", found["idle"]["resident_kib"], "under 32,768")


def start(found):
    yield Row("start to scanning, million instructions", found["start"]["cpu_ms"], "under 100")
