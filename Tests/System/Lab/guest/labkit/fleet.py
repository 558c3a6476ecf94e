"""What the box of config/fleet is to be, whoever has set it up."""

import base64
import os

from . import commands
from .gateway import UNIT, local_time
from .payloads import DateTime, blood_pressure
from .waiting import expect_equal, wait_until

FILES = "/lab/fleet"
# As the files have it.
ADDRESS = "C0:00:00:00:00:02"
BACKEND = "fleet.example"
TOKEN = "tok-3f1b"
SIGNING_KEY = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BOX = "/etc/ingestd/conf.d/box.yaml"
WRITTEN = ("/etc/ingestd/ingestd.yaml", BOX, "/etc/ingestd/credentials/fleet-token",
           "/etc/ingestd/credentials/fleet-signing-key")
EXPORTER = "/var/lib/prometheus/node-exporter"
START_LIMIT_S = 90
MARGIN_S = 5


def expect_box(lab, cuff):
    """The service runs on what was written, for the service's group alone; a reading reaches the backend."""
    wait_until("the service runs", START_LIMIT_S, lambda: commands.is_active(UNIT))
    lab.journal.wait("adapter-ready", seconds=START_LIMIT_S)
    expect_equal(commands.run("systemctl", "is-enabled", UNIT), "enabled", "at the next start of the box")
    for path in WRITTEN:
        expect_equal(commands.run("stat", "--format=%U:%G %a", path), "root:ingestd 640", f"owner and mode of {path}")
    cuff.give(blood_pressure((121, 0), (80, 0), (94, 0), DateTime.of(local_time(seconds=-MARGIN_S))))
    record, = lab.receiver.wait(cuff)
    expect_equal((record["gateway"], record["subject"]), ("ward-1", "patient-17"), "gateway and person of the record")
    lab.journal.wait("submitted", destination="fleet")
    wait_until("node_exporter finds the metrics", START_LIMIT_S,
               lambda: "\ningestd_healthy 1\n" in read(f"{EXPORTER}/ingestd.prom"))


def state():
    """What must stay as it is: the files that the service reads, their times, and the service's process."""
    return [(path, read(path), os.stat(path).st_mtime_ns) for path in WRITTEN] + [
        commands.run("systemctl", "show", "--property=MainPID", UNIT)]


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()
