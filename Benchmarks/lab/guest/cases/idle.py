"""What the service does while nothing happens, and what it takes."""

import collections
import glob
import os
import subprocess
import time

from benchmarks import figures
from benchmarks.programs import memory_kib, processor_ns
from labkit.gateway import UNIT
from labkit.kinds import CUFF, GLUCOSE_METER, OXIMETER, SCALE, THERMOMETER
from labkit.waiting import expect_equal

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
    wake_ups, taken_before = WakeUps(pid), processor_ns(UNIT)
    for part in range(IDLE_S // PART_S):
        time.sleep(PART_S)
        print(f"figure part {part + 1} of {IDLE_S // PART_S}", flush=True)
    by_thread, taken = wake_ups.by_thread(), processor_ns(UNIT) - taken_before
    memory = memory_kib(pid)
    figures.note("idle", seconds=IDLE_S, wake_ups=by_thread.total(), cpu_ms=taken / 1e6, by_thread=dict(by_thread),
                 anonymous_kib=memory["Anonymous"], resident_kib=memory["Rss"], memory=memory)
    trace(pid)


class WakeUps:
    """How often each thread of a process is woken up, also of those that end meanwhile (Documentation/trace/events.rst).

    As the kernel counts voluntary switches: a thread gives the processor up, and not because another one wants it."""

    TRACING = "/sys/kernel/tracing"

    def __init__(self, pid):
        self.threads = {os.path.basename(path) for path in glob.glob(f"/proc/{pid}/task/*")}
        self._set("options/event-fork", "1")
        self._set("set_event_pid", " ".join(self.threads))
        for event in ("sched_process_fork", "sched_switch"):
            self._set(f"events/sched/{event}/enable", "1")
        self._set("trace", "")

    def by_thread(self):
        """So far, by the name and the id of each thread."""
        threads, counts = set(self.threads), collections.Counter()
        with open(f"{self.TRACING}/trace", encoding="utf-8") as file:
            for line in file:
                # Nothing may be missing: a buffer that was full begins with its last entries.
                if line.startswith("# entries-in-buffer"):
                    kept, written = line.split(":")[1].split()[0].split("/")
                    expect_equal(kept, written, "events that the trace has kept")
                event, _, text = line.partition(": ")[2].partition(": ")
                fields = dict(field.split("=", 1) for field in text.split() if "=" in field)
                if event == "sched_process_fork" and fields["pid"] in threads:
                    threads.add(fields["child_pid"])
                elif event == "sched_switch" and fields["prev_pid"] in threads and fields["prev_state"][0] != "R":
                    counts[f"{fields['prev_comm']}-{fields['prev_pid']}"] += 1
        return counts

    def _set(self, name, value):
        with open(f"{self.TRACING}/{name}", "w", encoding="utf-8") as file:
            file.write(value)


def trace(pid):
    """What wakes it up, for whoever looks into it: a trace of all its system calls."""
    environment = {"LD_LIBRARY_PATH": "/lab/debian/usr/lib/x86_64-linux-gnu"}
    tracer = subprocess.Popen([STRACE, "-f", "-tt", "-T", "-p", str(pid), "-o", "/var/tmp/results/idle.strace"],
                              env=environment, stderr=subprocess.DEVNULL)
    time.sleep(TRACED_S)
    tracer.terminate()
    tracer.wait()
