"""A node's disk: ext4 in a file, whose power can be cut."""

import fcntl
import os
import struct
import subprocess
import time
from pathlib import Path

# FS_IOC_SHUTDOWN of linux/fs.h, with the flag of ext4 that leaves its journal as it is on the disk.
FS_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2


class Disk:
    """What the kernel has not written to the file when the power is cut is gone: the dirty pages of the page cache, and
    what is only in the journal's memory. The file stands for a disk without a cache, or with one that outlives the
    cut."""

    def __init__(self, file: Path, mount_point: Path, size="2G"):
        self.file, self.mount_point = file, mount_point
        subprocess.run(["truncate", "--size", size, file], check=True)
        # With all of its tables, which the kernel would write in the background otherwise.
        subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", file], check=True)
        mount_point.mkdir(parents=True, exist_ok=True)
        self.device = None
        self.mount()

    def mount(self):
        """Mounts it, which replays its journal."""
        subprocess.run(["mount", "-o", "loop", self.file, self.mount_point], check=True)
        listed = subprocess.run(["findmnt", "--noheadings", "--output", "SOURCE", "--mountpoint", self.mount_point],
                                check=True, capture_output=True, text=True)
        self.device = Path(listed.stdout.split()[0]).name

    def cut(self):
        """The disk takes nothing any more, from this moment on."""
        directory = os.open(self.mount_point, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(directory, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(directory)

    def mount_again(self, seconds=60):
        """After a cut, once no process uses it."""
        deadline = time.monotonic() + seconds
        subprocess.run(["umount", self.mount_point], check=True)
        # The kernel drops the file system with its last mount, some time later.
        while Path("/sys/fs/ext4", self.device).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.mount_point} is in use after its power was cut")
            time.sleep(0.05)
        self.mount()

    def sync(self):
        subprocess.run(["sync", "--file-system", self.mount_point], check=True)
