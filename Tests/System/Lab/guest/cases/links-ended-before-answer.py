"""Links that end before the peripheral's first answer, as every "connection failed to be established" (0x3E) does at the
edge of the range. Debian's kernels 6.1.187 to 6.1.192 crash when the socket of such a link is closed.
"""

import json
import re
import time

from labkit.commands import run as command
from labkit.gateway import STOP_LIMIT_S, UNIT
from labkit.kinds import THERMOMETER
from labkit.operator import PROGRAM
from labkit.payloads import temperature
from labkit.waiting import Failure, expect, expect_equal, wait_until

ON_BAD_KERNEL = True
TITLE = "ten links that end before the first answer cost no reading, and a kernel that crashes on them is told of once"
LIMIT_S = 400
DEVICES, LINKS_EACH = 5, 2
HUNG_UP = "the link ended: the peripheral hung up"
# An attempt that is given up at the moment of its link, on a busy machine, leaves the link to bluetoothd: its end is no
# failed read of the gateway's, and another link of this device is broken instead. So many readings are taken for that.
MOST_READINGS = 6


def run(lab):
    devices = [lab.add(f"thermometer-{number}", THERMOMETER) for number in range(DEVICES)]
    later = lab.add("later", THERMOMETER)
    for device in devices:
        for _ in range(LINKS_EACH):
            device.fault(drop_after=1)
    lab.gateway.start(*devices, later)
    for number, device in enumerate(devices):
        device.give(temperature(3600 + number, -2))
    readings = sum(break_links(lab, device) for device in devices)
    status = json.loads(command(PROGRAM, "status", "--json", check=False))
    defect = status.get("kernel_defect")

    began = time.monotonic()
    command("systemctl", "restart", UNIT, limit=STOP_LIMIT_S)
    restarted = time.monotonic() - began
    lab.journal.wait("adapter-ready", count=2)
    later.give(temperature(371, -1))
    lab.receiver.wait(later)
    # Also if an earlier case of this boot was the first on it.
    told = lab.journal.events("kernel-defect", since_mark=False)
    if defect is None:
        expect_equal(kernel_failures(), [], "failures of the kernel")
        expect_equal(told, [], "kernel-defect on a good kernel")
        return f"{readings} readings, restarted in {restarted:.0f} s"
    expect_equal(len(told), 1, "number of kernel-defect in this boot")
    expect(defect in told[0]["INGEST_ERROR"], "kernel-defect does not name the kernel")
    problem, = (problem for problem in status["problems"] if defect in problem)
    kept = re.search(r"\((\d+) of ", problem)
    expect(kept, f"status does not say how many sockets are kept: {problem}")
    expect(int(kept[1]) >= DEVICES * LINKS_EACH, f"{kept[1]} sockets are kept")
    metrics = wait_until("the metrics are written", 90, read_metrics)
    expect("\ningestd_kernel_defect 1\n" in metrics, "the metric of the kernel's defect is not 1")
    return f"on {defect} restarted in {restarted:.0f} s, with {len(kernel_failures())} failure(s) of the kernel"


def break_links(lab, device):
    """Waits until two of the gateway's links to a device have broken, and returns how many readings that has taken."""
    for taken in range(1, MOST_READINGS + 1):
        lab.receiver.wait(device, count=taken, seconds=120)
        broken = len(lab.journal.events("read-failed", device, error=HUNG_UP))
        if broken >= LINKS_EACH:
            return taken
        for _ in range(LINKS_EACH - broken):
            device.fault(drop_after=1)
        device.give(temperature(3700 + taken, -2))
    raise Failure(f"{broken} of the gateway's links of {device.name} broke, and {MOST_READINGS} readings were taken")


def kernel_failures():
    lines = command("journalctl", "--dmesg", "--boot", "--no-pager", "--output=cat").splitlines()
    return [line for line in lines if "kernel BUG" in line or "Oops" in line]


def read_metrics():
    try:
        with open("/run/ingestd/metrics.prom", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
