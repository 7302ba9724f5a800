"""The page where people ask, as somebody who sits before it uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from tests.support.browser import Browser

ANSWERED = "document.querySelector('#answer-text')"
"""True in the page once the question has ended."""

LOCAL = ("data:", "blob:", "about:")


class DeskPage:
    """One open page.

    Args:
        browser: In which it is shown.
        address: Where it is served.
    """

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        self._refusals = 0
        self.run, self.wait = browser.run, browser.wait

    @contextmanager
    def watched(self, **shown: Any) -> Iterator[Self]:
        """Open it; at the end of the block nothing left the origin, and the console heard of no trouble."""
        self.browser.driver.get("about:blank")
        self.browser.requests()
        self.browser.complaints()
        self.open(**shown)
        yield self
        assert [url for url in self.browser.requests() if not url.startswith((self.address, *LOCAL))] == []
        told = self.browser.complaints()
        refused = [one for one in told if "the server responded with a status of 4" in one]
        assert [one for one in told if one not in refused] == []
        assert len(refused) == self._refusals

    def expect_refusals(self, count: int) -> None:
        """So many requests were refused on purpose; browsers tell their console of each."""
        self._refusals = count

    def forget_complaints(self) -> None:
        """What the console heard so far was meant to happen."""
        self.browser.complaints()

    def open(self, **shown: Any) -> None:
        """Show it from its beginning, and wait until it has all that can be chosen."""
        self.browser.open(self.address, **shown)
        self._ready()

    def reload(self) -> None:
        """Load it anew."""
        self.browser.driver.refresh()
        self._ready()

    def _ready(self) -> None:
        self.wait(
            "document.querySelector('#method').value && document.querySelector('#recent li')"
            "&& document.querySelectorAll('#listed option').length > 1"
        )

    def choose(self, name: str) -> None:
        """Choose a listed video."""
        self.wait(f"[...document.querySelectorAll('#listed option')].some((one) => one.textContent === '{name}')")
        self.run(
            "const list = document.querySelector('#listed');"
            "list.value = [...list.options].find((one) => one.textContent === arguments[0]).value;"
            "list.dispatchEvent(new Event('change'));",
            name,
        )
        self.wait(f"document.querySelector('#video-name').textContent.startsWith('{name} ')")

    def fill(self, question: str, *options: str) -> None:
        """Type a question and, if any are given, exactly these options."""
        self.run(
            """
            const type = (field, text) => {
              field.value = text; field.dispatchEvent(new Event("input", { bubbles: true }));
            };
            type(document.querySelector("#question"), arguments[0]);
            const rows = () => [...document.querySelectorAll("#options input")];
            if (!arguments[1].length) return;
            while (rows().length < arguments[1].length) document.querySelector("#add").click();
            while (rows().length > arguments[1].length) document.querySelector("#options li:last-child button").click();
            rows().forEach((field, i) => type(field, arguments[1][i]));
            """,
            question,
            list(options),
        )

    def ask(self) -> None:
        """Press the button; what the last question left is gone from the page first."""
        self.run("document.querySelector('#verdict').replaceChildren(); document.querySelector('#go').click()")

    def click(self, selector: str) -> None:
        """Click what is there."""
        self.run(
            "document.querySelector(arguments[0])"
            ".dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))",
            selector,
        )

    def paste(self, selector: str, text: str) -> None:
        """Paste into a field."""
        self.run(
            "const given = new DataTransfer(); given.setData('text', arguments[1]);"
            "document.querySelector(arguments[0]).dispatchEvent("
            "new ClipboardEvent('paste', { clipboardData: given, bubbles: true, cancelable: true }))",
            selector,
            text,
        )

    def rewind(self) -> None:
        """Set the video to its beginning."""
        self.run("document.querySelector('#video').currentTime = 0")
        self.wait("document.querySelector('#video').currentTime === 0 && !document.querySelector('#video').seeking")

    def sent_by(self, action: str) -> str:
        """The body of the request that an action has the page send; it is not sent."""
        self.run(
            "const real = window.fetch; window.fetch = (path, given) => {"
            "  window.sent = given.body; window.fetch = real; return Promise.reject(new TypeError('held back')); };"
        )
        self.run(action)
        self.wait("window.sent")
        return str(self.run("return window.sent"))

    def follow_link(self, selector: str) -> None:
        """Go where a link leads, in this tab."""
        self.browser.driver.get(self.run("return document.querySelector(arguments[0]).href", selector))

    def text(self, selector: str) -> str:
        """All text of the first such element."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        """The text of each such element."""
        return list(self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector))

    def values(self, selector: str) -> list[str]:
        """What stands in each such field."""
        return list(self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.value)", selector))
