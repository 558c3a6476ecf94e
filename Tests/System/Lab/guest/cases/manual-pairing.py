"""What docs/operating.md tells an installer, from the box to the first record, done as it stands there."""

import json
import re

from labkit import commands
from labkit.gateway import CONFIGURATION, local_time, write_readable
from labkit.kinds import BEURER_CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.terminal import Terminal
from labkit.waiting import expect, expect_equal

TITLE = "docs/operating.md from the box to the first record: a cuff that shows a passkey"
LIMIT_S = 240
# By which the cuff's clock is ahead: it shows whole seconds.
MARGIN_S = 5


def run(lab):
    lab.gateway.start(adapter=False)
    # Step 1.
    expect("Beurer BM 54" in commands.run("ingestd", "peripherals"), "the model is not listed")
    expect("pair" in commands.run("ingestd", "peripherals", "2020"), "the model has no instructions")
    # Steps 2 and 3.
    allow({"id": 2020, "alias": "kitchen cuff"})
    # Step 4: the command first, then the device's pairing mode.
    cuff = lab.add("BM54", BEURER_CUFF, bonding={"method": "passkey"})
    terminal = Terminal("ingestd", "pair", "2020")
    terminal.wait("Waiting for the device")
    cuff.pairing_mode()
    terminal.wait("Passkey, six digits")
    terminal.type(cuff.shown[-1])
    expect_equal(terminal.end(), 0, "exit status of ingestd pair")
    # Step 5: the printed entry, with whose readings these are.
    pattern = r'\{id: 2020, address: "([0-9A-F:]+)", alias: "kitchen cuff", require_bond: true\}'
    printed = re.search(pattern, terminal.text)
    expect(printed and printed[1] == cuff.address, f"the printed entry: {terminal.text}")
    allow({"id": 2020, "address": printed[1], "alias": "kitchen cuff", "subject": "patient-17",
           "require_bond": True})
    # Step 6. A signal is not waited for, and what was measured before the reload is nobody's.
    lab.journal.wait("config-reloaded", count=2)
    measured = DateTime.of(local_time(seconds=-MARGIN_S))
    cuff.give(blood_pressure((121, 0), (80, 0), (94, 0), measured))
    cuff.wait_given()
    record, = lab.receiver.wait(cuff)
    expect_equal((record["subject"], record["device"]["alias"]), ("patient-17", "kitchen cuff"), "the record")
    for event in ("read", "submitted"):
        lab.journal.wait(event, kind="blood-pressure")
    # And when the device leaves.
    commands.run("ingestd", "unpair", cuff.address)
    # bluetoothctl also tells of devices that bluetoothd forgets meanwhile, each behind a mark.
    listed = [line for line in commands.run("bluetoothctl", "devices", "Paired").splitlines()
              if line.startswith("Device ")]
    expect_equal(listed, [], "bonds")


def allow(entry):
    """Makes this the allow-list, checks it and has the service read it."""
    with open(CONFIGURATION, encoding="utf-8") as file:
        configuration = json.load(file)
    configuration["peripherals"] = [entry]
    write_readable(CONFIGURATION, json.dumps(configuration, indent=1) + "\n")
    commands.run("ingestd", "check")
    commands.run("systemctl", "reload", "ingestd")
