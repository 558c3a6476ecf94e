"""A destination whose tokens are from an authorization server: with a secret, with a key, under load, revoked, with a clock
that is wrong."""

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from joserfc.jwk import RSAKey
from kit.gateway import INGESTD, Failure, Gateway, expect_equal, expect_untold
from kit.results import Results

from oauth.servers import Issuer, Resource

DOCUMENT = Path(__file__).parents[4] / "docs/destinations/fhir.md"
READINGS = 3
SECRET = "s3cret+ of the box"
# Of a token, in seconds: with a quarter of it left another one is asked for.
LIFETIME = 8
ENTRIES = 40


class World:
    def __init__(self, directory):
        self.directory = directory
        self.issuer = Issuer(directory, LIFETIME)

    def cases(self):
        return {name.replace("_", "-"): getattr(self, name) for name in (
            "secret", "renewed_under_load", "revoked_token", "key_of_the_document", "rsa_key", "revoked_key",
            "wrong_clock")}

    def stop(self):
        self.issuer.stop()

    @contextmanager
    def gateway(self, name, client, resource, type="webhook", **keys):
        """A gateway that delivers to the resource server, as this client."""
        oauth = {"token_url": f"{self.issuer.url}/token", "client_id": name, "scope": "readings", **client}
        destination = {"type": type, "url": resource.url, "oauth": oauth, **keys}
        prefix = keys.pop("prefix", ())
        destination.pop("prefix", None)
        gateway = Gateway(self.directory, name, {"clinic": destination}, prefix=prefix)
        try:
            yield gateway
        finally:
            gateway.stop()
            resource.shutdown()

    def file(self, name, text):
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    def with_secret(self, name):
        self.issuer.order("client", name=name, secret=SECRET)
        return {"secret": self.file(f"{name}.secret", SECRET + "\n")}

    # The cases

    def secret(self):
        resource = Resource(self.issuer)
        before = self.issuer.issued
        with self.gateway("by-secret", self.with_secret("by-secret"), resource) as gateway:
            gateway.wait("clinic", "submitted", count=READINGS)
            expect_equal(len(set(resource.taken)), READINGS, "records")
            expect_equal(set(resource.statuses), {200}, "answers")
        if self.issuer.issued == before:
            raise Failure("no token was issued")
        expect_untold(self.directory, [SECRET])

    def renewed_under_load(self):
        """Every request takes a while, and all of them longer than several tokens hold."""
        resource = Resource(self.issuer, pause=0.5)
        before = self.issuer.issued
        keys = {"batch": {"max_records": 1, "max_wait": "0s"}}
        with self.gateway("under-load", self.with_secret("under-load"), resource, **keys) as gateway:
            gateway.wait("clinic", "submitted", count=1)
            for number in range(ENTRIES):
                submit(gateway, number)
            gateway.wait("clinic", "submitted", count=READINGS + ENTRIES)
            expect_equal(len(resource.taken), len(set(resource.taken)), "each once")
            expect_equal(set(resource.statuses), {200}, "no request goes with a token that has ended")
            expect_equal(gateway.of("clinic", "auth-rejected"), [], "auth-rejected")
        issued = self.issuer.issued - before
        # More than 20 s of requests, a token each 6 s; and no more than that.
        if not 3 <= issued <= 20:
            raise Failure(f"{issued} tokens")

    def revoked_token(self):
        resource = Resource(self.issuer)
        with self.gateway("revoked", self.with_secret("revoked"), resource) as gateway:
            gateway.wait("clinic", "submitted", count=READINGS)
            submit(gateway, 1)
            gateway.wait("clinic", "submitted", count=READINGS + 1)
            self.issuer.order("revoke")
            submit(gateway, 2)
            gateway.wait("clinic", "submitted", count=READINGS + 2)
            expect_equal(resource.statuses[-1], 200, "the last answer")
            if resource.statuses.count(401) > 1:
                raise Failure(f"answers: {resource.statuses}")
            expect_equal(gateway.of("clinic", "auth-rejected"), [], "auth-rejected")

    def key_of_the_document(self):
        """The key and its key set are made by the commands of docs/destinations/fhir.md."""
        commands = re.search(r"^## OAuth\n(.*?)^## ", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)[1]
        make, show = [re.sub(r"^    ", "", block, flags=re.MULTILINE)
                      for block in re.findall(r"(?:^    .*\n)+", commands, re.MULTILINE) if "openssl" in block]
        key = self.directory / "fhir-key.pem"
        here = lambda text: text.replace("/etc/ingestd/fhir-key.pem", str(key)).replace("-o ingestd ", "")
        run(here(make))
        self.issuer.order("client", name="by-key", jwks=json.loads(run(here(show))))
        resource = Resource(self.issuer)
        with self.gateway("by-key", {"private_key": str(key)}, resource, type="fhir") as gateway:
            # Readings of nobody go to no FHIR server.
            gateway.wait(None, "adapter-ready")
            submit(gateway, 1)
            gateway.wait("clinic", "submitted", count=1)
            expect_equal(set(resource.statuses), {200}, "answers")
            if "patient-17" not in resource.taken[-1]:
                raise Failure(f"what was taken: {resource.taken}")

    def rsa_key(self):
        path, jwks = self.rsa("rsa")
        self.issuer.order("client", name="rsa", jwks=jwks)
        resource = Resource(self.issuer)
        with self.gateway("rsa", {"private_key": path}, resource) as gateway:
            gateway.wait("clinic", "submitted", count=READINGS)

    def revoked_key(self):
        path, jwks = self.rsa("lost")
        self.issuer.order("client", name="lost", jwks=jwks)
        resource = Resource(self.issuer)
        with self.gateway("lost", {"private_key": path}, resource) as gateway:
            gateway.wait("clinic", "submitted", count=READINGS)
            _, others = self.rsa("other")
            self.issuer.order("client", name="lost", jwks=others)
            self.issuer.order("revoke")
            submit(gateway, 1)
            gateway.wait("clinic", "auth-rejected", error="the authorization server refuses this client: invalid_client")
            expect_equal(len(resource.taken), READINGS, "records")
            # The new key is there, and is used without anybody's help.
            os.replace(self.directory / "other.pem", path)
            gateway.wait("clinic", "submitted", count=READINGS + 1)

    def wrong_clock(self):
        """It is believed, and 10 min behind: assertions have ended before they come."""
        path, jwks = self.rsa("late")
        self.issuer.order("client", name="late", jwks=jwks)
        resource = Resource(self.issuer)
        # faketime hands on no signal: the gateway is told to stop when faketime has ended.
        prefix = ("faketime", "--exclude-monotonic", "-f", "-10m", "setpriv", "--pdeathsig", "TERM")
        with self.gateway("late", {"private_key": path}, resource, prefix=prefix) as gateway:
            gateway.wait("clinic", "auth-rejected", error="this box's clock is 10 min behind the server's")
            expect_equal(resource.taken, [], "records")

    def rsa(self, name):
        """The path of a new RSA key, and its public half as a key set."""
        path = self.file(f"{name}.pem", run("openssl genrsa 2048 2> /dev/null"))
        key = RSAKey.import_key(Path(path).read_text())
        return path, {"keys": [{**key.as_dict(private=False), "kid": key.thumbprint(), "alg": "RS384", "use": "sig"}]}


def submit(gateway, number):
    subprocess.run(
        [INGESTD, "submit", "weight", f"{60 + number}", "--subject", "patient-17", "--config", str(gateway.file)],
        env={**os.environ, "STATE_DIRECTORY": str(gateway.state)}, check=True, capture_output=True, timeout=60)


def run(command):
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], check=True, capture_output=True, text=True,
                          timeout=60).stdout


def main():
    results = Results()
    results.run_on(World, "ingestd-oauth-")
    return results.end()


sys.exit(main())
