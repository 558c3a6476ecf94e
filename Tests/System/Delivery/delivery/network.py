"""A destination that does not answer, while the box's network changes: each change has it asked once more.

Runs as a program in a network namespace of its own: python3 -m delivery.network DIRECTORY
"""

import subprocess
import sys
from pathlib import Path

from kit.gateway import Failure, Gateway, wait_until

from .servers import WrongServer

# As many failures as are told. The waits after further ones grow to 5 min, of which each is a random part.
TOLD = 5
CHANGES = 10
# Much less than such a wait, and more than a change needs on a busy machine.
BOUND_S = 20


def main(directory):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    server = WrongServer(lambda _server, _connection: None)
    gateway = Gateway(Path(directory), "network", {"silent": {"url": f"http://127.0.0.1:{server.port}/"}})
    try:
        gateway.wait("silent", "retrying", count=TOLD)
        for number in range(CHANGES):
            before = server.connections
            subprocess.run(["ip", "address", "add", f"192.0.2.{number + 1}/32", "dev", "lo"], check=True)
            wait_until(lambda: server.connections > before, f"asked again after change {number}", BOUND_S)
    finally:
        gateway.stop()


def run(world):
    """Runs this file in its namespace."""
    result = subprocess.run(["unshare", "--net", sys.executable, "-m", "delivery.network", str(world.directory)],
                            capture_output=True, text=True, timeout=400)
    if result.returncode != 0:
        raise Failure(result.stderr.strip().splitlines()[-1])


if __name__ == "__main__":
    main(sys.argv[1])
