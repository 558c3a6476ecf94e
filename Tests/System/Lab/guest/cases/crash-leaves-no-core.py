"""What a crash of the service leaves behind."""

import os
import signal
import stat
import time

from labkit import commands
from labkit.gateway import UNIT
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.receiver import URL
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "a crash and the watchdog leave no core, neither in a file nor with a program, and the service starts again"
LIMIT_S = 500
RESTARTS = 3
WATCHDOG_S = 20
WATCHDOG_LIMIT_S = 150
PATTERN = "/proc/sys/kernel/core_pattern"
SUID_DUMPABLE = "/proc/sys/fs/suid_dumpable"
# Not where the unit has a place of its own, /var/tmp among them.
CORES = "/srv/cores"
KEEPER = "/srv/keep-core"
DROP_IN = f"/run/systemd/system/{UNIT}.d/cores.conf"
FILES, PROGRAM = f"{CORES}/file.%p", f"|{KEEPER} %p"


def run(lab):
    before = {path: read(path) for path in (PATTERN, SUID_DUMPABLE)}
    os.makedirs(CORES, exist_ok=True)
    os.chmod(CORES, 0o1777)
    write(KEEPER, f"#!/bin/sh\nexec cat > {CORES}/program.$1\n", 0o755)
    # Without the unit's limit: the process itself has to refuse.
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    write(DROP_IN, f"[Service]\nLimitCORE=infinity\nReadWritePaths={CORES}\nWatchdogSec={WATCHDOG_S}s\n", 0o644)
    commands.run("systemctl", "daemon-reload")
    try:
        # What a process with another user than the one that started it may do then.
        write(SUID_DUMPABLE, "2")
        proven = [keeps_a_core(pattern) for pattern in (FILES, PROGRAM)]
        expect_equal(proven, [True, True], "cores of another program")
        crash_and_go_on(lab)
    finally:
        for path, value in before.items():
            write(path, value)
        os.remove(DROP_IN)
        commands.run("systemctl", "daemon-reload")
    # And with it, as the unit is.
    limits = commands.run("systemctl", "show", "--property=LimitCORE", "--value", UNIT)
    expect_equal(limits, "0", "LimitCORE")
    return "SIGABRT with a file and with a program, and the watchdog: no core"


def crash_and_go_on(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    token = lab.gateway.keep_key("token", "a-token-that-must-not-be-left")
    backend = {"name": "backend", "type": "webhook", "url": f"{URL}/readings", "credential": token,
               "batch": {"max_wait": "200ms"}}
    began = int(time.time())
    # Not delivered: token and reading stay in the memory.
    lab.receiver.answer(503)
    lab.gateway.start(thermometer, sections={"destinations": [backend]})
    for count, (pattern, end) in enumerate(((FILES, abort), (PROGRAM, abort), (PROGRAM, hang)), start=1):
        write(PATTERN, pattern)
        thermometer.give(temperature(360 + count, -1))
        lab.journal.wait("read", thermometer, count=count)
        pid = lab.gateway.pid
        expect_equal(os.stat(f"/proc/{pid}/mem").st_uid, 0, "the owner of its memory")
        end(pid)
        wait_until("systemd has ended the process", WATCHDOG_LIMIT_S, lambda last=pid: lab.gateway.pid != last)
        lab.gateway.wait_restarted(pid)
        lab.journal.wait("adapter-ready", count=count + 1)
        expect_equal(os.listdir(CORES), [], f"cores after end {count}")
    lab.receiver.answer(200)
    lab.receiver.wait_different(thermometer, 3)
    said = commands.run("journalctl", "--boot", "--no-pager", "--output=cat", f"--since=@{began}", f"--unit={UNIT}")
    expect_equal(said.count("code=killed, status=6/ABRT"), 3, "ends by SIGABRT")
    expect("code=dumped" not in said, "systemd tells of a core")
    expect("crashed" not in said.lower(), "a backtrace is in the journal")


def abort(_pid):
    commands.run("systemctl", "kill", "--signal=ABRT", "--kill-who=main", UNIT)


def hang(pid):
    os.kill(pid, signal.SIGSTOP)


def keeps_a_core(pattern):
    """Whether the kernel keeps one of a program that does not refuse; removes it."""
    write(PATTERN, pattern)
    commands.run("sh", "-c", "ulimit -c unlimited && kill -ABRT $$", check=False)
    kept = []

    def found():
        kept[:] = [name for name in os.listdir(CORES) if stat.S_ISREG(os.stat(f"{CORES}/{name}").st_mode)]
        return kept
    wait_until(f"a core by {pattern}", 30, found)
    for name in kept:
        os.remove(f"{CORES}/{name}")
    return True


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def write(path, text, mode=None):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text if text.startswith(("#", "[")) else text + "\n")
    if mode:
        os.chmod(path, mode)
