"""Kills the gateway, lets it drain, and compares. One line a check, and the sum."""

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from . import comparison, tampering
from .comparison import Evidence
from .drain import drained
from .gateway import Gateway
from .peripherals import CHARACTERISTICS, Peripherals
from .receiver import Receiver


def wait_for_the_moment(choice, peripherals, receiver, gateway):
    """Waits until the gateway is to be killed: while it starts, at any time, when a value has just been sent to it, when
    it has just sent a request, or when it has just told an event and has yet to note that it did."""
    kind = choice.choices(["start", "any", "value", "request", "event"], [15, 30, 30, 15, 10])[0]
    if kind == "start":
        time.sleep(choice.uniform(0, 0.2))
    elif kind == "any":
        time.sleep(choice.uniform(0.2, 1.6))
    else:
        time.sleep(choice.uniform(0.1, 0.6))
        if kind == "value":
            peripherals.wait_for_offer(choice.choice(CHARACTERISTICS), seconds=2)
            # A commit takes milliseconds.
            time.sleep(choice.uniform(0, 0.008))
        elif kind == "event":
            gateway.wait_for_event(seconds=2)
        else:
            receiver.wait_for_request(seconds=2)
            time.sleep(choice.uniform(0, 0.01))
    return kind


def run(directory, kills, seed):
    choice = random.Random(seed)
    peripherals = Peripherals(directory, choice.getrandbits(63))
    receiver = Receiver(directory, choice.getrandbits(63))
    gateway = Gateway(directory, peripherals.socket, receiver.port)
    moments, statuses, links = Counter(), [], []

    def some_situation_is_missing():
        evidence = Evidence(list(peripherals.ledger), list(receiver.deliveries), gateway.all_events(), {}, [],
                            gateway.state, links)
        return 0 in comparison.situations(evidence).values()

    try:
        # A moment may be missed a few dozen times in a row on a fast disk: it goes on until all were met.
        while moments.total() < kills or (moments.total() < 20 * kills and some_situation_is_missing()):
            gateway.start()
            moments[wait_for_the_moment(choice, peripherals, receiver, gateway)] += 1
            links.append(len(peripherals.linked))
            status = gateway.kill()
            if status is not None:
                statuses.append(status)
        status = drained(peripherals, receiver, gateway)
        if status != 0:
            statuses.append(status)
    finally:
        if gateway.process and gateway.process.poll() is None:
            gateway.kill()
        peripherals.stop()
        receiver.stop()
    evidence = Evidence(peripherals.ledger, receiver.deliveries, gateway.all_events(), gateway.queue(), statuses,
                        gateway.state, links)
    return evidence, moments, receiver.manners


def describe(evidence, moments, manners):
    def words(counts):
        return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"kills: {words(moments)}")
    last = Counter(events[-1]["INGEST_EVENT"] if events else "none" for events in evidence.runs[:-1])
    print(f"last event before the kill: {words(last)}")
    print(f"receiver: {words(manners)}")
    situations = comparison.situations(evidence).items()
    print(f"situations: {', '.join(f'{name} {count}' for name, count in situations)}")
    print("peripheral         made confirmed received")
    rows = comparison.totals(evidence)
    rows["all"] = [sum(column) for column in zip(*rows.values())]
    for name, (made, confirmed, received) in rows.items():
        print(f"{name:17} {made:5} {confirmed:9} {received:8}")


def main():
    kills = int(os.environ.get("KILLS") or 50)
    seed = int(os.environ.get("SEED") or random.SystemRandom().getrandbits(32))
    print(f"{kills} kills, seed {seed}", flush=True)
    directory = Path(tempfile.mkdtemp(prefix="kills-"))
    began = time.monotonic()
    evidence, moments, manners = run(directory, kills, seed)
    describe(evidence, moments, manners)
    results = {check.__name__: check(evidence) for check in comparison.CHECKS}
    results["situations_came_to_pass"] = [f"{name}: none" for name, count in comparison.situations(evidence).items()
                                          if count == 0]
    for tamper, check in tampering.TAMPERINGS:
        results[f"{check.__name__} notices {tamper.__name__}"] = tampering.unnoticed(evidence, tamper, check)
    for name, wrong in results.items():
        print(f"{'FAILED' if wrong else 'ok'} {name.replace('_', '-')}")
        for line in wrong[:20]:
            print(f"  {line}")
        if len(wrong) > 20:
            print(f"  and {len(wrong) - 20} more")
    failed = sum(bool(wrong) for wrong in results.values())
    print(f"{time.monotonic() - began:.0f} s")
    if failed:
        print(f"seed {seed}; everything is kept in {directory}")
    else:
        shutil.rmtree(directory)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
