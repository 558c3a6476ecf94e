"""Everything around the gateway: certificates, mosquitto, its watchers."""

import sqlite3
from pathlib import Path

from kit.certificates import Certificates
from kit.ports import free_ports

from . import brokers
from .brokers import Mosquitto, Watcher

LISTENERS = ["plain", "tls", "expired", "unknown", "elsewhere", "mutual", "password", "acl", "packets", "payloads"]


class World:
    # Listeners without TLS.
    plain = {"plain", "password", "acl"}

    def __init__(self, directory: Path):
        self.directory = directory
        self.certificates = Certificates(directory)
        self.ports = dict(zip(LISTENERS, free_ports(len(LISTENERS))))
        self.watchers = {}
        self.acl = directory / "acl"
        self.acl.write_text(f"user {brokers.USER}\ntopic write taken/#\n")
        made, ports = self.certificates, self.ports
        passwords = brokers.password_file(directory)
        lines = [f"listener {ports['plain']} 127.0.0.1", "allow_anonymous true"]
        for name, pair in [("tls", made.good), ("expired", made.expired), ("unknown", made.unknown),
                           ("elsewhere", made.elsewhere), ("mutual", made.good)]:
            lines += [f"listener {ports[name]} 127.0.0.1", "allow_anonymous true", f"certfile {pair[0]}",
                      f"keyfile {pair[1]}", f"cafile {made.authority.path}"]
            if name == "mutual":
                lines.append("require_certificate true")
        for name in ("password", "acl"):
            lines += [f"listener {ports[name]} 127.0.0.1", "allow_anonymous false", f"password_file {passwords}"]
        lines.append(f"acl_file {self.acl}")
        self.main = Mosquitto(directory, "mosquitto", *lines)
        self.small = [
            Mosquitto(directory, name, f"{limit} 300", f"listener {ports[name]} 127.0.0.1", "allow_anonymous true")
            for name, limit in [("packets", "max_packet_size"), ("payloads", "message_size_limit")]]

    def start(self):
        for broker in [self.main, *self.small]:
            broker.start()
        self.watch("taken", "taken/#", "status/#")
        self.watch("denied", "denied/#")
        self.watch("dropped", "dropped/#")

    def watch(self, name, *topics):
        """Somebody who subscribes, from now on; what was retained comes at once."""
        if name not in self.watchers:
            self.watchers[name] = Watcher(self.ports["plain"], name, *topics)
            self.watchers[name].is_there(self.main)

    def allow_all(self):
        self.acl.write_text(f"user {brokers.USER}\ntopic write #\n")
        self.main.reload()

    def file(self, name, content):
        path = self.directory / name
        path.write_text(content)
        path.chmod(0o600)
        return str(path)

    @staticmethod
    def read_tags(gateway):
        return [event["INGEST_RECORD_ID"] for event in list(gateway.events) if event["INGEST_EVENT"] == "read"]

    @staticmethod
    def bodies(gateway):
        """The records of a gateway's queue, as they are."""
        database = sqlite3.connect(f"file:{gateway.state}/queue.db?mode=ro", uri=True, timeout=10)
        try:
            return {body if isinstance(body, str) else body.decode()
                    for (body,) in database.execute("SELECT body FROM record")}
        finally:
            database.close()

    def stop(self):
        for watcher in self.watchers.values():
            watcher.stop()
        for broker in [self.main, *self.small]:
            broker.stop()
