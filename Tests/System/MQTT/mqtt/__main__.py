"""Runs every case, or those named; one line each, and the sum."""

import sys
import tempfile
import threading
from pathlib import Path

from kit.gateway import Gateway, expect_untold
from kit.results import Results

from . import dual, home, refused, restarts
from .brokers import PASSWORD
from .cases import Expectations, on_fakes, on_mosquitto
from .world import World


def together(world, note, wanted):
    """All destinations of one gateway at the same time: who hangs delays nobody."""
    cases = [case for case in [*on_mosquitto(world), *on_fakes(world)] if wanted(case.name)]
    if not cases:
        return
    results = {}
    gateway = Gateway(world.directory, "gateway", {case.name: {"type": "mqtt", **case.keys} for case in cases})
    expectations = Expectations(world, gateway)

    def attempt(body, case, *arguments):
        try:
            body(case, *arguments)
        except Exception as error:  # pylint: disable=broad-except  # a case that breaks is one that failed
            results.setdefault(case.name, f"{type(error).__name__}: {error}")

    def each(body, *arguments):
        threads = [threading.Thread(target=attempt, args=(body, case, *arguments)) for case in cases]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    each(expectations.misbehaves)
    for case in cases:
        if case.broker:
            case.broker.recover()
        elif case.recover:
            case.recover()
    gateway.reload()
    each(expectations.recovers, world.read_tags(gateway))
    try:
        status = gateway.stop()
    except Exception as error:  # pylint: disable=broad-except
        status = error
    for case in cases:
        note(case.name, results.get(case.name))
    note("ends", None if status == 0 else f"the gateway ended with {status}")


def main():
    results = Results()
    wanted = results.wants

    with tempfile.TemporaryDirectory(prefix="mqtt-") as temporary:
        directory = Path(temporary)
        directory.chmod(0o755)
        world = World(directory)
        try:
            world.start()
            alone = {**restarts.CASES, **home.CASES, "dual": dual.run, "refused": refused.run}
            threads = [threading.Thread(target=results.run, args=(name, body, world))
                       for name, body in alone.items() if wanted(name)]
            for thread in threads:
                thread.start()
            together(world, results.note, wanted)
            for thread in threads:
                thread.join()
            results.run("no-secret-anywhere", expect_untold, directory, (PASSWORD, "s3cret-and-wrong"))
        finally:
            world.stop()
    return results.end()


sys.exit(main())
