"""The last run of a gateway, in which all that was made arrives."""

import time

from . import comparison
from .comparison import Evidence

# What drains at the end is little; a destination that failed waits some seconds.
DRAIN_S = 180


def drained(peripherals, receiver, gateway):
    """Lets the gateway run until all that was made is submitted."""
    receiver.is_calm = True
    peripherals.rest()
    # What is measured at this moment may be in the ledger a moment later.
    time.sleep(1)
    gateway.start()
    deadline = time.monotonic() + DRAIN_S
    while time.monotonic() < deadline:
        time.sleep(0.5)
        evidence = Evidence(list(peripherals.ledger), list(receiver.deliveries), [], {}, [], gateway.state, [])
        states = evidence.made()
        if not comparison.every_reading_arrived(evidence) and "waiting" not in states.values():
            break
    ids = {id for found in evidence.received().values() for id in found}
    gateway.wait_for_submissions(len(ids), max(1, deadline - time.monotonic()))
    # Events are numbered with the submission, and told after it.
    time.sleep(0.5)
    return gateway.stop()
