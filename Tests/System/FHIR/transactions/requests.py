"""What the gateway on its built-in peripherals leaves on a server, by what the server reads back."""

import base64
import json
import os
import random
import subprocess

from kit.gateway import INGESTD, Failure, Gateway, expect_equal

from .server import Server

# Of the peripherals below.
READINGS = 12
OWN = "urn:uuid:02322d06-b248-45e8-8c81-81d8effc6022"
SYSTEM = "urn:oid:2.999.1"
PERIPHERALS = [{"id": model, "address": address, "subject": subject, "subject_since": "2020-01-01"}
               for model, address, subject in [
                   (1002, "C0:00:00:00:00:01", "patient-17"), (1001, "C0:00:00:00:00:02", "patient 18"),
                   (1000, "C0:00:00:00:00:04", "patient-17"), (1004, "C0:00:00:00:00:05", "patient-17")]]
BAD = "150364"

# Of images of entries.
JPEG = b"\xff\xd8\xff\xe0"


def code(resource):
    return resource["code"]["coding"][0]["code"]


def is_bad(resource):
    return resource["resourceType"] == "Observation" and code(resource) == BAD


def is_measurement(resource):
    return code(resource) != "67975"


class Requests:
    """Servers of every kind, and one gateway that delivers to all of them."""

    def __init__(self, directory):
        self.directory = directory
        self.servers = {name: Server() for name in
                        ("plain", "gzip", "lost", "dislikes", "each", "by-id", "secret")}
        self.servers["lost"].lost = 1
        for name in ("dislikes", "each"):
            self.servers[name].dislikes = is_bad
        self.servers["each"].answers_each = True
        self.servers["by-id"].resources["Patient/patient-17"] = {"resourceType": "Patient", "id": "patient-17"}
        destinations = {name: {"type": "fhir", "url": server.url, "patient_system": SYSTEM, "batch": {"max_wait": "2s"}}
                        for name, server in self.servers.items()}
        destinations["gzip"]["gzip"] = True
        del destinations["by-id"]["patient_system"]
        token = directory / "token"
        token.write_text("user:s3cret-password\n")
        token.chmod(0o600)
        destinations["secret"] |= {"credential": str(token), "auth": "basic"}
        self.gateway = Gateway(directory, "fhir", destinations, peripherals=PERIPHERALS)

    def stop(self):
        for server in self.servers.values():
            server.stop()
        return self.gateway.stop()

    def measurements(self, name):
        return [resource for resource in self.servers[name].of("Observation") if is_measurement(resource)]

    # The cases

    def arrives(self):
        for name in ("plain", "gzip", "lost", "secret"):
            self.gateway.wait(name, "submitted", 90, count=READINGS)
            refused = [answer for answer in self.servers[name].answers if answer[0] not in (200, 503)]
            expect_equal(refused, [], f"answers of {name}")

    def has_every_reading(self):
        found = self.measurements("plain")
        records = {item["value"].removeprefix("urn:uuid:") for resource in found for item in resource["identifier"]
                   if item["system"] == "urn:ietf:rfc:3986"}
        expect_equal(set(self.gateway.tags(records)), {event["INGEST_RECORD_ID"]
                                                       for event in self.gateway.of("plain", "submitted")}, "records")
        codes = {code(resource) for resource in found}
        expect = {"150364", "150020", "149546", "160184", "188736", "188748"}
        if not expect <= codes:
            raise Failure(f"measurements: {sorted(codes)}")
        for resource in found:
            expect_equal(resource["meta"].get("security"), [
                {"system": "http://terminology.hl7.org/CodeSystem/v3-ActReason", "code": "HTEST"}], "labels")

    def keeps_the_digits(self):
        """As the server gives it back, over HTTP."""
        shown = subprocess.run(["curl", "--silent", "--fail", self.servers["plain"].url + "/Observation"],
                               capture_output=True, text=True, check=True, timeout=20).stdout
        for digits in ("36.60", ):
            if f'"value": {digits},' not in shown:
                raise Failure(f"{digits} is not there")
        json.loads(shown)

    def knows_people_and_devices(self):
        server = self.servers["plain"]
        expect_equal(len(server.find("Patient", (SYSTEM, "patient-17"))), 1, "Patients of patient-17")
        expect_equal(len(server.find("Patient", (SYSTEM, "patient 18"))), 1, "Patients of patient 18")
        expect_equal(len(server.of("Patient")), 2, "Patients")
        expect_equal(len(server.find("Device", (OWN, "delivery-box"))), 1, "gateways")
        expect_equal(len(server.of("Device")), 1 + len(PERIPHERALS), "Devices")
        cuff, = server.find("Device", ("http://hl7.org/fhir/sid/eui-48/bluetooth", "C0-00-00-00-00-02"))
        person, = server.find("Patient", (SYSTEM, "patient 18"))
        found = [resource for resource in self.measurements("plain")
                 if resource["device"]["reference"] == f"Device/{cuff['id']}"]
        expect_equal({resource["subject"]["reference"] for resource in found}, {f"Patient/{person['id']}"}, "people")

    def creates_nothing_twice(self):
        """An answer was lost: the same request came again, and found everything there."""
        answers = self.servers["lost"].answers
        expect_equal(answers[0][0], 503, "the first answer")
        expect_equal(set(answers[1][1]), {"200"}, "the statuses of the second")
        expect_equal(len(self.gateway.of("lost", "destination-down")), 1, "destination-down")
        for kind in ("Patient", "Device", "Observation"):
            kept = [sorted(self.servers[name].of(kind), key=str) for name in ("lost", "plain")]
            expect_equal(kept[0], kept[1], kind)

    def loses_what_is_refused_alone(self):
        """Of a server that takes all or nothing, and of one that answers for each entry."""
        bad = {item["value"].removeprefix("urn:uuid:") for resource in self.measurements("plain")
               if code(resource) == BAD for item in resource["identifier"] if item["system"] == "urn:ietf:rfc:3986"}
        for name, words in {"dislikes": "HTTP 422", "each": "HTTP 422 for an entry"}.items():
            failed = self.gateway.wait(name, "failed", count=len(bad))
            self.gateway.wait(name, "submitted", 60, count=READINGS - len(bad))
            expect_equal({event["INGEST_RECORD_ID"] for event in failed}, set(self.gateway.tags(bad)),
                         f"records refused by {name}")
            expect_equal({event["INGEST_ERROR"] for event in failed}, {words}, "words")
            expect_equal(len(self.measurements(name)), len([resource for resource in self.measurements("plain")
                                                            if code(resource) != BAD]), f"observations of {name}")

    def takes_ids_of_patients(self):
        """Without patient_system; "patient 18" is none."""
        failed = self.gateway.wait("by-id", "failed", count=1)
        expect_equal({event["INGEST_ERROR"] for event in failed}, {
            "is of a subject that is no id of a Patient; name a patient_system"}, "words")
        expect_equal([resource["id"] for resource in self.servers["by-id"].of("Patient")], ["patient-17"], "Patients")
        self.gateway.wait("by-id", "submitted", 60, count=READINGS - len(failed))
        expect_equal({resource["subject"]["reference"] for resource in self.measurements("by-id")},
                     {"Patient/patient-17"}, "subjects")

    # Images of entries

    def submit(self, value, image, *options):
        """An entry with this image: what the command says of it."""
        self.gateway.until((self.gateway.state / "control.sock").is_socket, "the control socket")
        file = self.directory / "display.jpg"
        file.write_bytes(image)
        command = [INGESTD, "submit", "--config", self.gateway.file, "glucose", value, "mmol/L", "--image", file, "--json"]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=True, timeout=60,
                              stdin=subprocess.DEVNULL, env={**os.environ, "STATE_DIRECTORY": str(self.gateway.state)})
        return json.loads(done.stdout)

    def media(self, name):
        """As the server gives them back, over HTTP."""
        shown = subprocess.run(["curl", "--silent", "--fail", self.servers[name].url + "/Media"],
                               capture_output=True, text=True, check=True, timeout=20).stdout
        return [entry["resource"] for entry in json.loads(shown)["entry"]]

    def takes_images(self):
        """To the byte, by everybody who takes images, for the person and the reading that they belong to."""
        image = JPEG + random.Random(1).randbytes(1 << 20)
        said = self.submit("5.5", image, "--subject", "patient-17", "--time", "2026-11-20T09:15:00Z")
        expect_equal(said["image"], {"added": True, "destinations": sorted(self.servers)}, "the command's words")
        again = self.submit("5.5", image, "--subject", "patient-17", "--time", "2026-11-20T09:15:00Z")
        expect_equal(again, {"id": said["id"], "added": False, "image": {"added": False, "destinations": []}}, "again")
        tag, = self.gateway.tags([said["id"]])
        for name, server in self.servers.items():
            event, = self.gateway.wait(name, "media-submitted", 60)
            expect_equal((event["INGEST_RECORD_ID"], event["INGEST_KIND"]), (tag, "glucose"), "the event")
            media, = self.media(name)
            content = media["content"]
            expect_equal(base64.b64decode(content["data"]) == image, True, f"the bytes at {name}")
            expect_equal((content["contentType"], content["size"]), ("image/jpeg", len(image)), "what it is")
            part, = media["partOf"]
            reading, = server.find("Observation", (part["identifier"]["system"], part["identifier"]["value"]))
            expect_equal((code(reading), media["subject"]), ("160020", reading["subject"]), "what it belongs to")
            expect_equal(self.gateway.of(name, "media-failed"), [], f"media-failed of {name}")

    def loses_no_reading_for_an_image(self):
        """A server that refuses Media gets the reading, and the image is set aside."""
        server, before = self.servers["plain"], len(self.media("plain"))
        server.dislikes = lambda resource: resource["resourceType"] == "Media"
        said = self.submit("5.6", JPEG, "--subject", "patient-17", "--time", "2026-11-20T10:15:00Z")
        event, = self.gateway.wait("plain", "media-failed", 60)
        tag, = self.gateway.tags([said["id"]])
        expect_equal((event["INGEST_RECORD_ID"], event["INGEST_HTTP_STATUS"]), (tag, "422"), "media-failed")
        self.gateway.until(lambda: tag in {event["INGEST_RECORD_ID"]
                                           for event in self.gateway.of("plain", "submitted")}, "the reading")
        expect_equal(len(self.media("plain")), before, "Media")
        expect_equal({event["INGEST_RECORD_ID"] for event in self.gateway.of("plain", "failed")} & {tag}, set(),
                     "failed")

    def shows_no_credential(self):
        files = [self.gateway.output, self.directory / "fhir.errors", *self.gateway.state.glob("queue.db*")]
        if b"s3cret-password" in b"".join(file.read_bytes() for file in files):
            raise Failure("the credential was written")

    def cases(self):
        return {"arrives": self.arrives, "readings": self.has_every_reading, "read-back": self.keeps_the_digits,
                "people-and-devices": self.knows_people_and_devices, "lost-answer": self.creates_nothing_twice,
                "one-refused": self.loses_what_is_refused_alone, "patients-by-id": self.takes_ids_of_patients,
                "images": self.takes_images, "image-refused": self.loses_no_reading_for_an_image,
                "no-credential-anywhere": self.shows_no_credential,
                "ends": lambda: expect_equal(self.stop(), 0, "the exit status")}
