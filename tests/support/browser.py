"""A real Chromium without a window, for pages as files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --mute-audio --autoplay-policy=no-user-gesture-required"
)

CONTRAST = """
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
    return .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = rgba(getComputedStyle(element).backgroundColor);
      if (colour[3] > 128) return colour;
    }
    return [255, 255, 255, 255];
  };
  const faint = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility() || element.closest("video, option")) continue;
    if (![...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    if (element.disabled) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < arguments[0]) faint.add(`${element.outerHTML.slice(0, 60)} ${ratio.toFixed(2)}`);
  }
  return [...faint];
"""
"""Texts whose contrast to what is behind them is below a ratio (WCAG 2.2, 1.4.3), as far as colours are plain."""


class Browser:
    """One browser that is open.

    Args:
        driver: Selenium's.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path | str, *, width: int = 1280, theme: str = "light", anchor: str = "") -> None:
        """Show a file or an address, with the theme that the system would ask for."""
        phone = width < 600
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wanted = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
        self.driver.get("about:blank")
        self.driver.get((page if isinstance(page, str) else page.absolute().as_uri()) + anchor)

    def run(self, script: str, *given: Any) -> Any:
        """What the body of a function in the page returns."""
        return self.driver.execute_script(script, *given)

    def wait(self, condition: str, seconds: float = 20.0) -> Any:
        """Wait until an expression in the page is true, and return it."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.05).until(
            lambda driver: driver.execute_script(f"return {condition}"), f"never true: {condition}"
        )

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last time."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the console was told since the last time: errors, and what the page's policy refused."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; skips the test where there is no Chromium or no Selenium."""
    webdriver = pytest.importorskip("selenium.webdriver")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    service = shutil.which("chromedriver")
    if program is None or service is None:
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*_FLAGS.split(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
