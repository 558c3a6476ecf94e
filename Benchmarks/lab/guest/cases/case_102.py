"""What the service does while nothing happens, and what it takes."""

import glob
import subprocess
import time

from benchmarks import figures
from benchmarks.programs import memory_kib, processor_ns
from labkit.gateway import UNIT
from labkit.kinds import CUFF, GLUCOSE_METER, OXIMETER, SCALE, THERMOMETER

TITLE = "idle with five peripherals"
LIMIT_S = 900
SETTLING_S = 60
IDLE_S = 600
# The guest must say something from time to time.
PART_S = 60
TRACED_S = 120
STRACE = "/lab/debian/usr/bin/strace"


def run(lab):
    peripherals = [lab.add(f"peripheral-{number}", kind) for number, kind in
                   enumerate([CUFF, GLUCOSE_METER, OXIMETER, SCALE, THERMOMETER], start=1)]
    lab.gateway.start(*peripherals)
    time.sleep(SETTLING_S)
    pid = lab.gateway.pid
    before, taken_before = wake_ups(pid), processor_ns(UNIT)
    for part in range(IDLE_S // PART_S):
        time.sleep(PART_S)
        print(f"figure part {part + 1}: {total(before, wake_ups(pid))} wake-ups so far", flush=True)
    after, taken = wake_ups(pid), processor_ns(UNIT) - taken_before
    memory = memory_kib(pid)
    figures.note("idle", seconds=IDLE_S, wake_ups=total(before, after), cpu_ms=taken / 1e6, threads=len(after),
                 by_thread={name: count - before.get((thread, name), 0) for (thread, name), count in after.items()},
                 anonymous_kib=memory["Anonymous"], resident_kib=memory["Rss"], memory=memory)
    trace(pid)


def wake_ups(pid):
    """How often each thread was woken up so far, by its id and name."""
    counts = {}
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path, encoding="utf-8") as file:
            status = dict(line.strip().split(":\t", 1) for line in file if ":\t" in line)
        counts[status["Pid"], f"{status['Name']}-{status['Pid']}"] = int(status["voluntary_ctxt_switches"])
    return counts


def total(before, after):
    return sum(after.values()) - sum(before.get(thread, 0) for thread in after)


def trace(pid):
    """What wakes it up, for whoever looks into it: a trace of all its system calls."""
    environment = {"LD_LIBRARY_PATH": "/lab/debian/usr/lib/x86_64-linux-gnu"}
    tracer = subprocess.Popen([STRACE, "-f", "-tt", "-T", "-p", str(pid), "-o", "/var/tmp/results/idle.strace"],
                              env=environment, stderr=subprocess.DEVNULL)
    time.sleep(TRACED_S)
    tracer.terminate()
    tracer.wait()
