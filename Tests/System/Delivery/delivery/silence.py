"""A connection that a router forgot: its packets are dropped without a word, those of new ones are not.

Runs as a program in a network namespace of its own: python3 -m delivery.silence DIRECTORY
"""

import subprocess
import sys
import time
from pathlib import Path

from kit.gateway import Failure, Gateway

from .servers import OK, WrongServer

# Less than the 30 s after which an answer is missed.
BOUND_S = 20


def forgotten(server, connection):
    """The first connection is forgotten after its first answer."""
    is_first = server.connections == 1
    while server.read_request(connection):
        connection.sendall(OK)
        if is_first:
            # The answer's acknowledgement.
            time.sleep(0.2)
            port = connection.getpeername()[1]
            for direction in ["sport", "dport"]:
                subprocess.run(["nft", "add", "rule", "inet", "router", "input", "tcp", direction, str(port), "drop"],
                               check=True)


def main(directory):
    for command in ["ip link set lo up", "nft add table inet router",
                    "nft add chain inet router input { type filter hook input priority 0 ; }"]:
        subprocess.run(command.split(" "), check=True)
    server = WrongServer(forgotten)
    gateway = Gateway(Path(directory), "silence", {"router": {"url": f"http://127.0.0.1:{server.port}/"}})
    try:
        first = time.monotonic()
        gateway.wait("router", "submitted", count=1)
        gateway.wait("router", "submitted", count=3, seconds=BOUND_S + 10)
        elapsed = time.monotonic() - first
    finally:
        gateway.stop()
    if gateway.of("router", "destination-down") or server.connections != 2 or elapsed > BOUND_S + 10:
        raise Failure(f"{server.connections} connections, {elapsed:.0f} s, "
                      f"{len(gateway.of('router', 'destination-down'))} destination-down")


def run(world):
    """Runs this file in its namespace."""
    result = subprocess.run(["unshare", "--net", sys.executable, "-m", "delivery.silence", str(world.directory)],
                            capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise Failure(result.stderr.strip().splitlines()[-1])


if __name__ == "__main__":
    main(sys.argv[1])
