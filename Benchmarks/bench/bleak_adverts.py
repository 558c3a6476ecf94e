"""What one advert costs bleak: the CPU time of a process that does nothing but call back.

Run as a program: bleak_adverts.py COUNT; prints nanoseconds an advert."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_S = 120


async def listen(count):
    from bleak import BleakScanner

    seen, all_seen = 0, asyncio.Event()
    began = None

    def callback(device, advertisement):
        nonlocal seen, began
        # The first ones are of the devices that the daemon knew before.
        seen += 1
        if seen == 4:
            began = time.process_time_ns()
        if seen == count:
            all_seen.set()

    async with BleakScanner(callback):
        await asyncio.wait_for(all_seen.wait(), LIMIT_S)
        return (time.process_time_ns() - began) / (count - 4)


def main(count):
    with tempfile.TemporaryDirectory() as directory:
        address = f"unix:path={directory}/bus"
        configuration = Path(directory) / "bus.conf"
        configuration.write_text(f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>{address}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>""")
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = address
        bus = subprocess.Popen(["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"],
                               stderr=subprocess.DEVNULL)
        daemon = None
        try:
            while not Path(directory, "bus").exists():
                time.sleep(0.01)
            daemon = subprocess.Popen([sys.executable, str(Path(__file__).parent / "bluetoothd.py"), str(count)],
                                      stdout=subprocess.PIPE)
            daemon.stdout.readline()
            print(asyncio.run(listen(count)))
        finally:
            for process in (daemon, bus):
                if process:
                    process.terminate()
                    process.wait()


main(int(sys.argv[1]))
