"""One run: boots and cuts on one disk, and at the end everything that was confirmed compared with what arrived."""

import asyncio
import random
from pathlib import Path

from . import disk, plan
from .bench import Bench
from .machine import Machine, Ports, Unhealthy
from .receiver import Receiver

# For a moment that does not come, such as the twentieth confirmation on a busy host: the power is cut all the same.
MOMENT_LIMIT_S = 120
# Until everything is read and delivered, from the last healthy boot on: delivery may have backed off.
DRAIN_LIMIT_S = 180
# After everything has arrived: for what should not come.
SETTLE_S = 3
POLL_S = 0.1


class Run:
    def __init__(self, name, image: Path, work: Path, logs: Path, seed):
        self.name = name
        self.image, self.work, self.logs = image, work, logs
        self.logs.mkdir(parents=True, exist_ok=True)
        # Each has its own draws, so that the plan does not depend on how fast readings come.
        self.plan = random.Random(f"{seed} plan")
        self.bench = Bench(random.Random(f"{seed} bench"))
        self.receiver = Receiver(random.Random(f"{seed} receiver"))
        self.ports = None
        self.machine = None
        self.cuts = 0
        # Readings that were confirmed and not delivered at a cut: on the disk alone, or lost. Summed over the cuts.
        self.at_stake = 0
        # How many links were up at each cut.
        self.links = []
        # Readings that were confirmed and neither delivered nor on the disk after a cut.
        self.missing = set()
        self.boot_seconds = []

    async def start(self):
        self.ports = Ports(await self.bench.start(), await self.receiver.start())
        self.bench.take_readings()

    async def boot(self):
        self.bench.be_deaf(False)
        self.machine = await Machine.start(self.image, self.work, self.ports, self.logs, len(self.boot_seconds) + 1)
        await self.machine.wait_healthy()
        self.boot_seconds.append(self.machine.seconds)

    async def boot_and_cut(self):
        """Returns what was done, and what is wrong with the service after its start or with the disk after the cut."""
        cut = plan.draw(self.plan)
        self.receiver.closed = cut.closed
        before = len(self.bench.confirmed)
        self.cuts += 1
        done = f"{self.name} cut {self.cuts} {cut.text}"
        try:
            await self.boot()
            if not await self.wait_moment(cut):
                done += ", which did not come"
            await self.power_off()
            self.machine.check_events()
        except Unhealthy as error:
            await self.power_off()
            return done, str(error)
        done += f": healthy in {self.boot_seconds[-1]:.0f} s, {len(self.bench.confirmed) - before} confirmed"
        found, wrong = await self.look()
        return f"{done}, {found}", wrong

    async def wait_moment(self, cut):
        """Cuts the power at the moment drawn; returns whether it came."""
        came = asyncio.Event()
        seen = 0

        def fire():
            self.links.append(len(self.bench.linked))
            self.machine.cut()
            self.bench.be_deaf(cut.event == "confirming")
            came.set()

        def note(event):
            nonlocal seen
            seen += event == cut.event
            if event == cut.event and seen == cut.occurrence:
                if cut.delay_s:
                    asyncio.get_running_loop().call_later(cut.delay_s, fire)
                else:
                    fire()

        self.bench.on_event = self.receiver.on_event = note
        try:
            await asyncio.wait_for(came.wait(), MOMENT_LIMIT_S)
            return True
        except asyncio.TimeoutError:
            self.machine.check()
            return False
        finally:
            self.bench.on_event = self.receiver.on_event = lambda event: None

    async def power_off(self):
        """What was on its way to the peripherals and the receiver still gets there."""
        self.machine.cut()
        await self.machine.process.wait()
        await self.bench.unplugged.wait()

    async def look(self):
        """Looks at the disk as it was left; returns what was found, and what is wrong."""
        left = self.work / "left.img"
        disk.copy(self.work / "state.img", left)
        findings = await asyncio.to_thread(disk.look, left)
        undelivered = self.undelivered()
        missing = undelivered - findings.held - self.missing
        self.at_stake += len(undelivered)
        self.missing |= missing
        found = f"{len(undelivered)} not delivered yet, {len(missing)} of them not on the disk"
        return found, None if findings.database == "ok" else f"the database after the cut: {findings.database}"

    async def drain(self):
        """The last boot: everything is read and delivered. Returns what is wrong, in words."""
        self.receiver.closed = False
        self.bench.stop_taking()
        try:
            await self.boot()
            deadline = self.machine.seconds + DRAIN_LIMIT_S
            while self.bench.left() or self.lost() - self.missing:
                if self.machine.seconds > deadline:
                    break
                await asyncio.sleep(POLL_S)
            await asyncio.sleep(SETTLE_S)
            self.machine.check()
        except Unhealthy as error:
            return str(error)
        finally:
            await self.power_off()
        return f"not everything was read: {self.bench.left()}" if self.bench.left() else None

    def undelivered(self):
        return {reading for reading in self.bench.confirmed if reading not in self.receiver.ids}

    def lost(self):
        """What was measured and has not arrived: nothing may be left of it when everything has been read."""
        return set(self.bench.measured) - set(self.receiver.ids)

    def misnamed(self):
        """Payloads at the receiver under other ids than the one that follows from them, or under several."""
        return {reading: ids for reading, ids in self.receiver.ids.items()
                if reading in self.bench.measured and ids != {self.bench.measured[reading]}}

    def invented(self):
        """Payloads at the receiver that no peripheral has measured."""
        return set(self.receiver.ids) - set(self.bench.measured)

    @property
    def sum(self):
        return (f"{len(self.bench.confirmed)} readings confirmed, {len(self.lost())} lost, "
                f"{len(self.misnamed())} under other ids; summed over the cuts {self.at_stake} not delivered yet; "
                f"{self.receiver.repeated} requests repeated, {self.receiver.refused} refused; "
                f"{sum(links > 1 for links in self.links)} cuts in several links, {max(self.links, default=0)} at most")
