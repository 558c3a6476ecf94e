"""What a process takes of the machine, as the kernel counts it."""

import os
import time
from pathlib import Path


def anonymous(process):
    """What the process has for itself, in KiB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0])


def processor_time(process):
    """In seconds."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def written(process):
    """Bytes that it had written to disks."""
    return int(Path(f"/proc/{process.pid}/io").read_text().split("\nwrite_bytes: ")[1].split()[0])


def at_rest(process, seconds=10):
    """Descriptors and threads when it has least to do: it goes on reading meanwhile."""
    deadline = time.monotonic() + seconds
    samples = []
    while time.monotonic() < deadline:
        samples.append([len(os.listdir(f"/proc/{process.pid}/{kind}")) for kind in ("fd", "task")])
        time.sleep(0.05)
    return [min(counts) for counts in zip(*samples)]
