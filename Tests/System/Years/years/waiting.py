"""What a reading costs while many records wait for a destination that is not there."""

import os
import shutil

from kit import backlog
from kit.gateway import Failure
from kit.ports import free_ports

from .box import box
from .process import processor_time, written

WAITING = int(os.environ.get("WAITING", "1000000"))
READINGS = 600
# Times what it costs with a thousand: room for a machine that does other work.
MOST = 1.5


def cost(count):
    """Processor time in ms and bytes written, each of a reading."""
    with box() as home:
        file = home.gateway.file
        file.write_text(file.read_text().replace(str(home.receiver.port), str(free_ports(1)[0])))
        home.start()
        home.told.wait("read", 1)
        home.gateway.stop()
        backlog.fill(home.gateway.state / "queue.db", count)
        home.start()
        home.told.wait("read", 100)
        before = home.told.count("read"), processor_time(home.process), written(home.process)
        home.told.wait("read", before[0] + READINGS, seconds=READINGS)
        after = home.told.count("read"), processor_time(home.process), written(home.process)
        readings, seconds, size = (end - start for start, end in zip(before, after))
        home.gateway.stop()
        return seconds * 1000 / readings, size / readings


def waiting():
    needed = WAITING * 1500
    if shutil.disk_usage("/tmp").free < needed:
        raise Failure(f"{needed >> 20} MiB have to be free in /tmp")
    few, many = cost(1000), cost(WAITING)
    print(f"a reading: {few[0]:.1f} ms of a processor and {few[1] / 1024:.0f} KiB written with 1,000 that wait, "
          f"{many[0]:.1f} ms and {many[1] / 1024:.0f} KiB with {WAITING:,}", flush=True)
    for name, one, other in zip(("processor time", "bytes written"), few, many):
        if other > MOST * one:
            raise Failure(f"{name}: {other / one:.2f} times as much")
