"""The page in Chromium: read, worked by keyboard alone, on a telephone and a desk, in the dark, in large letters."""

import json
import os
from pathlib import Path

import axe_playwright_python
from kit.gateway import Failure, expect_equal, wait_until
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from .box import CUFF
from .browser import Browser

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


class Page(Browser):
    def __init__(self, directory):
        # Nobody answers there.
        super().__init__(directory, {"clinic": {"url": "http://127.0.0.1:9/"}})
        self.gateway.until(lambda: self.reads() >= 2, "both devices are read")
        self.open()
        self.see("Something needs you")

    def reads(self):
        return sum(event["INGEST_EVENT"] == "read" for event in list(self.gateway.events))

    def cases(self):
        return {
            "it-says-how-the-box-is": self.tells_health,
            "a-device-name-full-of-markup-is-text": self.shows_markup_as_text,
            "by-keyboard-alone-a-reading-is-taken": self.works_by_keyboard,
            "readings-are-drawn-after-a-click-with-the-devices-digits": self.draws,
            "a-device-is-found-and-allowed": self.adds,
            "telephone-desk-dark-and-large-letters": self.fits,
            "nothing-was-asked-of-another-host": self.stays_here,
            "the-address-does-not-open-a-second-browser": self.opens_once,
        }

    def expect_accessible(self, where):
        self.browser.execute_script(AXE)
        found = self.browser.execute_async_script(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
            ".then(arguments[0])")
        broken = [(rule["id"], [node["html"][:120] for node in rule["nodes"]]) for rule in found["violations"]]
        if broken or len(found["passes"]) < 10:
            raise Failure(f"{where}: {broken}, {len(found['passes'])} rules hold")

    def tells_health(self):
        self.see("kitchen cuff")
        self.see("clinic")
        wait_until(lambda: "down" in self.find("#destination-list").text, "the destination is down")
        self.see("hci0")
        if self.console.key in self.browser.current_url:
            raise Failure("the key stays in the address")
        if "patient-17" in self.text():
            raise Failure("a person is named before anybody asked")

    def shows_markup_as_text(self):
        self.see("<img src=x onerror=")
        expect_equal(self.browser.title, "ingestd", "the title")
        expect_equal(len(self.browser.find_elements(By.CSS_SELECTOR, "img")), 0, "images")

    def works_by_keyboard(self):
        self.find("body").send_keys("")
        self.browser.execute_script("document.activeElement.blur()")
        self.tab_to("Take a reading of kitchen cuff")
        self.press(Keys.ENTER)
        wait_until(lambda: self.find("#order").is_displayed(), "the order is shown")
        expect_equal(self.focused().get_attribute("id"), "order-title", "what has the focus")
        self.tab_to("Stop")
        self.press(Keys.ENTER)
        wait_until(lambda: self.find("#close").is_displayed(), "the order has ended", 150)
        self.tab_to("Close")
        self.press(Keys.ENTER)
        wait_until(lambda: not self.find("#order").is_displayed(), "the order is closed")

    def draws(self):
        before = self.find("#charts").text
        expect_equal(before, "", "what is drawn before a click")
        self.browser.execute_script("document.activeElement.blur()")
        self.tab_to("Show readings of kitchen cuff")
        self.press(Keys.ENTER)
        self.see("Blood pressure (mm[Hg])")
        for summary in self.browser.find_elements(By.CSS_SELECTOR, "summary"):
            summary.click()
        rows = self.find("table").text
        record = json.loads(self.records()[0])
        for value in record["measurements"][:2]:
            if str(value["value"]) not in rows:
                raise Failure(f"{value['value']} is not in {rows!r}")
        self.expect_accessible("with a plot")
        # The same by the person.
        select = self.find("#plot-of")
        select.find_elements(By.TAG_NAME, "option")[-1].click()
        self.find("#person").send_keys("patient-17", Keys.ENTER)
        self.see("Blood pressure (mm[Hg])")
        self.find("#clear").click()
        expect_equal(self.find("#charts").text, "", "what is drawn after all was hidden")
        kept = self.browser.execute_script("return localStorage.length + sessionStorage.length + document.cookie.length")
        expect_equal(kept, 0, "what the page has stored")

    def records(self):
        import subprocess
        from kit.gateway import INGESTD
        result = subprocess.run([INGESTD, "records", "--json", "--config", str(self.gateway.file)],
                                capture_output=True, text=True, timeout=60, check=True,
                                env={**os.environ, "STATE_DIRECTORY": str(self.gateway.state)})
        return [line for line in result.stdout.splitlines() if CUFF["address"] in line]

    def adds(self):
        self.find("#scan").click()
        wait_until(lambda: self.find("#close").is_displayed(), "the search has ended", 150)
        self.find("#close").click()
        card = next(card for card in self.browser.find_elements(By.CSS_SELECTOR, "#found li")
                    if "allowed already" not in card.text and "Choose" in card.text)
        card.find_element(By.TAG_NAME, "button").click()
        expect_equal(self.focused().get_attribute("id"), "add-title", "what has the focus")
        self.find("#alias").send_keys("found by the page")
        self.find("#subject").send_keys("patient-18", Keys.ENTER)
        self.see("was written")
        pieces = list((self.directory / "conf.d").glob("*.yaml"))
        expect_equal(len(pieces), 1, "files of conf.d")
        text = pieces[0].read_text()
        if "found by the page" not in text or "patient-18" not in text:
            raise Failure(text)
        wait_until(lambda: "found by the page" in self.find("#device-list").text, "the device is on the page")

    def fits(self):
        for width, name in [(360, "telephone"), (1280, "desk")]:
            for scheme in ("light", "dark"):
                for size in ("100%", "200%"):
                    self.show(width, scheme, size)
                    wide = self.browser.execute_script("return document.documentElement.scrollWidth")
                    if wide > width:
                        raise Failure(f"{name}, {size}: it is {wide} px wide")
                    self.expect_accessible(f"{name}, {scheme}, {size}")
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.execute_script("document.documentElement.style.fontSize = ''")

    def stays_here(self):
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.requestWillBeSent":
                continue
            url = message["params"]["request"]["url"]
            # Chromium's own first page is of no host.
            if not url.startswith((f"http://127.0.0.1:{self.console.port}/", "data:", "chrome://", "about:")):
                raise Failure(f"{url} was asked for")
        wrong = [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        expect_equal(wrong, [], "what Chromium complains of")

    def opens_once(self):
        self.browser.delete_all_cookies()
        self.browser.get("about:blank")
        self.browser.get(self.console.url)
        self.see("opens once")
