"""Waiting for something to become true, within a bound."""

import time

POLL_S = 0.1


class Failure(AssertionError):
    """A case's expectation that did not hold; its text is the result's reason."""


def wait_until(what, seconds, probe):
    """Polls until `probe` returns something true and returns that; fails with `what` after `seconds`."""
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
