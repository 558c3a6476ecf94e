"""Runs every case, or those named; one line each, and the sum."""

import sys
import tempfile
import threading
from pathlib import Path

from kit.gateway import Failure, Gateway, expect_untold
from kit.results import Results

from . import backlog, checks, names, network, proof, silence, stopping
from .cases import cases
from .servers import NEW_TOKEN, TOKEN
from .world import World


def secrets(world):
    """Lines of keys, and tokens: nothing of them may be anywhere."""
    lines = [line for path in world.directory.glob("*.key") for line in path.read_text().splitlines()
             if len(line) > 20 and "-----" not in line]
    return [TOKEN, NEW_TOKEN, "s3cret-phrase", *lines]


def together(world, note, wanted):
    """The destinations of one gateway, and what has a gateway of its own, at the same time."""
    chosen = [case for case in cases(world) if wanted(case.name)]
    gateway = None
    if chosen:
        gateway = Gateway(world.directory, "gateway", {case.name: case.keys for case in chosen})

    def expect(case):
        case.expect(gateway, world, case.name)
        for name in case.never:
            if gateway.of(case.name, name):
                raise Failure(f"{name} was told")

    def ends():
        status = gateway.stop()
        if status != 0:
            raise Failure(f"the gateway ended with {status}: {(world.directory / 'gateway.errors').read_text()}")

    threads = [threading.Thread(target=note, args=(case.name, expect, case)) for case in chosen]
    for name, body in [("name-gone", names.run), ("forgotten-connection", silence.run), ("network-changes", network.run),
                       ("stopped", stopping.stops), ("killed", stopping.is_killed)]:
        if wanted(name):
            threads.append(threading.Thread(target=note, args=(name, body, world)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if gateway:
        note("stops", ends)


def main():
    results = Results()
    note, wanted = results.run, results.wants

    with tempfile.TemporaryDirectory(prefix="delivery-") as temporary:
        directory = Path(temporary)
        # nginx's worker is another user.
        directory.chmod(0o755)
        world = World(directory)
        try:
            world.start()
            for name, (keys, status, expected) in checks.findings(world).items():
                if wanted(f"check-{name}"):
                    note(f"check-{name}", checks.run, world, name, keys, status, expected)
            together(world, note, wanted)
            # One after the other: these look at the time that a reading takes.
            if wanted("proof"):
                proof.Proof(world).run(note)
            if wanted("backlog"):
                note("backlog", backlog.run, world)
            note("no-secret-anywhere", lambda: expect_untold(directory, secrets(world)))
        finally:
            world.programs.stop()
    return results.end()


sys.exit(main())
