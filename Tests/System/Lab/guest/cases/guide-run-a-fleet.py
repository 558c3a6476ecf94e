"""docs/run-a-fleet.md as it stands, from the image to a box that leaves."""

import base64
import json
import os

from labkit import commands, guide, package, tls
from labkit.gateway import UNIT, local_time
from labkit.guide import Guide
from labkit.kinds import CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "docs/run-a-fleet.md as written: image, box, refused record sent again, lost one sent again, upgrade, purge"
LIMIT_S = 500
NEEDS_PACKAGE = True
# As the page has it.
ADDRESS = "C0:00:00:00:00:02"
METRICS = "/run/ingestd/metrics.prom"
MARGIN_S = 5
START_LIMIT_S = 90


def run(lab):
    with guide.empty_box(), tls.front("fleet.example"):
        page = Guide("run-a-fleet", os.path.dirname(package.path("newer")))
        page.run_inline("apt install ./ingestd_*.deb")
        make_image(page)
        # The box starts from it.
        commands.run("systemctl", "restart", UNIT)
        cuff = lab.air.add("cuff", ADDRESS, CUFF)
        provision(lab, page)
        watch(lab, page, cuff)
        send_again(lab, page, cuff)
        page.run_inline("apt install ./ingestd_*.deb")
        wait_until("the service runs", START_LIMIT_S, lambda: commands.is_active(UNIT))
        page.run_inline("apt purge ingestd")
        expect_equal(package.left_behind(), [], "left by the purge")
        page.end()


def make_image(page):
    page.write("destinations:")
    credentials = {"fleet-token": "tok-3f1b",
                   "fleet-signing-key": "whsec_" + base64.b64encode(bytes(range(32))).decode()}
    for name, text in credentials.items():
        guide.run(f"install -m 0600 -o ingestd /dev/stdin /etc/ingestd/{name}", "/", text + "\n")
    expect_equal(json.loads(page.run("ingestd check --json"))["ok"], True, "check")


def provision(lab, page):
    page.run("ingestd add 1001")
    page.run("systemctl reload ingestd")
    lab.journal.wait("adapter-ready", seconds=START_LIMIT_S)
    page.run("ingestd doctor")


def watch(lab, page, cuff):
    expect_equal(json.loads(page.run("ingestd status --json"))["problems"], [], "problems")
    wait_until("the metrics say that it is healthy", START_LIMIT_S,
               lambda: "\ningestd_healthy 1\n" in package.read(METRICS))
    lab.receiver.refuse("patient-17")
    cuff.give(blood_pressure((121, 0), (80, 0), (94, 0), DateTime.of(local_time(seconds=-MARGIN_S))))
    lab.journal.wait("failed", destination="fleet")
    expect("fleet" in page.run("journalctl -u ingestd"), "the journal shows it")


def send_again(lab, page, cuff):
    expect_equal(lab.receiver.records(cuff), [], "records at the receiver")
    lab.receiver.refuse("")
    page.run("ingestd failed retry")
    record, = lab.receiver.wait(cuff)
    lab.journal.wait("submitted", destination="fleet")
    page.run("ingestd records --since 2d")
    lab.journal.wait("submitted", count=2, destination="fleet")
    expect_equal([one["id"] for one in lab.receiver.wait(cuff, count=2)], [record["id"]] * 2, "what came again")
