"""Waiting for something to become true, within a bound."""

import time

POLL_S = 0.1
# A bound ends the wait for what never comes, and says nothing of how fast it should come. The bounds are for an idle
# machine, and everything takes longer on one that is busy with other work.
BUSY_FACTOR = 3


class Failure(AssertionError):
    """A case's expectation that did not hold; its text is the result's reason."""


def wait_until(what, seconds, probe):
    """Polls until `probe` returns something true and returns that; fails with `what` if that does not come in `seconds`,
    or on a busy machine in as many times more."""
    seconds *= BUSY_FACTOR
    deadline = time.monotonic() + seconds
    while True:
        found = probe()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"after {seconds} s still not: {what}")
        time.sleep(POLL_S)


def hold_for(what, seconds, probe):
    """Fails with `what` as soon as `probe` returns something false within `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not probe():
            raise Failure(f"no longer: {what}")
        time.sleep(POLL_S)


def expect(condition, what):
    if not condition:
        raise Failure(what)


def expect_equal(found, expected, what):
    if found != expected:
        raise Failure(f"{what}: {found!r} instead of {expected!r}")
