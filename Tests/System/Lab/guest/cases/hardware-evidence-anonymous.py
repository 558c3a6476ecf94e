"""What tools/hardware-evidence collects of a trial on real hardware (docs/notes/hardware.md)."""

import os
import re
import subprocess
import tarfile
import tempfile

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.tags import tag
from labkit.waiting import expect, expect_equal, wait_until

PROVE_ONLY = True
TITLE = "the evidence of a trial holds events and links, and no value, address, alias, id or time of day"
SCRIPT = "/lab/hardware-evidence"
METRICS = "/run/ingestd/metrics.prom"
READING_COUNTED = "ingestd_readings_total 1"
LIMIT_S = 240
FILES = {"adapters.txt", "box.txt", "events.jsonl", "kernel.txt", "links.txt", "metrics.txt", "service.txt"}
# Distinct enough to be looked for.
TENTHS, VALUE = 387, "38.7"
# The kernel's seconds since its start, which may have the same digits.
KERNEL_TIME = re.compile(r"^\[ *\d+\.\d+\]", re.MULTILINE)


def run(lab):
    thermometer = lab.add("grandmother", THERMOMETER)
    lab.gateway.start(thermometer, sections={"logging": {"subsystems": {"bluetooth": "debug", "passive": "debug"}}})
    thermometer.give(temperature(TENTHS, -1))
    record, = lab.receiver.wait(thermometer)
    lab.journal.wait("submitted", thermometer)
    # They are written now and then.
    wait_until("the metrics count the reading", 60, lambda: READING_COUNTED in metrics())
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(["bash", SCRIPT], cwd=directory, capture_output=True, text=True, timeout=120, check=False)
        expect_equal(done.returncode, 0, f"exit status of the script, which said {done.stderr!r}")
        archive, = os.listdir(directory)
        with tarfile.open(f"{directory}/{archive}") as evidence:
            files = {os.path.basename(member.name): evidence.extractfile(member).read().decode()
                     for member in evidence.getmembers() if member.isfile()}
    expect_equal(set(files), FILES, "files of the evidence")
    for wanted in ("connected", "read", "submitted"):
        expect(f'"INGEST_EVENT":"{wanted}"' in files["events.jsonl"], f"the evidence lacks the event {wanted}")
    expect("connected, after" in files["links.txt"], "the evidence lacks the time that the connection took")
    expect(READING_COUNTED in files["metrics.txt"], "the evidence lacks the metrics")
    expect(KERNEL_TIME.search(files["kernel.txt"]), "the kernel's log begins its lines with seconds")
    files["kernel.txt"] = KERNEL_TIME.sub("", files["kernel.txt"])
    received = record["time"]["received"]
    hidden = {
        "the value": VALUE, "the payload": record["raw"]["hex"], "the alias": thermometer.name,
        "the address": thermometer.address, "the address in a path": thermometer.address.replace(":", "_"),
        "the adapter's address": lab.air.plug(), "the record's id": record["id"], "the record's tag": tag(record["id"]),
        "the kind": record["kind"], "the time of day": received[11:16], "the destination": "backend"}
    for what, text in hidden.items():
        for name, content in files.items():
            expect(text.lower() not in content.lower(), f"{what} is in {name}")
    for name, content in files.items():
        expect(not re.search(r"([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}", content), f"an address is in {name}")


def metrics():
    with open(METRICS, encoding="utf-8") as file:
        return file.read()
