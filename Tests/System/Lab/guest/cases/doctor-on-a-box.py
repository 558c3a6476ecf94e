"""`ingestd doctor` beside a real systemd, bluetoothd and journal."""

import json
import os
import subprocess

from labkit.gateway import UNIT
from labkit.kinds import THERMOMETER
from labkit.operator import PROGRAM
from labkit.payloads import temperature
from labkit.receiver import URL
from labkit.waiting import expect, expect_equal

TITLE = "the doctor judges unit, credentials, files, adapter and bluetoothd as they are, and reports the journal"
LIMIT_S = 240
# systemd reads it for the unit, which has LoadCredential=backend-token.
STORE = "/etc/credstore/backend-token"
CLOSED = "/etc/ingestd/doctor-token"
COMMAND_LIMIT_S = 180


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    for path in (STORE, CLOSED):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("s3cret-of-the-doctor\n")
        os.chmod(path, 0o600)
    try:
        destinations = [webhook("doctor-by-systemd", credential="backend-token"),
                        webhook("doctor-closed", credential=CLOSED)]
        lab.gateway.start(thermometer, sections={"destinations": destinations})
        thermometer.give(temperature(371, -1))
        lab.journal.wait("submitted", destination="doctor-by-systemd")
        findings = examine(1)
        levels = {name: [one["level"] for one in findings if one["check"] == name]
                  for name in ("files", "load-credential", "bluetoothd")}
        expect_equal(levels, {"files": ["ok"], "load-credential": ["ok"], "bluetoothd": ["ok"]}, "what is well")
        unit = next(one for one in findings if one["check"] == "unit")
        expect("active" in unit["message"] or "runs" in unit["message"], f"the unit: {unit}")
        expect(any("listens on hci" in one["message"] for one in findings if one["check"] == "adapter"),
               f"the adapter: {findings}")
        expect("version" in next(one["message"] for one in findings if one["check"] == "bluetoothd"),
               "bluetoothd's version")
        expect_equal(steps(findings, "doctor-by-systemd"), ["credential ok", "tcp ok", "request ok"], "the destination")
        expect_equal(steps(findings, "doctor-closed")[0], "credential error", "what the service may not read")
        report = doctor("--report", status=1)
        for words in ("ActiveState=active", "LoadCredential=backend-token", "submitted"):
            expect(words in report, f"{words} is missing in the report: {report[-3000:]}")
        for word in (thermometer.address, "s3cret-of-the-doctor"):
            expect(word not in report, "the report holds what it must not")
        told = subprocess.run([PROGRAM, "check"], capture_output=True, text=True, timeout=COMMAND_LIMIT_S, check=True).stderr
        expect(f"{CLOSED}: the service's user ingestd may not read it" in told, f"check: {told}")
        lab.gateway.stop()
        unit = next(one for one in examine(1) if one["check"] == "unit")
        expect_equal(unit["level"], "error", f"{UNIT} that does not run")
    finally:
        for path in (STORE, CLOSED):
            os.remove(path)


def doctor(*arguments, status):
    result = subprocess.run([PROGRAM, "doctor", *arguments], capture_output=True, text=True, timeout=COMMAND_LIMIT_S,
                            check=False)
    expect_equal(result.returncode, status, f"the doctor's exit status; {result.stderr}")
    return result.stdout


def examine(status):
    return json.loads(doctor("--json", status=status))["findings"]


def steps(findings, name):
    return [f"{one['check']} {one['level']}" for one in findings if one.get("destination") == name]


def webhook(name, **keys):
    return {"name": name, "type": "webhook", "url": f"{URL}/readings", "batch": {"max_wait": "200ms"}, **keys}
