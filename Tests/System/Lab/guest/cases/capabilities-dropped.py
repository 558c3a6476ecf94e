"""Privileges: none while it reads, and a clear word when it gets too few."""

import subprocess

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal

TITLE = "no thread has a capability while it reads; without CAP_NET_ADMIN it ends with 77 and one line"
CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapAmb")
NO_PERMISSION = 77
START_LIMIT_S = 60


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    thermometer.hold()
    lab.gateway.start(thermometer)
    thermometer.give(temperature(366, -1))
    thermometer.wait_subscribed()
    threads = lab.gateway.thread_status()
    expect(threads, "ingestd has no threads")
    for thread in threads:
        held = {name: thread[name] for name in CAPABILITY_SETS if int(thread[name], 16) != 0}
        expect_equal(held, {}, f"capabilities of thread {thread['Pid']} ({thread['Name']})")
        expect(thread["Uid"].split()[0] != "0", f"thread {thread['Pid']} runs as root")
    thermometer.hold(False)
    lab.receiver.wait(thermometer)
    lab.gateway.stop()

    done = subprocess.run(
        ["setpriv", "--reuid=ingestd", "--regid=ingestd", "--init-groups", "--bounding-set=-net_admin",
         "/usr/bin/ingestd", "run"], capture_output=True, text=True, timeout=START_LIMIT_S)
    expect_equal(done.returncode, NO_PERMISSION, "exit code without CAP_NET_ADMIN")
    lines = done.stderr.splitlines()
    expect(len(lines) == 1 and "CAP_NET_ADMIN" in lines[0], f"standard error without CAP_NET_ADMIN: {lines}")
    return f"{len(threads)} threads"
