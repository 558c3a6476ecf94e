"""Programs of the other side, each as a service of its own, and bluetoothd as it suits them."""

import json
import os

from labkit.commands import is_active, run
from labkit.waiting import wait_until

PYTHON_PACKAGES = "/lab/python"
LIBRARIES = "/lab/debian/usr/lib/x86_64-linux-gnu:/lab/debian/lib/x86_64-linux-gnu"
DROP_IN = "/run/systemd/system/bluetooth.service.d/benchmark.conf"
BLUETOOTHD = "/usr/libexec/bluetooth/bluetoothd"
START_LIMIT_S = 60


class Program:
    """A program that runs under systemd, so that its control group tells what it takes."""

    def __init__(self, name, *command):
        self.unit = f"{name}.service"
        self.output = f"/var/tmp/results/{name}.log"
        run("systemctl", "reset-failed", self.unit, check=False)
        run("systemd-run", f"--unit={name}", "--service-type=exec", f"--property=StandardOutput=append:{self.output}",
            f"--property=StandardError=append:{self.output}", f"--setenv=PYTHONPATH={PYTHON_PACKAGES}",
            "--setenv=PYTHONUNBUFFERED=1", "--setenv=HOME=/var/tmp", f"--setenv=LD_LIBRARY_PATH={LIBRARIES}", *command)

    @property
    def is_active(self):
        return is_active(self.unit)

    @property
    def pid(self):
        return int(run("systemctl", "show", "--property=MainPID", "--value", self.unit))

    def lines(self):
        """What it has printed as JSON, line by line."""
        with open(self.output, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.startswith("{") and line.endswith("\n")]

    def wait_for(self, what, probe, seconds=START_LIMIT_S):
        """The first of the printed objects for which the probe holds."""
        return wait_until(what, seconds, lambda: next((line for line in self.lines() if probe(line)), None))

    def stop(self):
        run("systemctl", "stop", self.unit, check=False)


def processor_ns(unit, part="usage"):
    """The processor time that a service's processes have taken, in nanoseconds: usage, or its parts user and system."""
    with open(f"/sys/fs/cgroup/system.slice/{unit}/cpu.stat", encoding="utf-8") as file:
        return int(dict(line.split() for line in file)[f"{part}_usec"]) * 1000


def memory_kib(pid):
    """The fields of a process' memory in KiB, by their names in /proc/PID/smaps_rollup."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        fields = (line.split() for line in file if line.endswith("kB\n"))
        return {name.rstrip(":"): int(value) for name, value, _ in fields}


def restart_bluetoothd(*options):
    """Runs bluetoothd with these options from now on; without any, as Debian does."""
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    with open(DROP_IN, "w", encoding="utf-8") as file:
        file.write(f"[Service]\nExecStart=\nExecStart={' '.join([BLUETOOTHD, *options])}\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "restart", "bluetooth.service")
    wait_until("the adapter is back", START_LIMIT_S,
               lambda: "Powered: yes" in run("bluetoothctl", "show", check=False))
