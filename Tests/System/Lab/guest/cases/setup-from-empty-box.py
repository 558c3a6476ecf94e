"""`ingestd setup` as an installer runs it: from a box with nothing configured to the first reading of a cuff."""

import glob
import os
import shutil
import time

from labkit import commands
from labkit.gateway import CONFIGURATION, UNIT, local_time, write_readable
from labkit.kinds import BEURER_CUFF, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.receiver import URL
from labkit.tags import tag
from labkit.terminal import Terminal
from labkit.waiting import expect_equal

TITLE = "setup from an empty box to the delivered readings of a bonded cuff and of a thermometer"
LIMIT_S = 400
SCANS_ACTIVELY = True
DEVICE = "model ID and ADDRESS"
DELIVERY_LIMIT_S = 120
# By which the cuff's clock is ahead: it shows whole seconds, and what was measured before the entry is nobody's.
MARGIN_S = 5
DIRECTORIES = ("/etc/ingestd/conf.d", "/etc/ingestd/credentials")
# As the package makes it, but for the clock: the guest's is right, though nothing in it says so.
SHIPPED = "gateway:\n  trust_clock: true\nperipherals:\ndestinations:\n"
TOKEN = "tok-3f1b"


def run(lab):
    lab.gateway.stop()
    package_directory()
    write_readable(CONFIGURATION, SHIPPED)
    cuff = lab.add("BM54", BEURER_CUFF, bonding={"method": "passkey"})
    thermometer = lab.add("thermometer", THERMOMETER)
    try:
        begin = time.monotonic()
        terminal = Terminal("ingestd", "setup")
        keys = set_up(lab, terminal, cuff)
        minutes = (time.monotonic() - begin) / 60
        add_another(lab, terminal, thermometer)
        expect_equal(terminal.end(), 0, "exit status of ingestd setup")
        record, = lab.receiver.wait(cuff)
        expect_equal((record["subject"], record["device"]["alias"]), ("patient-17", "kitchen cuff"), "the cuff's record")
        lab.journal.wait("submitted", record_id=tag(record["id"]), destination="webhook")
        expect_equal(commands.is_active(UNIT), True, "the service runs")
        expect_equal(commands.run("systemctl", "is-enabled", UNIT), "enabled", "at the next start of the box")
        expect_equal(commands.run("ingestd", "status").splitlines()[0].rsplit(" ", 1)[-1], "healthy", "status")
        return f"{keys} keystrokes beside URL and token, {minutes:.1f} min"
    finally:
        lab.gateway.stop()
        for directory in DIRECTORIES:
            shutil.rmtree(directory, ignore_errors=True)


def package_directory():
    """For the service's group, as the package makes it."""
    directory = os.path.dirname(CONFIGURATION)
    os.makedirs(directory, exist_ok=True)
    shutil.chown(directory, group="ingestd")
    os.chmod(directory, 0o750)


def set_up(lab, terminal, cuff):
    """Up to the delivered reading of the cuff. Returns how often a key was pressed."""
    terminal.answer("Start it now")
    terminal.answer("Type, by its number", "1")
    terminal.answer("Name of the destination")
    terminal.answer("url, a URL", f"{URL}/readings")
    terminal.answer("not shown while you type", TOKEN)
    terminal.wait("Device:")
    cuff.pairing_mode()
    terminal.choose(DEVICE, cuff.address)
    terminal.answer("Which model, by its number")
    terminal.answer("What do you call it", "kitchen cuff")
    terminal.answer("Whose readings are these", "patient-17")
    terminal.wait("Passkey, six digits")
    terminal.type(cuff.shown[-1])
    terminal.wait("Waiting up to")
    cuff.give(blood_pressure((121, 0), (80, 0), (94, 0), DateTime.of(local_time(seconds=-MARGIN_S))))
    terminal.wait("Delivered to webhook: blood-pressure of kitchen cuff, ", DELIVERY_LIMIT_S)
    return terminal.keys - len(f"{URL}/readings") - len(TOKEN)


def add_another(lab, terminal, thermometer):
    """One that is not paired."""
    terminal.answer("Another device?", "y")
    terminal.wait("Device:")
    thermometer.give(temperature(366, -1))
    terminal.choose(DEVICE, thermometer.address)
    terminal.answer("Which model, by its number")
    terminal.answer("What do you call it", "hall")
    terminal.answer("Whose readings are these", "patient-18")
    terminal.wait("Delivered to webhook: body-temperature of hall, ", DELIVERY_LIMIT_S)
    terminal.answer("Another device?")
    expect_equal([os.path.basename(path) for path in sorted(glob.glob("/etc/ingestd/conf.d/*"))],
                 ["destination-webhook.yaml", "hall.yaml", "kitchen-cuff.yaml"], "what was written")
