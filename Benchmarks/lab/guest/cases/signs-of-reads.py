"""What it costs to hear that the adapter receives: adverts of others that the kernel passes on, for each read."""

import subprocess
import time

from benchmarks import figures
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, wait_until

TITLE = "signs that the adapter receives"
LIMIT_S = 900
READS = 10
QUIET_S = 10
# Between two reads: the period, and time in which nothing is to be asked.
PAUSE_S = 30
STRACE = "/lab/debian/usr/bin/strace"
TRACE = "/var/tmp/results/signs.strace"
# Of a packet of the management socket: the event (doc/mgmt-api.txt), in hexadecimal digits as strace shows them.
DEVICE_FOUND, MONITOR_DEVICE_FOUND = r"\x12\x00", r"\x2f\x00"
ATTACH, DETACH = "SO_ATTACH_FILTER", "SO_DETACH_FILTER"


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER, asleep_s=0.2)
    lab.gateway.start(thermometer, passive={"quiet_period": f"{QUIET_S}s", "cooldown": "1s"})
    thermometer.give(temperature(365, -1))
    thermometer.wait_link_ended(1)
    time.sleep(PAUSE_S)
    tracer = subprocess.Popen(
        [STRACE, "-f", "-xx", "-s", "2", "-e", "trace=read,recv,recvfrom,recvmsg,setsockopt", "-p", str(lab.gateway.pid),
         "-o", TRACE], env={"LD_LIBRARY_PATH": "/lab/debian/usr/lib/x86_64-linux-gnu"}, stderr=subprocess.DEVNULL)
    wait_until("strace follows", 60, lambda: lines() is not None)
    before = lab.air.adapter_state()["reported"]
    for number in range(2, READS + 2):
        thermometer.give(temperature(365 + number, -1))
        thermometer.wait_link_ended(number)
        time.sleep(PAUSE_S)
        print(f"figure read {number - 1} of {READS}", flush=True)
    reported = lab.air.adapter_state()["reported"] - before
    tracer.terminate()
    tracer.wait()
    trace = lines()
    passed = sum(DEVICE_FOUND in line or MONITOR_DEVICE_FOUND in line for line in trace)
    openings = sum(DETACH in line for line in trace)
    expect(passed > 0, "adverts of the thermometer are in the trace")
    # At each wake-up one advert or a few are the thermometer's own.
    figures.note("signs", reads=READS, reported=reported, passed=passed, openings=openings,
                 closings=sum(ATTACH in line for line in trace))


def lines():
    try:
        with open(TRACE, encoding="ascii") as file:
            return file.readlines()
    except FileNotFoundError:
        return None
