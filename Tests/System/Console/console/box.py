"""A gateway on its built-in peripherals, and a console of it."""

import os
import re
import subprocess
import threading

from kit.gateway import INGESTD, Failure, Gateway, wait_until

# The address and the alias are what a person of the box sees; the subject is in records alone.
CUFF = {"id": 1001, "address": "C0:00:00:00:00:02", "alias": "kitchen cuff", "subject": "patient-17"}
THERMOMETER = {"id": 1002, "address": "C0:00:00:00:00:01", "alias": "<img src=x onerror=document.title='owned'>"}


class Console:
    """A running `ingestd console`."""

    def __init__(self, gateway, port=0):
        self.process = subprocess.Popen(
            [INGESTD, "console", "--config", str(gateway.file), "--listen", f"127.0.0.1:{port}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
            env={**os.environ, "STATE_DIRECTORY": str(gateway.state)})
        self.said = []
        threading.Thread(target=lambda: self.said.extend(self.process.stdout), daemon=True).start()
        wait_until(lambda: self.said or self.process.poll() is not None, "the console says its address")
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})\n", "".join(self.said))
        if not found:
            raise Failure(f"the console said {self.said}")
        self.port, self.key = int(found.group(1)), found.group(2)
        self.url = found.group(0).strip()

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=20)


class Box:
    """What all cases use; they leave it as it was."""

    def __init__(self, directory, destinations, peripherals=(CUFF, THERMOMETER)):
        self.directory = directory
        self.gateway = Gateway(directory, "box", destinations, peripherals=peripherals)
        self.socket = self.gateway.state / "control.sock"
        wait_until(self.socket.exists, "the control socket is there")

    def stop(self):
        self.gateway.stop()
