"""config/fleet/ansible as it stands, with Debian's ansible-core, on the box itself."""

import json
import os
import re
import shutil
import subprocess

from labkit import fleet, guide, package, tls
from labkit.kinds import CUFF
from labkit.waiting import BUSY_FACTOR, expect, expect_equal

TITLE = "Ansible sets a box up, changes nothing the second time, and a mistake leaves the service as it is"
LIMIT_S = 800
NEEDS_PACKAGE = True
PLAY_LIMIT_S = 400
VARIABLES = "/run/fleet.json"
CUFF_ENTRY = {"id": 1001, "address": fleet.ADDRESS, "alias": "cuff", "subject": "patient-17"}


def run(lab):
    os.makedirs(fleet.EXPORTER, exist_ok=True)
    try:
        with guide.empty_box(), tls.front(fleet.BACKEND):
            cuff = lab.air.add("cuff", fleet.ADDRESS, CUFF)
            play("a box from nothing")
            fleet.expect_box(lab, cuff)
            before = fleet.state()
            expect_equal(play("the same again"), 0, "tasks that changed something the second time")
            expect_equal(fleet.state(), before, "the box after the second time")
            mistake(lab)
            reloaded(lab)
            restarted(lab)
    finally:
        shutil.rmtree(fleet.EXPORTER)
        shutil.rmtree("/etc/ingestd/credentials", ignore_errors=True)
        shutil.rmtree("/etc/ingestd/.next", ignore_errors=True)


def mistake(lab):
    before = fleet.state()
    said = play("a mistake", failing=True, ingestd_box={"gateway": {"id": "ward-1"},
                                                        "peripherals": [{**CUFF_ENTRY, "id": 4711}]})
    expect("peripherals[0].id" in said, f"the play names the mistake: {said!r}")
    expect_equal(fleet.state(), before, "the box after a mistake")
    expect_equal(lab.journal.events("config-rejected"), [], "reloads that were rejected")


def reloaded(lab):
    """What is the box's alone is taken without a restart."""
    before = fleet.state()[-1]
    reloads = len(lab.journal.events("config-reloaded"))
    play("another alias", ingestd_box={"gateway": {"id": "ward-1"},
                                       "peripherals": [{**CUFF_ENTRY, "alias": "kitchen cuff"}]})
    lab.journal.wait("config-reloaded", count=reloads + 1)
    expect_equal(fleet.state()[-1], before, "the service's process after a reload")


def restarted(lab):
    """What a reload does not take fails until somebody has the service restarted."""
    variables = {"ingestd_box": {"gateway": {"id": "ward-9"}, "peripherals": [CUFF_ENTRY]}}
    play("another id", failing=True, **variables)
    lab.journal.wait("config-rejected")
    play("with a restart", ingestd_restart=True, **variables)


def play(what, failing=False, **variables):
    """Runs the play on ward-1, which is this box. Returns how many tasks changed something, or what a play said that failed as
    it should."""
    with open(VARIABLES, "w", encoding="utf-8") as file:
        json.dump({"ansible_connection": "local", "ansible_become": False, "ingestd_package": package.path("newer"),
                   "vault_fleet_token": fleet.TOKEN, "vault_fleet_signing_key": fleet.SIGNING_KEY, **variables}, file)
    done = subprocess.run(
        ["ansible-playbook", "-i", "inventory.yaml", "--limit", "ward-1", "--extra-vars", f"@{VARIABLES}", "play.yaml"],
        cwd=f"{fleet.FILES}/ansible", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=PLAY_LIMIT_S * BUSY_FACTOR, check=False,
        env={**os.environ, "HOME": "/root", "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1"})
    failed = done.returncode != 0
    expect_equal(failed, failing, f"the play fails ({what}), which said {done.stdout!r}")
    expect(fleet.TOKEN not in done.stdout and fleet.SIGNING_KEY not in done.stdout, "a play says no credential")
    return done.stdout if failed else int(re.search(r"\bchanged=(\d+)", done.stdout)[1])
