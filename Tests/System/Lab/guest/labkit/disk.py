"""The state directory's disk, which can be made to stop at two exact points of a commit.

/var/lib/ingestd lies on a file system of its own, on a device-mapper target over /dev/vdd.
"""

import contextlib
import mmap
import os
import pathlib

from .commands import run
from .waiting import wait_until

DEVICE = "ingestd-state"
PATH = "/var/lib/ingestd"
RAW_DISK = "/dev/vdd"
BLOCKED_LIMIT_S = 60
BLOCKED_POLLS = 4
LOG = pathlib.Path(PATH, "queue.db-wal")
QUIET_LIMIT_S = 20
QUIET_POLLS = 10


def mount():
    sectors = run("blockdev", "--getsz", RAW_DISK)
    run("dmsetup", "create", DEVICE, "--table", f"0 {sectors} linear {RAW_DISK} 0")
    run("dmsetup", "mknodes", DEVICE)
    run("mkdir", "-p", PATH)
    run("mount", f"/dev/mapper/{DEVICE}", PATH)


@contextlib.contextmanager
def frozen():
    """Writing to a file blocks: a commit stops before its first byte is in the write-ahead log."""
    run("fsfreeze", "--freeze", PATH)
    try:
        yield
    finally:
        run("fsfreeze", "--unfreeze", PATH)


@contextlib.contextmanager
def unsynced():
    """Writing works, and fsync blocks: a commit stops when all of it is in the write-ahead log.

    A process killed here leaves what it wrote, as a killed process does: the commit is there at the next start.
    """
    run("sync", "--file-system", PATH)
    run("dmsetup", "suspend", "--nolockfs", "--noflush", DEVICE)
    try:
        yield
    finally:
        run("dmsetup", "resume", DEVICE)


def wait_quiet():
    """Waits until nothing was committed for several polls on end: a commit is not the next one to hang in the disk when
    another one is still under way, such as the one that marks an event as told.
    """
    polls, last = 0, None

    def quiet():
        nonlocal polls, last
        written = LOG.stat().st_mtime_ns
        polls = polls + 1 if written == last else 0
        last = written
        return polls == QUIET_POLLS
    wait_until("the queue is not written to", QUIET_LIMIT_S, quiet)


def log_has(payload):
    """Whether a reading is in the write-ahead log. With the file system frozen it can be read whole."""
    return bytes.fromhex(payload) in LOG.read_bytes()


def unsynced_log_has(payload):
    """The same while fsync blocks. What was just written is in memory and is read without the disk."""
    return bytes.fromhex(payload) in read_cached(LOG)


def read_cached(path):
    """The bytes of a file, with zeros for each page that is on the disk alone: reading it would hang in a disk that is
    stopped, and so would noting that the file was read.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOATIME)
    try:
        size = os.fstat(file).st_size
        pages = (bytearray(min(mmap.PAGESIZE, size - offset)) for offset in range(0, size, mmap.PAGESIZE))
        content = bytearray()
        for page in pages:
            with contextlib.suppress(BlockingIOError):
                os.preadv(file, [page], len(content), os.RWF_NOWAIT)
            content += page
        return bytes(content)
    finally:
        os.close(file)


def wait_blocked(gateway):
    """Waits until a thread of ingestd hangs in the disk: for several polls on end, as no healthy wait does."""
    polls = 0

    def blocked():
        nonlocal polls
        polls = polls + 1 if "D" in gateway.thread_states() else 0
        return polls == BLOCKED_POLLS
    wait_until("ingestd waits for the disk", BLOCKED_LIMIT_S, blocked)
