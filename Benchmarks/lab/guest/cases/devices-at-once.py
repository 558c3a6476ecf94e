"""Devices that wake up at once: from the first advert of each to its committed record, by how many links the gateway may
have, beside bleak on bluetoothd, which reads them concurrently."""

import contextlib
import statistics
import time

from benchmarks import air, figures, programs
from benchmarks.connecting import connect
from benchmarks.programs import Program
from labkit import commands
from labkit.kinds import INFORMATION, THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "devices that wake at once, beside bleak"
LIMIT_S = 900
# How many wake at once, each of them for the first time, and how often that is tried.
TOGETHER, ROUNDS = (1, 2, 4, 8), 2
LINKS = (1, 3, 8)
DEVICE = {"information": INFORMATION, "battery": 64, "asleep_s": 0.2}
CONNECTION_INTERVAL_S = 0.03
SCANS_ACTIVELY = True


def run(lab):
    lab.air.connection_interval(CONNECTION_INTERVAL_S)
    try:
        describe_bare_connections(lab)
        for links in LINKS:
            read(lab, f"links {links}", OurGateway(lab, links))
        programs.restart_bluetoothd("--experimental")
        read(lab, "bleak", Bleak())
    finally:
        programs.restart_bluetoothd()
        lab.air.connection_interval(0)


def describe_bare_connections(lab):
    """What a link takes that nothing is asked over: seven devices that are awake, one after the other."""
    devices = [lab.add(f"bare-{number}", THERMOMETER, **DEVICE) for number in range(max(TOGETHER) - 1)]
    for device in devices:
        device.give(temperature(366, -1))
    took = []
    for device in devices:
        began = time.monotonic()
        with contextlib.closing(connect(device.address)):
            took.append(time.monotonic() - began)
    figures.note("bare connections", seconds=sum(took), each=[round(seconds, 3) for seconds in took])
    for device in devices:
        lab.air.remove(device)


def read(lab, side, reader):
    """Has a side read each group of devices, and notes the times of the devices of groups of the same size together."""
    groups = [[lab.add(f"thermometer-{number}-{count}-{place}", THERMOMETER, **DEVICE) for place in range(count)]
              for number in range(ROUNDS) for count in TOGETHER]
    devices = [device for group in groups for device in group]
    lab.journal.mark()
    reader.start(devices)
    seconds = {count: [] for count in TOGETHER}
    last = {count: [] for count in TOGETHER}
    for group in groups:
        for device in group:
            device.give(temperature(370, -1))
        for device in group:
            device.wait_link_ended(1)
        wakings = [min(air.wakings(device.address)) for device in group]
        commits = [reader.commit_time(device) for device in group]
        times = [committed - woke for woke, committed in zip(wakings, commits, strict=True)]
        expect(all(value > 0 for value in times), f"no commit comes before its advert: {times}")
        seconds[len(group)] += times
        last[len(group)].append(max(commits) - min(wakings))
    for count in TOGETHER:
        figures.note(f"{count} at once, {side}", median=statistics.median(seconds[count]), worst=max(seconds[count]),
                     last=max(last[count]))
    reader.stop()
    for device in devices:
        lab.air.remove(device)


class OurGateway:
    def __init__(self, lab, links):
        self.lab = lab
        self.links = links

    def start(self, devices):
        self.lab.gateway.start(*devices, sections={"bluetooth": {"links": self.links}})

    def commit_time(self, device):
        """When its record was told to be in the queue."""
        entry, = self.lab.journal.wait("read", device)
        return int(entry["_SOURCE_REALTIME_TIMESTAMP"]) / 1e6

    def stop(self):
        self.lab.gateway.stop()


class Bleak:
    DATABASE = "/var/lib/ingestd/bleak.sqlite"

    def __init__(self):
        self.program = None

    def start(self, devices):
        self.program = Program(
            "bleak-at-once", "/usr/bin/python3", "/lab/guest/benchmarks/bleak_reader.py", self.DATABASE, "at-once",
            *(f"{device.address}=temperature" for device in devices))
        self.program.wait_for("bleak scans", lambda line: line["what"] == "scanning")

    def commit_time(self, device):
        def told():
            return [line for line in self.program.lines() if line["what"] == "read" and line["address"] == device.address]
        read, = wait_until("bleak has told of its read", 10, told)
        expect_equal(read["records"], 1, "records")
        return read["committed"]

    def stop(self):
        self.program.stop()
        failures = [line for line in self.program.lines() if line["what"] == "failed"]
        print(f"figure note bleak: {len(failures)} attempts failed: {failures[:3]}", flush=True)
        commands.run("bash", "-c", f"rm -f {self.DATABASE}*")
