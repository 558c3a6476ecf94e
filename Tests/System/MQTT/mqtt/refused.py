"""A broker that refuses the client certificate and resets the connection at once: why is told all the same.

Broker and gateway share one processor. Otherwise the reset would seldom come before the gateway has written CONNECT.
"""

import os

from kit.gateway import Gateway, expect_equal
from kit.ports import free_ports

from .brokers import Mosquitto
from .cases import NO_CERTIFICATE

ATTEMPTS = 30


def run(world):
    made = world.certificates
    port, = free_ports(1)
    broker = Mosquitto(world.directory, "refusing", f"listener {port} 127.0.0.1", f"certfile {made.good[0]}",
                       f"keyfile {made.good[1]}", f"cafile {made.authority.path}", "require_certificate true")
    broker.start()
    processor = min(os.sched_getaffinity(0))
    os.sched_setaffinity(broker.process.pid, {processor})
    names = [f"refused-{number}" for number in range(ATTEMPTS)]
    keys = {"type": "mqtt", "url": f"mqtts://localhost:{port}", "ca_file": str(made.authority.path),
            "client_certificate": str(made.strange_client[0]), "client_key": str(made.strange_client[1])}
    gateway = Gateway(world.directory, "refused", {name: keys for name in names},
                      prefix=("taskset", "--cpu-list", str(processor)))
    try:
        told = [gateway.wait(name, "destination-down")[0]["INGEST_ERROR"] for name in names]
        expect_equal(told, [NO_CERTIFICATE] * ATTEMPTS, "what is told of the refusals")
    finally:
        gateway.stop()
        broker.stop()
