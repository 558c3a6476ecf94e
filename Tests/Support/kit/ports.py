"""Ports of this machine."""

import socket
import time


def free_ports(count):
    """Ports that nobody listened on a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for_port(port, process=None):
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline or process and process.poll() is not None:
                raise TimeoutError(f"nothing listens on port {port}") from None
            time.sleep(0.05)
