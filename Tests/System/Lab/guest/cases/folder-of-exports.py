"""The folder of exports: the path unit, whoever writes into it, and what becomes of the files."""

import json
import os
import shutil

from labkit import commands, gateway
from labkit.gateway import UNIT
from labkit.waiting import expect, expect_equal, hold_for, wait_until

TITLE = ("an export that a sync client renames into the folder is delivered, for the person of the drop-in; a bad one is "
         "told, one that comes while the service is down is taken later")
LIMIT_S = 500
PATH_UNIT, IMPORT_UNIT = "ingestd-import.path", "ingestd-import.service"
FOLDER = "/var/lib/ingestd-import"
DROP_IN = f"/run/systemd/system/{IMPORT_UNIT}.d/lab.conf"
UNITS = "/usr/lib/systemd/system"
TMPFILES = "/usr/lib/tmpfiles.d/ingestd.conf"
CLIENT = "lab-sync"
# A file rests ten seconds before it is taken.
TAKE_LIMIT_S = 90
RETRY_LIMIT_S = 180
WATCH_S = 5


def run(lab):
    install()
    try:
        lab.gateway.start(adapter=False)
        expect_equal(commands.run("systemctl", "is-enabled", PATH_UNIT, check=False), "disabled", "as installed")
        score = commands.run("systemd-analyze", "security", "--no-pager", IMPORT_UNIT).rsplit("UNIT: ", 1)[-1]
        commands.run("systemctl", "enable", "--now", PATH_UNIT)
        delivers(lab)
        leaves_alone(lab)
        tells_of_a_bad_one(lab)
        waits_for_the_service(lab)
        return " ".join(score.split("exposure level for")[-1].split())
    finally:
        remove()


def install():
    """What the package installs; it leaves the path unit disabled."""
    for name in (PATH_UNIT, IMPORT_UNIT):
        commands.run("install", "-D", "-m", "644", f"{gateway.PAYLOAD}/{name}", f"{UNITS}/{name}")
    commands.run("install", "-D", "-m", "644", f"{gateway.PAYLOAD}/ingestd.tmpfiles.conf", TMPFILES)
    commands.run("systemd-tmpfiles", "--create", TMPFILES)
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    with open(DROP_IN, "w", encoding="utf-8") as text:
        text.write('[Service]\nEnvironment="IMPORT_OPTIONS=--subject patient-17"\nRestartSec=5s\n')
    commands.run("useradd", "--system", "--no-create-home", "--groups", "ingestd-import", CLIENT)
    commands.run("systemctl", "daemon-reload")


def remove():
    commands.run("systemctl", "disable", "--now", PATH_UNIT, IMPORT_UNIT, check=False)
    commands.run("userdel", CLIENT, check=False)
    for file in (f"{UNITS}/{PATH_UNIT}", f"{UNITS}/{IMPORT_UNIT}", TMPFILES, DROP_IN):
        if os.path.exists(file):
            os.remove(file)
    shutil.rmtree(FOLDER, ignore_errors=True)
    commands.run("systemctl", "daemon-reload")
    commands.run("systemctl", "reset-failed", IMPORT_UNIT, check=False)


def export(kilograms, second):
    """A document as the app writes it, of one weight."""
    weight = {"qty": kilograms, "date": f"2026-02-06 14:30:{second:02} +0000", "source": "Scale"}
    return json.dumps({"data": {"metrics": [{"name": "weight_body_mass", "units": "kg", "data": [weight]}]}})


def put(name, text):
    """As a sync client does: written under a hidden name, then renamed."""
    script = 'umask 027; printf %s "$1" > ".$2.tmp" && mv ".$2.tmp" "$2"'
    commands.run("runuser", "-u", CLIENT, "--", "sh", "-c", f"cd {FOLDER}/incoming; {script}", "sh", text, name)


def files(place):
    return sorted(os.listdir(f"{FOLDER}/{place}"))


def told():
    """What the import says. What systemd says of its unit is left out: it has figures of its own, as of processor time."""
    return commands.run("journalctl", "--no-pager", "--output=cat", f"_SYSTEMD_UNIT={IMPORT_UNIT}")


def weights(lab):
    """What the backend has got since the case began."""
    return {record["measurements"][0]["value"]: record for record in lab.receiver.records()
            if record["kind"] == "weight"}


def delivers(lab):
    expect_equal(commands.run("stat", "--format=%U:%G %a", f"{FOLDER}/incoming"), "ingestd-import:ingestd-import 2770",
                 "incoming")
    put("one.json", export(71, 1))
    wait_until("the file is done", TAKE_LIMIT_S, lambda: files("done") == ["one.json"])
    wait_until("its record is delivered", TAKE_LIMIT_S, lambda: 71 in weights(lab))
    expect_equal(weights(lab)[71]["subject"], "patient-17", "whose it is")
    journal = told()
    expect("one.json is in done now: 1 new record" in journal, f"the journal says {journal!r}")
    refused = commands.run("runuser", "-u", CLIENT, "--", "cat", f"{FOLDER}/done/one.json", check=False)
    expect("71" not in refused, "the client does not see what was imported")


def leaves_alone(lab):
    """A file under another name, as one that is written still."""
    with open(f"{FOLDER}/incoming/two.json.part", "w", encoding="utf-8") as file:
        file.write(export(72, 2))
    hold_for("it stays", WATCH_S, lambda: files("incoming") == ["two.json.part"])
    os.rename(f"{FOLDER}/incoming/two.json.part", f"{FOLDER}/incoming/two.json")
    os.chmod(f"{FOLDER}/incoming/two.json", 0o644)
    wait_until("it is done when it has its name", TAKE_LIMIT_S, lambda: "two.json" in files("done"))
    wait_until("its record is delivered", TAKE_LIMIT_S, lambda: 72 in weights(lab))


def tells_of_a_bad_one(lab):
    put("three.json", export(73, 3)[:-20])
    wait_until("it is in bad", TAKE_LIMIT_S, lambda: files("bad") == ["three.json"])
    journal = told()
    expect("three.json is in bad now: its document breaks off at byte" in journal, f"the journal says {journal!r}")
    expect("73" not in journal, f"no number is told, and the journal says {journal!r}")


def waits_for_the_service(lab):
    lab.gateway.stop()
    put("four.json", export(74, 4))
    wait_until("the import has failed, and is tried again", TAKE_LIMIT_S,
               lambda: "no service listens" in commands.run("journalctl", "--no-pager", "--unit", IMPORT_UNIT))
    expect_equal(files("incoming"), ["four.json"], "what is left in incoming")
    commands.run("systemctl", "start", UNIT)
    wait_until("it is done", RETRY_LIMIT_S, lambda: "four.json" in files("done"))
    wait_until("its record is delivered", TAKE_LIMIT_S, lambda: 74 in weights(lab))
    wait_until("the import has ended well", TAKE_LIMIT_S,
               lambda: commands.run("systemctl", "show", "--property=ActiveState", "--value", IMPORT_UNIT) == "inactive")
