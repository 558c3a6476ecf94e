"""The guest: a machine that is started on the same disk again and again, and killed."""

import asyncio
import contextlib
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

MEMORY_MB = 768
# From the start of QEMU to a healthy service; a boot takes 10 to 60 s, as busy as the host is.
HEALTHY_LIMIT_S = 300
POLL_S = 0.1
BAD_EVENTS = ("store-error", "store-quarantined")
HEALTHY = {"ActiveState": "active", "SubState": "running", "NRestarts": "0"}


class Unhealthy(Exception):
    """The service did not come up as it should; the text says why."""


@dataclass(frozen=True)
class Ports:
    adapter: int
    receiver: int


class Machine:
    """One boot of the guest, from its start to the cut."""

    def __init__(self, process, console, journal):
        self.process = process
        self.console = console
        self.journal = journal
        self.started = time.monotonic()

    @classmethod
    async def start(cls, image: Path, work: Path, ports: Ports, logs: Path, number: int):
        console, journal = logs / f"console-{number:03}.log", logs / f"journal-{number:03}.jsonl"
        process = await asyncio.create_subprocess_exec(
            # It ends with its harness, however that ends.
            "setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64",
            # One plain processor: what newer ones have, and a second, cost time when they are emulated.
            "-accel", "tcg", "-cpu", "Nehalem,+rdrand", "-m", str(MEMORY_MB),
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-rtc", "base=utc",
            "-serial", f"file:{console}", "-serial", f"file:{journal}",
            "-kernel", work / "vmlinux", "-initrd", work / "initrd.gz",
            "-append", "console=ttyS0 quiet panic=-1 no_timer_check mitigations=off random.trust_cpu=on systemd.show_status=0 rw "
                       f"adapter_port={ports.adapter} receiver_port={ports.receiver}",
            "-drive", f"file={image / 'root.img'},format=raw,if=virtio,snapshot=on",
            "-drive", f"file={work / 'payload.img'},format=raw,if=virtio,readonly=on",
            # What the guest has written is in the host's page cache, which outlives QEMU; so the host need not sync it.
            "-drive", f"file={work / 'state.img'},format=raw,if=virtio,cache=unsafe",
            "-netdev", "user,id=host", "-device", "virtio-net-pci,netdev=host,romfile=",
            # An interrupt from the keyboard is the harness's.
            stdin=asyncio.subprocess.DEVNULL, start_new_session=True)
        return cls(process, console, journal)

    def cut(self):
        """Takes its power away: the guest's memory is gone at once."""
        if self.process.returncode is None:
            # The child may have been waited for before asyncio tells of its end: after a first cut, say.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)

    async def wait_healthy(self):
        """Waits until systemd says that the service is active and the service that it has started."""
        while not (self.state() and "started" in self.events()):
            self.check()
            if self.seconds > HEALTHY_LIMIT_S:
                raise Unhealthy(f"after {HEALTHY_LIMIT_S} s: state {self.state()}, events {self.events()}")
            await asyncio.sleep(POLL_S)
        if self.state() != HEALTHY:
            raise Unhealthy(f"the service's state is {self.state()}")
        self.check()

    def check(self):
        """Fails if something has gone wrong since the start; before the cut only."""
        if self.process.returncode is not None:
            raise Unhealthy("the guest ended by itself")
        self.check_events()

    def check_events(self):
        events = self.events()
        if events.count("started") > 1:
            raise Unhealthy("the service has started twice")
        bad = [event for event in events if event in BAD_EVENTS]
        if bad:
            raise Unhealthy(f"events of the service: {bad}")

    @property
    def seconds(self):
        return time.monotonic() - self.started

    def state(self):
        """What systemd said of the service when its start had ended; nothing before."""
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        pairs = dict(line.split("=", 1) for line in text.splitlines() if line.count("=") == 1)
        return {key: pairs[key] for key in HEALTHY} if HEALTHY.keys() <= pairs.keys() else None

    def events(self):
        text = self.journal.read_text(errors="replace") if self.journal.exists() else ""
        events = []
        # The last line may not have an end yet, or never.
        for line in text.splitlines(keepends=True):
            if line.endswith("\n") and line.startswith("{"):
                events.append(json.loads(line).get("INGEST_EVENT"))
        return [event for event in events if event]
