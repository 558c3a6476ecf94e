"""A network that promises IPv6 and drops its packets: the next attempt goes by IPv4.

Runs as a program in namespaces of its own: python3 -m mqtt.dual DIRECTORY
"""

import subprocess
import sys
from pathlib import Path

from kit.gateway import Failure, Gateway, expect_equal

from .fake import WELL, FakeBroker


def main(directory):
    broker = FakeBroker(WELL)
    hosts = Path(directory) / "dual.hosts"
    hosts.write_text("::1 localhost\n127.0.0.1 localhost\n")
    for command in ["ip link set lo up", f"mount --bind {hosts} /etc/hosts", "nft add table inet router",
                    "nft add chain inet router input { type filter hook input priority 0 ; }",
                    f"nft add rule inet router input ip6 daddr ::1 tcp dport {broker.port} drop"]:
        subprocess.run(command.split(" "), check=True)
    gateway = Gateway(Path(directory), "dual", {"dual": {"type": "mqtt", "url": f"mqtt://localhost:{broker.port}"}})
    try:
        event = gateway.wait("dual", "destination-down")[0]
        expect_equal(event["INGEST_ERROR"], "no connection within 10 s", "the error")
        gateway.wait("dual", "submitted", count=3)
        expect_equal(len(gateway.of("dual", "retrying")), 1, "failed attempts")
    finally:
        gateway.stop()


def run(world):
    """Runs this file in its namespaces."""
    result = subprocess.run(["unshare", "--net", "--mount", sys.executable, "-m", "mqtt.dual", str(world.directory)],
                            capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise Failure(result.stderr.strip().splitlines()[-1])


if __name__ == "__main__":
    main(sys.argv[1])
