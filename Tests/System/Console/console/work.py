"""What a person of the box does on the page, by keyboard alone: refused records, and a device that is paired."""

import base64
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from kit.gateway import INGESTD, Failure, expect_equal, wait_until
from selenium.webdriver.common.keys import Keys

from .box import CUFF
from .browser import Browser

# It has a passkey, and gives nothing to a gateway that was not paired.
PAIRED = {"id": 1001, "address": "C0:00:00:00:00:06", "alias": "bonded cuff", "require_bond": True}
PASSKEY = "123456"
PICTURES = os.environ.get("PICTURES")


class Backend:
    """Answers each request with one status."""

    def __init__(self):
        self.status = 422
        backend = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(backend.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Work(Browser):
    def __init__(self, directory):
        self.backend = Backend()
        super().__init__(directory, {"ward": {"url": self.backend.url}}, peripherals=(CUFF, PAIRED))
        self.open()

    def cases(self):
        return {
            "refused-records-are-sent-again": self.retries,
            "refused-records-are-given-up-after-a-question": self.gives_up,
            "a-device-is-paired-by-its-passkey": self.pairs,
            **({"pictures-of-the-manual": self.draws} if PICTURES else {}),
        }

    def refused(self):
        """The records that the backend has refused and that nobody has decided on."""
        result = subprocess.run([INGESTD, "failed", "list", "--json", "--config", str(self.gateway.file)],
                                capture_output=True, text=True, timeout=60, check=True,
                                env={**os.environ, "STATE_DIRECTORY": str(self.gateway.state)})
        return [json.loads(line) for line in result.stdout.splitlines()]

    def begin(self):
        self.browser.execute_script("document.activeElement.blur()")

    def wait_for_refused(self):
        self.gateway.wait("ward", "failed")
        wait_until(lambda: self.find_all("#destination-list button"), "the page offers what to do", 120)

    def retries(self):
        self.wait_for_refused()
        self.backend.status = 200
        self.begin()
        self.tab_to("Send the ")
        self.press(Keys.ENTER)
        self.see("to ward again.")
        self.begin()
        self.gateway.wait("ward", "submitted")
        wait_until(lambda: self.refused() == [], "nothing is refused any more", 60)
        wait_until(lambda: "0 refused" in self.find("#destination-list").text, "the page shows it", 60)
        self.backend.status = 422

    def gives_up(self):
        self.begin()
        self.tab_to("Take a reading of kitchen cuff")
        self.press(Keys.ENTER)
        wait_until(lambda: self.find("#close").is_displayed(), "the order has ended", 150)
        self.tab_to("Close")
        self.press(Keys.ENTER)
        self.begin()
        wait_until(self.refused, "a record is refused", 60)
        wait_until(lambda: self.find_all("#destination-list button"), "the page offers what to do", 60)
        before = len(self.refused())
        self.tab_to("Give up the ")
        self.press(Keys.ENTER)
        self.see("ward will never get them")
        self.expect_focus_in("#confirm")
        self.press(Keys.ESCAPE)
        wait_until(lambda: not self.find("#confirm").is_displayed(), "the question is gone")
        if len(self.refused()) < before:
            raise Failure("records were given up without a yes")
        # What comes from now on is not refused.
        self.backend.status = 200
        self.begin()
        self.tab_to("Give up the ")
        self.press(Keys.ENTER)
        self.tab_to("Give them up")
        self.press(Keys.ENTER)
        self.see("given up.")
        wait_until(lambda: self.refused() == [], "nothing is refused any more", 60)

    def expect_focus_in(self, selector):
        held = self.browser.execute_script(
            "return document.querySelector(arguments[0]).contains(document.activeElement)", selector)
        expect_equal(held, True, f"whether {selector} has the focus")

    def pairs(self):
        self.begin()
        self.tab_to("Pair bonded cuff")
        self.press(Keys.ENTER)
        wait_until(lambda: self.find("#passkey-form").is_displayed(), "it asks for the passkey", 120)
        expect_equal(self.focused().get_attribute("id"), "passkey", "what has the focus")
        self.press(*PASSKEY, Keys.ENTER)
        wait_until(lambda: self.find("#close").is_displayed(), "the pairing has ended", 120)
        if "Paired" not in self.find("#steps").text or self.find_all("#steps .bad"):
            raise Failure(self.find("#steps").text)
        self.tab_to("Close")
        self.press(Keys.ENTER)
        self.begin()
        self.gateway.wait(None, "paired")
        # Its button is another one from now on.
        self.tab_to("Pair bonded cuff")
        wait_until(lambda: "Pair anew" in self.find("#device-list").text, "the page shows the bond", 60)

    def draws(self):
        self.browser.execute_script("document.activeElement.blur()")
        self.tab_to("Show readings of kitchen cuff")
        self.press(Keys.ENTER)
        self.see("Blood pressure (mm[Hg])")
        for width, scheme, name in [(1280, "light", "desk"), (360, "dark", "telephone")]:
            self.show(width, scheme)
            self.picture(f"console-{name}-{scheme}")

    def picture(self, name):
        height = self.browser.execute_script("return document.documentElement.scrollHeight")
        data = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": self.browser.execute_script("return innerWidth"),
                     "height": height, "scale": 1}})["data"]
        (Path(PICTURES) / f"{name}.png").write_bytes(base64.b64decode(data))

    def stop(self):
        super().stop()
        self.backend.server.shutdown()
