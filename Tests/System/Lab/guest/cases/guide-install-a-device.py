"""docs/install-a-device.md as it stands, on a box without the program."""

import os

from labkit import guide, package, tls
from labkit.gateway import local_time
from labkit.guide import Guide
from labkit.kinds import CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal

TITLE = "docs/install-a-device.md as written, from a box without the program to the first reading and away with the device"
LIMIT_S = 500
NEEDS_PACKAGE = True
SCANS_ACTIVELY = True
# As the page has it.
ADDRESS = "C0:00:00:00:00:02"
# By which the cuff's clock is ahead: it shows whole seconds, and what was measured before the entry is nobody's.
MARGIN_S = 5


def run(lab):
    with guide.empty_box(), tls.front("clinic.example"):
        page = Guide("install-a-device", os.path.dirname(package.path("newer")))
        # It has a case of its own: setup-from-empty-box.
        page.take("ingestd setup")
        install_box(lab, page)
        cuff = lab.air.add("cuff", ADDRESS, CUFF, bonding={"method": "just-works"})
        allow(page, cuff)
        measure(lab, page, cuff)
        expect("0 errors" in page.run("ingestd doctor"), "the doctor is content")
        page.run_inline('ingestd remove "kitchen cuff"')
        page.end()


def install_box(lab, page):
    lines = page.run("apt install").splitlines()
    expect(any(line.startswith("ingestd ") and line.endswith(": healthy") for line in lines), f"status: {lines}")
    for words in ("clock     right", "the allow-list is empty"):
        expect(any(words in line for line in lines), f"{words!r} is missing: {lines}")
    page.run("install -m 0600", given="tok-3f1b\n")
    page.write("destinations:")
    expect("the allow-list is empty" in page.run("ingestd check"), "check warns that there is no device yet")


def allow(page, cuff):
    cuff.linger()
    entry = f'- {{id: 1001, address: "{ADDRESS}"}}'
    expect(entry in page.run("ingestd scan --known"), f"scan shows {entry}")
    cuff.linger(False)
    expect("pair" in page.run_inline("ingestd peripherals 1001").lower(), "how the model is paired")
    page.run("ingestd add 1001")
    pairing = page.terminal("ingestd pair")
    pairing.wait("Waiting for")
    cuff.pairing_mode()
    expect_equal(pairing.end(), 0, f"exit status of ingestd pair, which said {pairing.text!r}")


def measure(lab, page, cuff):
    read = page.terminal("ingestd read")
    read.wait("Waiting for")
    cuff.give(blood_pressure((121, 0), (80, 0), (94, 0), DateTime.of(local_time(seconds=-MARGIN_S))))
    expect_equal(read.end(), 0, f"exit status of ingestd read, which said {read.text!r}")
    expect("121" in read.text, f"what ingestd read said: {read.text!r}")
    record, = lab.receiver.wait(cuff)
    expect_equal((record["subject"], record["device"]["alias"]), ("patient-17", "kitchen cuff"), "the record")
    lab.journal.wait("submitted", destination="clinic")
    said = page.run("ingestd status")
    for words in ("healthy", "kitchen cuff", "clinic", "blood-pressure"):
        expect(words in said, f"{words!r} is missing in what status and records say: {said}")
