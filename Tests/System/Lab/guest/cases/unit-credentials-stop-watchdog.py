"""The unit: its credentials, its stop, its watchdog."""

import contextlib
import http.server
import os
import signal
import socket
import threading
import time

from labkit import commands
from labkit.gateway import UNIT, write_readable
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.receiver import URL
from labkit.waiting import expect, expect_equal, wait_until

TITLE = ("tokens are replaced by a reload or a restart; a reload that is not taken fails; a stop takes less than 10 s; the "
         "watchdog ends a stopped process")
LIMIT_S = 400
RESTARTS = 1
STOP_LIMIT_S = 10
WATCHDOG_S = 20
WATCHDOG_LIMIT_S = 150
# systemd reads it for the unit, which has LoadCredential=backend-token.
STORE = "/etc/credstore/backend-token"
BROKEN = "/etc/ingestd/conf.d/broken.yaml"
DROP_IN = f"/run/systemd/system/{UNIT}.d/lab.conf"


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    rotate(lab, thermometer)
    stop = stop_in_time(lab, thermometer)
    return f"stopped in {stop:.1f} s, {watchdog(lab, thermometer)}"


def rotate(lab, thermometer):
    with backend("first") as server:
        token = lab.gateway.keep_key("token", "first")
        write(STORE, "first\n")
        destinations = [webhook("by-path", server, credential=token),
                        webhook("by-systemd", server, credential="backend-token")]
        lab.gateway.start(thermometer, sections={"destinations": destinations})
        take(lab, thermometer, 361)
        for name in ("by-path", "by-systemd"):
            lab.journal.wait("submitted", destination=name)

        server.token = "second"
        take(lab, thermometer, 362, count=2)
        for name in ("by-path", "by-systemd"):
            lab.journal.wait("auth-rejected", destination=name)
        # A file of its own is read again at a reload, one that systemd hands over at a restart.
        lab.gateway.keep_key("token", "second")
        write(STORE, "second\n")
        lab.gateway.reload()
        refuse_reload()
        lab.journal.wait("submitted", destination="by-path", count=2)
        expect_equal(len(lab.journal.events("submitted", destination="by-systemd")), 1, "delivered with the old token")
        commands.run("systemctl", "restart", UNIT)
        lab.journal.wait("submitted", destination="by-systemd", count=2)
        expect_equal(lab.journal.events("failed"), [], "records that were lost by it")
    lab.gateway.stop()
    os.remove(STORE)


def refuse_reload():
    """A reload that the service does not take fails, and the service goes on."""
    os.makedirs(os.path.dirname(BROKEN), exist_ok=True)
    write_readable(BROKEN, "pasive: {}\n")
    said = commands.run("systemctl", "reload", UNIT, check=False)
    expect("failed" in said, f"systemctl said of a reload that is not taken: {said}")
    os.remove(BROKEN)
    commands.run("systemctl", "reload", UNIT)


def stop_in_time(lab, thermometer):
    lab.journal.mark()
    with socket.create_server(("127.0.0.1", 0)) as mute:
        # Takes connections, and never says a word.
        hanging = {"name": "hanging", "type": "webhook", "url": f"http://127.0.0.1:{mute.getsockname()[1]}/"}
        lab.gateway.start(thermometer, sections={"destinations": [hanging]})
        take(lab, thermometer, 363)
        request, _ = mute.accept()
        with request:
            expect(request.recv(1), "the request has begun")
            before = len(lab.journal.events("connected", thermometer))
            thermometer.hold()
            thermometer.give(temperature(364, -1))
            lab.journal.wait("connected", thermometer, count=before + 1)
            thermometer.wait_subscribed()
            began = time.monotonic()
            lab.gateway.stop()
            seconds = time.monotonic() - began
    expect(seconds < STOP_LIMIT_S, f"the stop took {seconds:.1f} s")
    expect_equal(len(lab.journal.events("stopping")), 1, "orderly ends")
    thermometer.hold(False)
    # What was read, and what was not, arrives after all.
    lab.gateway.configure(thermometer, sections={"destinations": [webhook_at("hanging", f"{URL}/readings")]})
    commands.run("systemctl", "start", UNIT)
    lab.receiver.wait_different(thermometer, 2)
    lab.gateway.stop()
    return seconds


def watchdog(lab, thermometer):
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    write(DROP_IN, f"[Service]\nWatchdogSec={WATCHDOG_S}s\n")
    commands.run("systemctl", "daemon-reload")
    try:
        lab.receiver.answer(503)
        lab.journal.mark()
        lab.receiver.mark()
        # Of a name that no other case has, or what was kept for it would come too.
        lab.gateway.start(thermometer, sections={"destinations": [webhook_at("watched", f"{URL}/readings")]})
        take(lab, thermometer, 365)
        pid = lab.gateway.pid
        began = time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        wait_until("systemd has ended the process", WATCHDOG_LIMIT_S, lambda: lab.gateway.pid != pid)
        seconds = time.monotonic() - began
        lab.gateway.wait_restarted(pid)
        lab.receiver.answer(200)
        lab.journal.wait("adapter-ready", count=2)
        lab.receiver.wait(thermometer)
        take(lab, thermometer, 366, count=2)
        lab.receiver.wait(thermometer, count=2)
        for name in ("store-error", "store-quarantined", "failed"):
            expect_equal(lab.journal.events(name), [], f"events {name}")
        expect_equal(commands.run("sqlite3", "/var/lib/ingestd/queue.db", "PRAGMA quick_check"), "ok", "the queue")
    finally:
        os.remove(DROP_IN)
        commands.run("systemctl", "daemon-reload")
    return f"ended {seconds:.0f} s after it was stopped, with WatchdogSec={WATCHDOG_S}s"


def take(lab, thermometer, tenths, count=1):
    thermometer.give(temperature(tenths, -1))
    lab.journal.wait("read", thermometer, count=count)


def webhook(name, server, **keys):
    return {**webhook_at(name, f"http://127.0.0.1:{server.server_port}/{name}"), **keys}


def webhook_at(name, url):
    return {"name": name, "type": "webhook", "url": url, "batch": {"max_wait": "200ms"}}


@contextlib.contextmanager
def backend(token):
    """A backend that takes what comes with its token, which can be changed."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    server.token = token
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Guarded(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers["Content-Length"]))
        accepted = self.headers.get("Authorization") == f"Bearer {self.server.token}"
        self.send_response(200 if accepted else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o600)
