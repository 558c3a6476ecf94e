"""Chromium with the page of a console, worked as its user works it."""

import time

from kit.gateway import Failure, wait_until
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from .box import Box, Console


class Browser(Box):
    def __init__(self, directory, destinations, **more):
        super().__init__(directory, destinations, **more)
        self.console = Console(self.gateway)
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--user-data-dir={directory}/chromium", "--hide-scrollbars"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.browser = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        self.browser.set_window_size(1280, 900)

    def open(self):
        self.browser.get(self.console.url)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self):
        return self.find("body").text

    def see(self, text):
        wait_until(lambda: text in self.text(), f"the page says {text!r}; it says {self.text()[-600:]!r}", 120)

    def focused(self):
        return self.browser.switch_to.active_element

    def press(self, *keys):
        chain = ActionChains(self.browser)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def tab_to(self, name):
        """Goes on by the tabulator until what has the focus is called so, or begins so."""
        for _ in range(80):
            if self.focused().accessible_name.startswith(name):
                return
            self.press(Keys.TAB)
        raise Failure(f"{name!r} is not reached by the tabulator")

    def show(self, width, scheme, size="100%"):
        """On a screen of so many pixels, light or dark, with text of this size."""
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        self.browser.execute_script("document.documentElement.style.fontSize = arguments[0]", size)
        time.sleep(0.3)

    def stop(self):
        self.browser.quit()
        self.console.stop()
        super().stop()
