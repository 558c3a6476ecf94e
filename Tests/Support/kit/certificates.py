"""Authorities and certificates, made by openssl for one run."""

import subprocess
from pathlib import Path

CONFIGURATION = """
[ca]
default_ca = authority
[authority]
dir = {directory}
database = $dir/{name}.index
new_certs_dir = $dir
rand_serial = yes
default_md = sha256
policy = policy
unique_subject = no
copy_extensions = copy
[policy]
commonName = supplied
"""


def openssl(*arguments, **options):
    result = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise ChildProcessError(f"openssl {arguments[0]}: {result.stderr.strip()}")


class Authority:
    """Signs what it is asked to; `path` is its own certificate."""

    def __init__(self, directory: Path, name: str):
        self.directory, self.name = directory, name
        self.path = directory / f"{name}.pem"
        self.configuration = directory / f"{name}.cnf"
        self.configuration.write_text(CONFIGURATION.format(directory=directory, name=name))
        (directory / f"{name}.index").touch()
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2,
                "-subj", f"/CN={name}", "-keyout", directory / f"{name}.key", "-out", self.path)

    def certificate(self, name, alternative, start="20200101000000Z", end="20990101000000Z"):
        """A certificate with its key; the paths of both."""
        key, request, signed = (self.directory / f"{name}.{kind}" for kind in ("key", "csr", "crt"))
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-addext", f"subjectAltName={alternative}", "-keyout", key, "-out", request)
        openssl("ca", "-batch", "-notext", "-config", self.configuration, "-cert", self.path,
                "-keyfile", self.directory / f"{self.name}.key", "-in", request, "-out", signed,
                "-startdate", start, "-enddate", end)
        return signed, key


class Certificates:
    def __init__(self, directory: Path):
        self.authority = Authority(directory, "authority")
        self.stranger = Authority(directory, "stranger")
        sign = self.authority.certificate
        self.good = sign("good", "DNS:localhost,IP:127.0.0.1")
        self.expired = sign("expired", "DNS:localhost", end="20210101000000Z")
        self.early = sign("early", "DNS:localhost", start="20980101000000Z")
        self.elsewhere = sign("elsewhere", "DNS:elsewhere.example,IP:127.0.0.9")
        self.unknown = self.stranger.certificate("unknown", "DNS:localhost")
        self.client = sign("client", "DNS:box.example")
        self.other_client = sign("other-client", "DNS:box.example")
        self.strange_client = self.stranger.certificate("strange-client", "DNS:box.example")
        self.protected_key = directory / "protected.key"
        openssl("pkey", "-in", self.client[1], "-aes256", "-passout", "pass:s3cret-phrase", "-out", self.protected_key)
