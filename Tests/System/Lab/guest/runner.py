"""Runs the cases in the guest: one result line per case on standard output, files under RESULTS."""

import contextlib
import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback

from labkit import gateway as gateway_module
from labkit.air import Air
from labkit.capture import ACTIVE, Capture
from labkit.commands import is_active, run
from labkit.gateway import Gateway
from labkit.journal import Journal
from labkit.pairing import forget_all_bonds
from labkit.receiver import Receiver
from labkit.waiting import BUSY_FACTOR, Failure, expect, expect_equal, wait_until

RESULTS = "/var/tmp/results"
SELECTION = "/lab/cases"
QUICK = "/lab/quick"
ADAPTER_LIMIT_S = 60
# For cases that say nothing else (LIMIT_S in the case).
CASE_LIMIT_S = 180
# How often it is said that a case still runs: a guest that says nothing is ended.
BEAT_S = 60
# So many cases that fail one after another have one reason, and so will those that follow.
MOST_FAILURES_IN_A_ROW = 3
# How many of the kernel's last words a failure is told with, and how many of the service's and of bluetoothd's.
KERNEL_LINES = 5
JOURNAL_LINES = 12
# A crash of the kernel is told with so many lines, which hold its registers and the calls that led there.
CRASH_WORDS = ("kernel BUG", "Oops:")
CRASH_LINES = 60


class Lab:
    """What a case gets."""

    def __init__(self):
        self.journal = Journal(f"{RESULTS}/journal.jsonl")
        self.gateway = Gateway(self.journal)
        self.air = Air()
        self.capture = Capture(f"{RESULTS}/btmon.btsnoop")
        self.receiver = Receiver(f"{RESULTS}/receiver.jsonl", f"{RESULTS}/receiver.log")
        self.addresses = 0
        # Whether cases that have a short form take it.
        self.is_quick = os.path.exists(QUICK)

    def address(self):
        """A random static address that no other peripheral has."""
        self.addresses += 1
        return f"F1:F1:F1:F1:F1:{self.addresses:02X}"

    def add(self, name, kind, **properties):
        """A sleeping peripheral with an address of its own; the name is its alias."""
        return self.air.add(name, self.address(), kind, **properties)

    def begin(self, has_neighbour):
        self.air.neighbour(has_neighbour)
        self.journal.mark()
        self.receiver.mark()
        self.capture.mark()

    def restore(self, failed):
        """Puts back what a case may have changed, so that the next one finds it as the first did. After a case that
        failed the adapter is another one for the kernel."""
        self.gateway.stop()
        self.receiver.answer(200)
        self.receiver.refuse("")
        self.air.clear()
        if failed:
            self.air.unplug()
            self.air.plug()
        if not is_active("bluetooth.service"):
            run("systemctl", "unmask", "--runtime", "bluetooth.service")
            run("systemctl", "start", "bluetooth.service")
        wait_until("the adapter is back", ADAPTER_LIMIT_S, adapter_is_up)
        forget_all_bonds()

    def close(self):
        self.gateway.stop()
        self.receiver.close()
        self.capture.process.terminate()
        self.capture.process.wait()
        self.journal.close()


def adapter_is_up():
    return bool(os.listdir("/sys/class/bluetooth")) and "Powered: yes" in run("bluetoothctl", "show", check=False)


class OutOfTime(Exception):
    """No Failure, which a case may collect; this ends it."""


def on_alarm(_signal, _frame):
    raise OutOfTime("the case took too long")


def run_case(lab, name):
    case = importlib.import_module(f"cases.{name}")
    say(f"started {name}")
    began = time.monotonic()
    since = time.time()
    limit = getattr(case, "LIMIT_S", CASE_LIMIT_S) * BUSY_FACTOR
    signal.alarm(limit)
    reason, note = None, None
    try:
        lab.begin(getattr(case, "HAS_NEIGHBOUR", True))
        with beating(name, limit):
            note = case.run(lab)
        expect_equal(lab.air.alarms(), [], "alarms of peripherals")
        if not getattr(case, "SCANS_ACTIVELY", False):
            expect(ACTIVE not in lab.capture.scan_types(), "an active scan was set up")
        expect_equal(lab.gateway.restarts, getattr(case, "RESTARTS", 0), "restarts of the service")
    except Exception as error:  # Whatever went wrong is this case's result; the next cases run all the same.
        reason = " ".join(str(error).split()) or type(error).__name__
        reason = reason if isinstance(error, (Failure, OutOfTime)) else f"{type(error).__name__}: {reason}"
        with open(f"{RESULTS}/case-{name}.txt", "w", encoding="utf-8") as file:
            traceback.print_exc(file=file)
        signal.alarm(0)
        reason += f"; {radio_state(lab, since)}"
    finally:
        signal.alarm(0)
    seconds = time.monotonic() - began
    if reason is None:
        say(f"ok {name}: {case.TITLE}{f': {note}' if note else ''} ({seconds:.0f} s)")
    else:
        say(f"FAILED {name}: {case.TITLE}: {reason}")
    return {"case": name, "title": case.TITLE, "seconds": round(seconds, 1), "note": note, "failure": reason}


@contextlib.contextmanager
def beating(name, limit):
    """Says each minute that a case still runs, as long as it may: the alarm does not end one that waits for a disk."""
    ended = threading.Event()

    def beat():
        for _ in range(0, limit, BEAT_S):
            if ended.wait(BEAT_S):
                return
            say(f"still {name}")

    teller = threading.Thread(target=beat)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def radio_state(lab, since):
    """What the emulated adapter does, what the service says of itself, and the kernel's warnings since that time: what a
    failure may come from."""
    return (f"adapter: {or_why(adapter_state, lab)}; status: {or_why(status_line, lab)}; "
            f"kernel: {or_why(kernel_words, since)}; journal: {or_why(journal_words, since)}")


def or_why(tell, about):
    """What it tells, or why it cannot: after a crash of the kernel not everything answers."""
    try:
        return tell(about)
    except Exception as error:
        return f"not known ({error})"


def adapter_state(lab):
    lab.air.connect()
    return json.dumps(lab.air.adapter_state())


def status_line(lab):
    return lab.gateway.status_line


def kernel_words(since):
    """Where the kernel crashed first, maybe before the case; without a crash its last warnings of the case."""
    warnings = kernel_warnings("--boot")
    for index, line in enumerate(warnings):
        if any(words in line for words in CRASH_WORDS):
            return " | ".join(warnings[max(0, index - KERNEL_LINES):][:CRASH_LINES])
    return " | ".join(kernel_warnings(f"--since=@{since:.0f}", f"--lines={KERNEL_LINES}")) or "nothing"


def kernel_warnings(*options):
    return run("journalctl", "--dmesg", "--priority=warning", "--output=cat", "--quiet", *options,
               check=False).splitlines()


def journal_words(since):
    said = run("journalctl", "--unit=ingestd", "--unit=bluetooth", "--output=short-precise", "--no-hostname", "--quiet",
               f"--since=@{since:.0f}", f"--lines={JOURNAL_LINES}", check=False).splitlines()
    return " | ".join(line.split(maxsplit=2)[-1] for line in said) or "nothing"


def say(line):
    print(line, flush=True)


def chosen_cases():
    with open(SELECTION, encoding="utf-8") as file:
        return file.read().split()


def main():
    os.makedirs(RESULTS, exist_ok=True)
    say(f"started the guest in {time.clock_gettime(time.CLOCK_BOOTTIME):.0f} s")
    signal.signal(signal.SIGALRM, on_alarm)
    gateway_module.install()
    wait_until("the adapter is up", ADAPTER_LIMIT_S, adapter_is_up)
    lab = Lab()
    results = []
    failures_in_a_row = 0
    for name in chosen_cases():
        results.append(run_case(lab, name))
        failed = results[-1]["failure"] is not None
        failures_in_a_row = failures_in_a_row + 1 if failed else 0
        with open(f"{RESULTS}/results.json", "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
        try:
            lab.restore(failed)
        except Exception as error:
            say(f"started to go wrong after case {name}: {error}")
            with open(f"{RESULTS}/restore-{name}.txt", "w", encoding="utf-8") as file:
                traceback.print_exc(file=file)
        if failures_in_a_row == MOST_FAILURES_IN_A_ROW:
            say(f"FAILED {failures_in_a_row} cases one after another: the other cases are left out")
            break
    lab.close()


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()
        sys.exit(1)
