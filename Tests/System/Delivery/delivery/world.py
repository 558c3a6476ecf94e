"""Everything around the gateway: files, servers, proxies."""

import shutil
from pathlib import Path

from kit.certificates import Certificates
from kit.ports import free_ports

from . import servers
from .servers import NEW_TOKEN, TOKEN, Nginx, Programs, WrongServer

# The cipher list that still lets OpenSSL 3 speak TLS 1.1.
OLD = ("ssl_protocols TLSv1.1;", "ssl_ciphers DEFAULT@SECLEVEL=0;")
MUTUAL = ("ssl_verify_client on;",)


class World:
    def __init__(self, directory: Path):
        self.directory = directory
        self.certificates = Certificates(directory)
        self.programs = Programs(directory)
        self.nginx = Nginx(directory)
        # They take free ports, before others are noted as free.
        self.wrong = {name: WrongServer(getattr(servers, name)) for name in [
            "closes", "garbage", "one_request_each"]}
        made = self.certificates
        names = ["good", "tls12", "expired", "early", "elsewhere", "unknown", "old", "mutual", "token", "plain",
                 "alert", "alert12", "proxy", "closed_proxy", "socks", "closed_socks", "nowhere"]
        self.ports = dict(zip(names, free_ports(len(names))))
        mutual = (f"ssl_client_certificate {made.authority.path};", *MUTUAL)
        allowed = "|".join(f"Bearer {token}" for token in (TOKEN, NEW_TOKEN)[1:])
        for name, certificate, lines in [
            ("good", made.good, ()), ("tls12", made.good, ("ssl_protocols TLSv1.2;",)), ("expired", made.expired, ()),
            ("early", made.early, ()), ("elsewhere", made.elsewhere, ()), ("unknown", made.unknown, ()),
            ("old", made.good, OLD), ("mutual", made.good, mutual), ("plain", None, ()),
            ("token", made.good, (f'location / {{ if ($http_authorization != "{allowed}") {{ return 401; }} return 200; }}',)),
        ]:
            self.nginx.server(self.ports[name], certificate, *lines)

    def start(self):
        self.nginx.start(self.programs, self.ports["good"])
        made = self.certificates
        for name, version in [("alert", "-tls1_3"), ("alert12", "-tls1_2")]:
            # Tells its refusal by a TLS alert, where nginx answers with a page.
            self.programs.start(
                name, "openssl", "s_server", "-accept", f"127.0.0.1:{self.ports[name]}", "-cert", made.good[0], "-key",
                made.good[1], "-CAfile", made.authority.path, "-Verify", 2, "-verify_return_error", version,
                port=self.ports[name])
        for name, lines in [("proxy", ""), ("closed_proxy", "BasicAuth somebody secret\n")]:
            file = self.directory / f"{name}.conf"
            file.write_text(f"Port {self.ports[name]}\nListen 127.0.0.1\nTimeout 60\nLogLevel Connect\n{lines}")
            self.programs.start(name, "tinyproxy", "-d", "-c", file, port=self.ports[name])
        self.programs.start("socks", "microsocks", "-i", "127.0.0.1", "-p", self.ports["socks"],
                            port=self.ports["socks"])
        self.programs.start("closed_socks", "microsocks", "-i", "127.0.0.1", "-p", self.ports["closed_socks"], "-u",
                            "somebody", "-P", "secret", port=self.ports["closed_socks"])

    def url(self, name, host="localhost", scheme="https"):
        port = self.ports.get(name) or self.wrong[name].port
        return f"{scheme}://{host}:{port}/readings"

    def file(self, name, content=None, copy=None, mode=0o600):
        """A file of a case; its path."""
        path = self.directory / name
        if copy:
            shutil.copyfile(copy, path)
        else:
            path.write_text(content)
        path.chmod(mode)
        return str(path)
