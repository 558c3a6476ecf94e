"""The servers and proxies that the gateway meets: nginx, tinyproxy, microsocks, openssl, and some that are wrong."""

import json
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from kit.ports import wait_for_port

TOKEN = "s3cret-token-of-the-clinic"
NEW_TOKEN = "s3cret-token-of-tomorrow"


class Programs:
    """Programs in the background, ended in reverse."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.running = []

    def start(self, name, *command, port):
        log = (self.directory / f"{name}.log").open("ab")
        # A pipe that stays open: s_server ends with its input.
        process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, stdin=subprocess.PIPE)
        self.running.append(process)
        wait_for_port(port, process)

    def log(self, name):
        return (self.directory / f"{name}.log").read_text(errors="replace")

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Nginx:
    """One nginx with a server for each way to be met. Its log has a line of JSON for each request."""

    FIELDS = {"port": "$server_port", "status": "$status", "protocol": "$ssl_protocol", "client": "$ssl_client_s_dn",
              "ward": "$http_x_ward", "agent": "$http_user_agent", "authorization": "$http_authorization",
              "key": "$http_idempotency_key", "length": "$content_length"}

    def __init__(self, directory: Path):
        self.directory = directory
        self.servers = []

    def server(self, port, certificate=None, *lines):
        parts = [f"listen 127.0.0.1:{port}{' ssl' if certificate else ''};", *lines]
        if certificate:
            parts += [f"ssl_certificate {certificate[0]};", f"ssl_certificate_key {certificate[1]};"]
        if not any(line.startswith("location") for line in lines):
            parts.append("location / { return 200; }")
        self.servers.append("\n".join(["server {", *parts, "}"]))

    def start(self, programs, port):
        fields = ",".join(f'"{name}":"{variable}"' for name, variable in self.FIELDS.items())
        temporary = "\n".join(f"{kind}_temp_path {self.directory}/nginx-{kind};"
                              for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        configuration = self.directory / "nginx.conf"
        configuration.write_text(
            f"daemon off; pid {self.directory}/nginx.pid; error_log stderr notice; worker_processes 1;\n"
            "events { worker_connections 256; }\n"
            f"http {{ {temporary}\nlog_format requests escape=json '{{{fields}}}';\n"
            f"access_log {self.directory}/nginx.access requests;\n" + "\n".join(self.servers) + "\n}\n")
        programs.start("nginx", "/usr/sbin/nginx", "-c", configuration, "-e", "stderr", port=port)

    def requests(self, port):
        lines = (self.directory / "nginx.access").read_text().splitlines()
        return [entry for entry in map(json.loads, lines) if entry["port"] == str(port)]


@dataclass
class Request:
    """What a server was asked; `is_taken` when it has told that it took it, or has kept it all the same."""

    fields: dict
    body: bytes
    at: float
    is_taken: bool = False

    @property
    def key(self):
        return self.fields.get("idempotency-key")

    @property
    def ids(self):
        return [record["id"] for record in json.loads(self.body)["records"]]


class WrongServer:
    """A server that misbehaves in one way, on a port of its own; keeps what it is asked."""

    def __init__(self, behave):
        self.behave = behave
        self.connections = 0
        self.requests = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def keys(self):
        return [request.key for request in list(self.requests)]

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection:
                self.behave(self, connection)
        except OSError:
            pass

    def read_request(self, connection):
        """Reads one whole request; None at the end of the connection."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return None
            data += part
        header, _, body = data.partition(b"\r\n\r\n")
        fields = {name.lower(): value.strip() for name, _, value in
                  (line.partition(":") for line in header.decode("latin-1").split("\r\n")[1:])}
        while len(body) < int(fields["content-length"]):
            part = connection.recv(65536)
            if not part:
                return None
            body += part
        request = Request(fields, body, time.monotonic())
        self.requests.append(request)
        return request


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def closes(server, connection):
    server.read_request(connection)


def garbage(server, connection):
    server.read_request(connection)
    connection.sendall(b"\x00\x01\x02 what?\r\n\r\n")


def one_request_each(server, connection):
    """Keeps the connection after the first request, and drops it without an answer at the second."""
    if server.read_request(connection):
        connection.sendall(OK)
        server.read_request(connection)
