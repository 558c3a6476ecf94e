"""A burst of readings, each with a commit and a delivery of its own, as fast as the gateway takes them."""

import os
import time

from kit.gateway import Failure, Gateway, wait_until

from .process import anonymous
from .service import Control, Receiver

READINGS = int(os.environ.get("READINGS", "60000"))
# In KiB, above what the process holds before the burst.
MOST_IN_BURST = 10 * 1024
MOST_AFTER_REST = 4 * 1024
REST = 60


def burst(directory):
    receiver = Receiver()
    gateway = Gateway(directory, "memory", {
        "clinic": {"url": f"http://127.0.0.1:{receiver.server_port}/", "batch": {"max_wait": "0s"}}}, peripherals=())
    try:
        socket_path = gateway.state / "control.sock"
        wait_until(socket_path.exists, "the service listens")
        # The commands of the start, and the memory that it needed, are over.
        time.sleep(30)
        control = Control(socket_path)
        for number in range(100):
            control.enter(number)
        time.sleep(5)
        start = most = anonymous(gateway.process)
        began = time.monotonic()
        for number in range(100, READINGS + 100):
            control.enter(number)
            if number % 100 == 0:
                most = max(most, anonymous(gateway.process))
        took = time.monotonic() - began
        wait_until(lambda: receiver.taken >= READINGS + 100, "everything is delivered")
        most = max(most, anonymous(gateway.process))
        time.sleep(REST)
        end = anonymous(gateway.process)
        print(f"{READINGS} readings in {took:.0f} s; RssAnon {start} KiB before, {most - start:+} KiB at most, "
              f"{end - start:+} KiB after {REST} s of rest")
        if most - start > MOST_IN_BURST:
            raise Failure(f"{most - start} KiB more in the burst; at most {MOST_IN_BURST}")
        if end - start > MOST_AFTER_REST:
            raise Failure(f"{end - start} KiB more after a rest; at most {MOST_AFTER_REST}")
    finally:
        gateway.stop()
