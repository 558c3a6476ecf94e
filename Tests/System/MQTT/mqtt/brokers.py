"""mosquitto, and who listens to it."""

import json
import signal
import subprocess
import threading
from pathlib import Path

from kit.gateway import wait_until
from kit.ports import wait_for_port

USER, PASSWORD = "box", "s3cret-password-of-the-box"


class Mosquitto:
    """One mosquitto. Its sessions outlive a stop."""

    def __init__(self, directory: Path, name, *lines):
        self.path = directory / f"{name}.log"
        self.log = self.path.open("ab")
        self.file = directory / f"{name}.conf"
        state = directory / f"{name}.state"
        state.mkdir()
        self.file.write_text("\n".join([
            "user root", "per_listener_settings true", "persistence true", f"persistence_location {state}/",
            "max_queued_messages 0", "log_dest stderr", "log_type all", *map(str, lines)]) + "\n")
        self.ports = [int(line.split()[1]) for line in self.file.read_text().splitlines()
                      if line.startswith("listener ")]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["/usr/sbin/mosquitto", "-c", str(self.file)], stdout=self.log, stderr=self.log,
                                        stdin=subprocess.DEVNULL)
        for port in self.ports:
            wait_for_port(port, self.process)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def said(self, words):
        return self.path.read_text(errors="replace").count(words)

    def connections(self):
        return self.said("New client connected")

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def stop(self, is_killed=False):
        if self.process:
            self.process.send_signal(signal.SIGKILL if is_killed else signal.SIGTERM)
            self.process.send_signal(signal.SIGCONT)
            self.process.wait(timeout=20)
            self.process = None


class Watcher:
    """mosquitto_sub with a session that outlives its connection: what it got, as (topic, retained, payload)."""

    def __init__(self, port, name, *topics):
        filters = [part for topic in topics for part in ("-t", topic)]
        self.name, self.times, self.got = name, 0, []
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", "mosquitto_sub", "-V", "5", "-h", "127.0.0.1", "-p", str(port), "-i", name, "-c", "-x",
             "3600", "-q", "1", "-F", "%t %r %p", *filters],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def is_there(self, broker):
        """Waits until this one is connected and subscribed, once more than before."""
        self.times += 1
        words = f"Sending SUBACK to {self.name}"
        wait_until(lambda: broker.said(words) >= self.times, f"{self.name} subscribes")

    def read(self):
        for line in self.process.stdout:
            topic, is_retained, payload = line.rstrip("\n").split(" ", 2)
            self.got.append((topic, is_retained == "1", payload))

    def of(self, prefix):
        return [entry for entry in list(self.got) if entry[0].startswith(prefix)]

    def ids(self, prefix):
        return [json.loads(payload)["id"] for _, _, payload in self.of(prefix)]

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=10)


def password_file(directory: Path):
    path = directory / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", path, USER, PASSWORD], check=True, capture_output=True)
    return path
