"""Runs the cuts with the queue as it is, and beside them some as `synchronous = NORMAL` would have it; then the sum."""

import argparse
import asyncio
import signal
import time
from pathlib import Path

from .run import Run

# NORMAL has to lose a reading within so many cuts.
MOST_WITH_NORMAL = 10
# Among so many cuts one must be in several links.
ENOUGH_CUTS = 20


class Results:
    def __init__(self):
        self.passed = self.failed = 0
        # An interrupt ends the cuts early; what was confirmed until then is compared all the same.
        self.interrupted = False

    def interrupt(self):
        self.interrupted = True

    def note(self, what, wrong):
        if wrong:
            self.failed += 1
            print(f"FAILED {what}: {wrong}", flush=True)
        else:
            self.passed += 1
            print(f"ok {what}", flush=True)


async def prove(run, cuts, results):
    """No confirmed reading is lost, and the service is healthy after each cut; ends at the first that is not."""
    await run.start()
    wrong = None
    while run.cuts < cuts and not wrong and not results.interrupted:
        done, wrong = await run.boot_and_cut()
        wrong = wrong or run.missing and f"not on the disk: {sorted(run.missing)[:5]}"
        results.note(done, wrong)
    wrong = await run.drain()
    found = [f"lost: {sorted(run.lost())[:5]}"] if run.lost() else []
    found += [f"under other ids: {list(run.misnamed().items())[:5]}"] if run.misnamed() else []
    found += [f"never measured: {sorted(run.invented())[:5]}"] if run.invented() else []
    # Of a few cuts none may be in several links.
    if run.cuts >= ENOUGH_CUTS and max(run.links, default=0) < 2:
        found.append("no cut was in several links at once")
    results.note(f"{run.name} after {run.cuts} cuts: {run.sum}", wrong or "; ".join(found))


async def show_loss(run, results):
    """The same cuts lose a confirmed reading where its commit is not synced."""
    await run.start()
    wrong = None
    # What a meter keeps comes again, and is not lost.
    while all(map(run.bench.keeps, run.missing)) and run.cuts < MOST_WITH_NORMAL and not wrong:
        done, wrong = await run.boot_and_cut()
        print(f"-- {done}", flush=True)
    wrong = wrong or await run.drain()
    if not wrong and not run.undelivered():
        wrong = "no reading was lost, so that this harness cannot see a loss"
    elif not wrong and not run.undelivered() <= run.missing:
        wrong = "readings were lost that had been on the disk"
    results.note(f"{run.name} loses a reading, after {run.cuts} cuts: {run.sum}", wrong)


async def main():
    parser = argparse.ArgumentParser()
    for name in ("image", "work", "logs"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--cuts", type=int, required=True)
    parser.add_argument("--guests", type=int, required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    results = Results()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, results.interrupt)

    def run(name, directory):
        return Run(name, arguments.image, arguments.work / directory, arguments.logs / directory,
                   f"{arguments.seed} {directory}")

    await asyncio.gather(
        show_loss(run("synchronous NORMAL", "normal"), results),
        *(prove(run(f"guest {number}", f"guest-{number}"), share(arguments.cuts, arguments.guests, number), results)
          for number in range(1, arguments.guests + 1)))
    print(f"{results.passed} passed, {results.failed} failed")
    return results.failed


def share(cuts, guests, number):
    """How many of the cuts are this guest's."""
    return cuts // guests + (number <= cuts % guests)


raise SystemExit(1 if asyncio.run(main()) else 0)
