"""What docs/destinations/fhir.md shows is what happens: its configurations, and the commands to try it."""

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from kit.gateway import INGESTD, Failure, check, expect_equal
from kit.ports import free_ports, wait_for_port

from .samples import ROOT

TEXT = (ROOT / "docs/destinations/fhir.md").read_text()


def blocks():
    """A destination, what stands in the place of its credential for OAuth, and the configuration of a trial."""
    found = re.findall("^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    expect_equal(len(found), 3, "configurations")
    return found


def commands(word):
    return re.findall(f"^    ({word} .*)$", TEXT, re.MULTILINE)


def have_good_configurations():
    with tempfile.TemporaryDirectory(prefix="fhir-") as temporary:
        file = Path(temporary) / "ingestd.yaml"
        destination, oauth, trial = blocks()
        key = Path(temporary) / "fhir-key.pem"
        subprocess.run(["openssl", "ecparam", "-name", "secp384r1", "-genkey", "-noout", "-out", key], check=True)
        key.chmod(0o600)
        oauth = oauth.replace("/etc/ingestd/fhir-key.pem", str(key))
        by_token = re.sub("^    credential: .*\n", lambda _: oauth, destination, flags=re.MULTILINE)
        for text in ("peripherals: [{id: 1001}]\n" + destination, "peripherals: [{id: 1001}]\n" + by_token, trial):
            file.write_text(text)
            expect_equal(check(file, {"CREDENTIALS_DIRECTORY": ""}), (0, []), "check")


def have_commands_that_work():
    """The server, the gateway and curl, as they are shown."""
    port = str(free_ports(1)[0])
    with tempfile.TemporaryDirectory(prefix="fhir-") as temporary:
        def here(text):
            return text.replace("8100", port).replace("/tmp/ingestd-fhir", temporary + "/state").replace(
                "ingestd-simulated run", INGESTD + "-simulated run")

        (Path(temporary) / "fhir.yaml").write_text(here(blocks()[-1]))
        started = [subprocess.Popen(here(command).split(), cwd=directory, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, env={**os.environ, "INGESTD": INGESTD})
                   for command, directory in ((commands("Tests/System/FHIR/run")[0], ROOT),)]
        try:
            wait_for_port(int(port), started[0])
            started.append(subprocess.Popen(here(commands("ingestd-simulated run")[0]).split(), cwd=temporary,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            observations, patients, media = (here(command).split() for command in commands("curl"))
            deadline = time.monotonic() + 60
            while json.loads(subprocess.check_output(observations, timeout=20))["total"] < 6:
                if time.monotonic() > deadline:
                    raise Failure("the readings did not come within 60 s")
                time.sleep(0.5)
            found = json.loads(subprocess.check_output(patients, timeout=20))["entry"]
            expect_equal({entry["resource"]["identifier"][0]["value"] for entry in found}, {"patient-17", "patient-18"},
                         "Patients")
            (Path(temporary) / "display.jpg").write_bytes(b"\xff\xd8\xff\xe0")
            submit = commands("ingestd submit")[0].replace("ingestd submit", INGESTD + " submit")
            said = subprocess.check_output(submit.split(), cwd=temporary, stdin=subprocess.DEVNULL, timeout=60)
            if b"The image goes along to clinic." not in said:
                raise Failure(f"submit says {said}")
            while json.loads(subprocess.check_output(media, timeout=20))["total"] < 1:
                if time.monotonic() > deadline:
                    raise Failure("the image did not come within 60 s")
                time.sleep(0.5)
        finally:
            for program in reversed(started):
                program.terminate()
            written = started[0].communicate(timeout=20)[0].decode()
            for program in started:
                program.wait(timeout=20)
        if "200 201 201" not in written:
            raise Failure(f"the server shows {written[:300]}")


CASES = {"document-configurations": have_good_configurations, "document-commands": have_commands_that_work}
