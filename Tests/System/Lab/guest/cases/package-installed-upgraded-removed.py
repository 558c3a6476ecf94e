"""The package, from docs/operating.md's first page as it stands there to its removal."""

import os

from labkit import commands, gateway, package
from labkit.gateway import UNIT
from labkit.guide import Guide
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.tags import tag
from labkit.waiting import expect, expect_equal, hold_for, wait_until

TITLE = "the package: docs/operating.md's first page as written; upgraded with a queue, removed, purged"
LIMIT_S = 400
NEEDS_PACKAGE = True
START_LIMIT_S = 90
WATCH_S = 3
# Longer than `quiet_period` and `cooldown` together, as they are by themselves.
SILENCE_S = 17
ALIAS = "kitchen thermometer"


def run(lab):
    first, newer = package.path("first"), package.path("newer")
    package.remove_by_hand()
    page = Guide("operating", os.path.dirname(first), "From the package to the first record")

    # As shipped: healthy, idle, and it says how to go on.
    page.run("apt install")
    wait_until("the service runs", START_LIMIT_S, lambda: commands.is_active(UNIT))
    lab.journal.wait("started", seconds=START_LIMIT_S)
    status = lab.gateway.status_line
    expect("allow-list is empty" in status, f"the status says {status!r}")
    expect_equal(commands.run("ingestd", "status", check=False).splitlines()[0].rsplit(" ", 1)[-1], "healthy", "status")
    expect_equal(commands.run("stat", "--format=%U:%G %a", "/etc/ingestd/ingestd.yaml"), "root:ingestd 640",
                 "the configuration's owner and mode")
    expect_equal(commands.run("systemctl", "is-enabled", UNIT), "enabled", "at the next start of the box")

    page.run("cat >")
    lab.journal.wait("adapter-ready", seconds=START_LIMIT_S)
    thermometer = lab.add(ALIAS, THERMOMETER)
    take(lab, thermometer, 366)
    lab.journal.wait("submitted", thermometer)
    expect("Submitted body-temperature" in page.run("journalctl"), "journalctl shows it")
    page.end()

    # An upgrade with a record in the queue.
    lab.receiver.answer(503)
    take(lab, thermometer, 367, count=2)
    hold_for("nothing is delivered while the backend is down", WATCH_S,
             lambda: lab.journal.events("submitted", thermometer)[1:] == [])
    before = lab.gateway.pid
    package.apt("install", newer)
    lab.gateway.wait_restarted(before)
    expect_equal(package.version(), commands.run("dpkg-deb", "--field", newer, "Version"), "version")
    expect(ALIAS in package.read("/etc/ingestd/ingestd.yaml"), "the configuration was kept")
    lab.receiver.answer(200)
    lab.journal.wait("submitted", thermometer, count=2)

    # Removed: the queue stays, and is found again.
    lab.receiver.answer(503)
    take(lab, thermometer, 368, count=3)
    package.apt("remove", "ingestd")
    expect(not commands.is_active(UNIT), "the service has ended")
    expect(os.path.exists(f"{package.STATE}/queue.db"), "the queue was kept")
    expect(ALIAS in package.read("/etc/ingestd/ingestd.yaml"), "the configuration was kept by the removal")
    package.apt("install", newer)
    wait_until("the service runs again", START_LIMIT_S, lambda: commands.is_active(UNIT))
    lab.receiver.answer(200)
    lab.journal.wait("submitted", thermometer, count=3)
    ids = [entry["INGEST_RECORD_ID"] for entry in lab.journal.events("submitted", thermometer)]
    expect_equal(len(set(ids)), 3, "records")
    expect_equal([tag(record["id"]) for record in lab.receiver.records(thermometer)], ids, "what the backend has")

    package.apt("purge", "ingestd")
    expect_equal(package.left_behind(), [], "left by the purge")
    gateway.install(mounts=False)


def take(lab, thermometer, tenths, count=1):
    if count > 1:
        hold_for("it is silent between two measurements", SILENCE_S,
                 lambda: len(lab.journal.events("read", thermometer)) == count - 1)
    thermometer.give(temperature(tenths, -1))
    lab.journal.wait("read", thermometer, count=count)

