"""Readings without number that are delivered, in the smallest queue."""

import os

from kit.gateway import Failure, Gateway, wait_until

from .service import Control, Receiver

DELIVERED = int(os.environ.get("DELIVERED", "1000000"))
# What waits must never be what fills the queue.
AT_ONCE = 1_000


def delivered(directory):
    receiver = Receiver()
    gateway = Gateway(
        directory, "delivered", {"clinic": {"url": f"http://127.0.0.1:{receiver.server_port}/",
                                            "batch": {"max_records": AT_ONCE, "max_wait": "0s"}}},
        peripherals=(), queue={"max_size": "16MiB"})
    try:
        path = gateway.state / "control.sock"
        wait_until(path.exists, "the service listens")
        control = Control(path)
        most = 0
        for first in range(0, DELIVERED, AT_ONCE):
            control.enter(*range(first, first + AT_ONCE))
            gateway.wait("clinic", "submitted", count=first + AT_ONCE)
            most = max(most, (gateway.state / "queue.db").stat().st_size)
        told = [event for event in gateway.events if event["INGEST_EVENT"] in ("queue-high", "queue-full")]
        if told or receiver.taken != DELIVERED:
            raise Failure(f"{receiver.taken} of {DELIVERED} delivered; {told[:2]}")
        # What has come lately is known.
        control.enter(*range(DELIVERED - AT_ONCE, DELIVERED))
        control.enter(DELIVERED)
        wait_until(lambda: receiver.taken > DELIVERED, "one more is delivered")
        if receiver.taken != DELIVERED + 1:
            raise Failure(f"{receiver.taken - DELIVERED - 1} came again")
        print(f"{DELIVERED:,} readings delivered, the queue took {most / (1 << 20):.1f} MiB at most; "
              f"the last {AT_ONCE} again added none", flush=True)
    finally:
        gateway.stop()
