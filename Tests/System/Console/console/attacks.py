"""What the console gives to those who are not its user: nothing."""

import http.client
import json
import os
import socket

from kit.gateway import Failure, expect_equal

from .box import Box, Console, CUFF


class Attacks(Box):
    def __init__(self, directory):
        super().__init__(directory, {})
        self.console = Console(self.gateway)
        self.cookie = None

    def cases(self):
        return {
            "the-address-opens-the-page-once": self.opens_once,
            "without-the-cookie-nothing-is-told": self.needs_the_cookie,
            "a-name-that-leads-here-is-refused": self.refuses_other_hosts,
            "a-page-elsewhere-can-change-nothing": self.refuses_other_origins,
            "an-order-is-named-by-its-name-alone": self.refuses_other_paths,
            "what-is-too-long-is-refused": self.has_bounds,
            "the-page-loads-nothing-from-elsewhere": self.is_closed,
            "it-listens-on-loopback-only": self.is_on_loopback,
            "readings-are-for-those-who-could-read-the-queue": self.asks_as_another_user,
        }

    def ask(self, method, path, body=None, host=None, origin="own", cookie=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.console.port, timeout=60)
        host = host or f"127.0.0.1:{self.console.port}"
        headers = {"Host": host}
        if origin is not None:
            headers["Origin"] = f"http://{host}" if origin == "own" else origin
        if cookie:
            headers["Cookie"] = cookie
        text = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, body=text, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def status(self, *arguments, **named):
        return self.ask(*arguments, **named)[0].status

    def opens_once(self):
        expect_equal(self.status("POST", "/session", {"key": "0" * 32}), 403, "a wrong key")
        expect_equal(self.status("POST", "/session", b"\xff{"), 403, "no key")
        answer, _ = self.ask("POST", "/session", {"key": self.console.key})
        expect_equal(answer.status, 200, "the key")
        header = answer.getheader("Set-Cookie")
        for word in ("HttpOnly", "SameSite=Strict", "Path=/"):
            if word not in header:
                raise Failure(f"the cookie is not {word}")
        self.cookie = header.split(";")[0]
        answer, content = self.ask("POST", "/session", {"key": self.console.key})
        expect_equal(answer.status, 403, "the key for the second time")
        if b"opens once" not in content:
            raise Failure(f"{content}")
        expect_equal(self.status("GET", "/v1/status", cookie=self.cookie), 200, "the status with the cookie")

    def needs_the_cookie(self):
        wrong = self.cookie[:-1] + ("0" if self.cookie[-1] != "0" else "1")
        for cookie in (None, wrong, self.cookie[:-1], self.cookie.split("=")[0] + "="):
            for method, path in [("GET", "/v1/status"), ("POST", "/v1/scans"), ("POST", "/v1/readings"),
                                 ("POST", "/devices"), ("DELETE", "/v1/orders/0"), ("GET", "/v1/orders/0")]:
                answer, content = self.ask(method, path, body="{}", cookie=cookie)
                expect_equal(answer.status, 401, f"{method} {path} with {cookie}")
                if b"delivery-box" in content:
                    raise Failure("it is told all the same")

    def refuses_other_hosts(self):
        """DNS rebinding: a page's own name leads to 127.0.0.1, and its requests are of one origin with it."""
        for host in ("evil.example", f"evil.example:{self.console.port}", "127.0.0.1.evil.example", "localhost.",
                     "127.0.0.1:x", "[::1]:80:80", "", "127.0.0.1:99999"):
            for path in ("/", "/v1/status"):
                expect_equal(self.status("GET", path, host=host or " ", cookie=self.cookie), 403, f"the host {host}")
        expect_equal(self.status("GET", "/v1/status", host="localhost:9000", cookie=self.cookie), 200, "ssh -L 9000")

    def refuses_other_origins(self):
        for origin in (None, "null", "http://evil.example", f"https://127.0.0.1:{self.console.port}",
                       f"http://localhost:{self.console.port}", f"http://127.0.0.1:{self.console.port}.evil.example"):
            for path in ("/v1/scans", "/v1/pairings", "/v1/failed/drop", "/devices", "/session"):
                expect_equal(self.status("POST", path, {}, origin=origin, cookie=self.cookie), 403, f"{origin} {path}")
        expect_equal(self.status("GET", "/v1/status", origin="http://evil.example", cookie=self.cookie), 403, "a GET")

    def refuses_other_paths(self):
        for name in ("..%2Freload", "../reload", "a?b", "A", "%00", "x" * 65, "a b".replace(" ", "%20")):
            status = self.status("GET", f"/v1/orders/{name}", cookie=self.cookie)
            if status not in (404, 422):
                raise Failure(f"{name}: {status}")
        for method, path in [("POST", "/v1/reload"), ("POST", "/v1/entries"), ("GET", "/metrics"), ("PUT", "/"),
                             ("GET", "/v1/sessions/x"), ("POST", "/v1/records/resend"), ("GET", "/etc/passwd")]:
            expect_equal(self.status(method, path, body="{}", cookie=self.cookie), 404, f"{method} {path}")

    def has_bounds(self):
        answer, _ = self.ask("POST", "/v1/scans", b"x" * (1 << 20), cookie=self.cookie)
        if answer.status == 200:
            raise Failure("a body of 1 MiB is taken")
        expect_equal(self.status("POST", "/devices", {"id": 1001, "address": "nobody"}, cookie=self.cookie), 400,
                     "an address that is none")
        long = {"id": 1001, "address": "C0:00:00:00:00:77", "alias": "x" * 5000}
        expect_equal(self.status("POST", "/devices", long, cookie=self.cookie), 422, "an alias of 5,000 letters")
        if (self.directory / "conf.d").exists():
            raise Failure("something was written")

    def is_closed(self):
        for path in ("/", "/console.js", "/console.css", "/v1/status", "/nothing"):
            answer, content = self.ask("GET", path, cookie=self.cookie)
            if path == "/nothing":
                continue
            policy = answer.getheader("Content-Security-Policy")
            if "default-src 'none'" not in policy or "unsafe" in policy or "*" in policy:
                raise Failure(f"{path}: {policy}")
            for name, value in [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
                                ("Referrer-Policy", "no-referrer")]:
                expect_equal(answer.getheader(name), value, f"{path}: {name}")
            for word in (b"http://", b"https://", b"//cdn"):
                if word in content.replace(b"http://www.w3.org/2000/svg", b""):
                    raise Failure(f"{path} names another host")

    def asks_as_another_user(self):
        """Of the group that may use the socket."""
        question = json.dumps({"since": 0, "device": CUFF["address"]})
        request = (f"POST /v1/readings HTTP/1.1\r\nHost: x\r\nContent-Length: {len(question)}\r\n"
                   f"Connection: close\r\n\r\n{question}").encode()

        def asked():
            """By way of the socket itself, whatever the directories on the way to it permit."""
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(60)
                client.connect(f"/proc/self/fd/{place}")
                client.sendall(request)
                return b"".join(iter(lambda: client.recv(1 << 16), b""))

        place = os.open(self.socket, os.O_PATH)
        try:
            if b'"readings"' not in asked():
                raise Failure("the service's own user gets no readings")
            if os.geteuid() != 0:
                return
            os.seteuid(65534)
            try:
                answer = asked()
            finally:
                os.seteuid(0)
        finally:
            os.close(place)
        if b"no-permission" not in answer or b"systolic" in answer:
            raise Failure(f"another user is answered {answer[:300]}")

    def is_on_loopback(self):
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            other.connect(("192.0.2.1", 9))
            own = other.getsockname()[0]
        except OSError:
            return
        finally:
            other.close()
        if own.startswith("127."):
            return
        try:
            socket.create_connection((own, self.console.port), timeout=5).close()
        except OSError:
            return
        raise Failure(f"{own} answers")

    def stop(self):
        expect_equal(self.console.stop(), 0, "the end by a signal")
        super().stop()
