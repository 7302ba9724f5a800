"""How the page looks in a real Chromium: planted texts stay texts, nothing is cut off or lies on something else."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path

import pytest

from tests.app.conftest import Model, Serve
from tests.support.benchmark import seen
from tests.support.browser import CONTRAST, Browser
from tests.support.desk_page import ANSWERED, DeskPage
from tests.support.engine import default_reply
from tests.support.hostile import PLANTED, planted
from tests.support.server import Request

pytestmark = pytest.mark.browser

NAMED = "<img src=x onerror=window.pwned=7>.mp4"
LONG = "Donaudampfschifffahrtsgesellschaftskapitänswitwenversorgungsanstalt" * 3


def speaking(text: str, request: Request) -> dict[str, object]:
    """A well-formed reply with this text wherever there are words."""
    what = seen(request)
    reply = default_reply(what)
    if what.role == "answer":
        reply["conflicts"] = [text]

    def said(value: object, key: str = "") -> object:
        if isinstance(value, dict):
            return {name: said(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [said(item, key) for item in value]
        kept = key in ("option", "answer", "support", "status", "quality") or not isinstance(value, str)
        return value if kept else f"{key}: {text}"

    made = said(reply)
    assert isinstance(made, dict)
    return made


def test_planted_scripts_are_shown_and_never_run(
    browser: Browser, serve: Serve, model: Model, films: Path, clip: Path
) -> None:
    (films / NAMED).write_bytes(clip.read_bytes())
    (films / "party.mp4").unlink()
    model.say = lambda request: speaking(PLANTED, request)
    served = serve()
    with DeskPage(browser, served.address).watched() as page:
        page.choose(NAMED)
        page.fill(planted("question"), planted("first"), planted("second"))
        page.ask()
        page.wait(ANSWERED)
        page.wait("document.querySelector('#recent .said')")
        shown = page.text("body")
        for word in (
            "question-here <script>", "first-here <script>", "summary: <script>", "statement: <script>",
            "clue: <script>", "If A: expectation: <script>", "seen: <script>", "rationale: <script>",
            "why: <script>", "reasoning: <script>", "conflicts: <script>", NAMED,
        ):  # fmt: skip
            assert word in shown, word
        assert page.run("return window.pwned") is None
        assert page.run("return document.querySelectorAll('img[src=x], [onerror], [onload], body script').length") == 0
        assert page.run("return [...document.links].every((a) => a.protocol === 'http:')")
        page.reload()
        page.click("#recent .said")
        page.wait(ANSWERED)
        report = page.run("return document.querySelector('#verdict a').href")
        browser.driver.get(report)
        page.wait("document.querySelector('h1')")
        assert "question-here <script>" in page.text("body")
        assert page.run("return window.pwned") is None
        assert page.run("return document.querySelectorAll('img[src=x], [onerror], [onload]').length") == 0


def test_the_page_may_not_run_what_stands_in_it(browser: Browser, serve: Serve) -> None:
    with DeskPage(browser, serve().address).watched() as page:
        page.run(
            "const script = document.createElement('script'); script.textContent = 'window.pwned = 8';"
            "document.body.append(script);"
            "const picture = document.createElement('img'); picture.src = 'http://elsewhere.invalid/x.png';"
            "document.body.append(picture);"
        )
        page.wait("document.querySelector('body > img').complete")
        assert page.run("return window.pwned") is None
        told = browser.complaints()
        assert sum("Content Security Policy" in one for one in told) == len(told) == 2
        # The browser reports the picture as a request, refused before it was sent.
        assert "http://elsewhere.invalid/x.png" in browser.requests()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 800, 390])
def test_nothing_is_cut_off_or_lies_on_something_else(
    browser: Browser, serve: Serve, model: Model, width: int, theme: str
) -> None:
    hold = threading.Event()

    def say(request: Request) -> dict[str, object] | None:
        if seen(request).role == "answer":
            hold.wait(30)
        return speaking(LONG, request)

    model.say = say
    with DeskPage(browser, serve().address).watched(width=width, theme=theme) as page:
        page.run("document.querySelector('#more').open = true")
        check(page, "empty")
        page.choose("party.mp4")
        page.fill(f"What is it? {LONG}", LONG, "a cube")
        page.ask()
        page.wait("document.querySelector('#steps .chip')")
        check(page, "running")
        hold.set()
        page.wait(ANSWERED)
        page.wait("document.querySelector('#recent .said')")
        check(page, "answered")
        for state in ("#video-error", "#ask-error"):
            page.run("const at = document.querySelector(arguments[0]); at.hidden = false;", state)
            page.run("document.querySelector(arguments[0]).textContent = arguments[1]", state, LONG)
        check(page, "with errors")


def check(page: DeskPage, state: str) -> None:
    """The page can be read as it is."""
    assert page.run("return document.documentElement.scrollWidth <= innerWidth"), state
    assert page.run(OVERLAPPING) == [], state
    assert page.run(CUT_OFF) == [], state
    assert page.run(CONTRAST, 4.5) == [], state


def test_everything_has_a_name_and_can_be_reached(browser: Browser, serve: Serve, model: Model) -> None:
    with DeskPage(browser, serve().address).watched() as page:
        page.choose("party.mp4")
        page.fill("What is it?", "a ball", "a cube")
        page.ask()
        page.wait(ANSWERED)
        assert page.run(NAMELESS) == []
        assert page.run("return document.querySelector('#state').getAttribute('role')") == "status"
        assert page.run("return document.querySelector('#verdict').getAttribute('aria-live')") == "polite"
        twice = (
            "return [...document.querySelectorAll('[id]')].map((e) => e.id).filter((id, i, all) => all.indexOf(id) < i)"
        )
        assert page.run(twice) == []
        levels = page.run("return [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.tagName[1]))")
        assert all(deeper - level <= 1 for level, deeper in pairwise(levels))


def test_the_theme_is_that_of_the_reports_and_stays(browser: Browser, serve: Serve) -> None:
    paper = "return getComputedStyle(document.body).backgroundColor"
    with DeskPage(browser, serve().address).watched(theme="dark") as page:
        dark = page.run(paper)
        page.click("#theme")
        light = page.run(paper)
        assert light != dark
        page.reload()
        assert page.run(paper) == light
        assert page.run("return document.querySelector('#theme').getAttribute('aria-label')").startswith("Theme: light")


def test_on_paper_there_are_question_options_and_answer(browser: Browser, serve: Serve, model: Model) -> None:
    with DeskPage(browser, serve().address).watched() as page:
        page.choose("party.mp4")
        page.fill("What is it?", "a ball", "a cube")
        page.ask()
        page.wait(ANSWERED)
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        try:
            shown = page.run("return document.body.innerText")
        finally:
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        for text in ("What is it?", "A. a ball", "B. a cube", "confidence 80 %", "it was seen", "party.mp4"):
            assert text in shown
        for text in ("Choose a file", "Add an option", "Earlier"):
            assert text not in shown


OVERLAPPING = """
  const shown = [...document.querySelectorAll(
    "main :is(p, li, h2, h3, h4, legend, label, button, input, textarea, select, summary, img, video, svg, a, span)")]
    .filter((e) => e.checkVisibility() && !e.closest(".away, svg *, option") && !e.classList.contains("away"))
    .map((e) => [e, e.getBoundingClientRect()]).filter(([, box]) => box.width > 1 && box.height > 1);
  const found = [];
  for (let i = 0; i < shown.length; i++) for (let j = i + 1; j < shown.length; j++) {
    const [[a, one], [b, other]] = [shown[i], shown[j]];
    if (a.contains(b) || b.contains(a)) continue;
    const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const tall = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (wide > 1.5 && tall > 1.5) found.push(`${a.outerHTML.slice(0, 70)} | ${b.outerHTML.slice(0, 70)}`);
  }
  return found.slice(0, 5);
"""
"""Pairs of things that are shown, neither within the other, whose boxes have a part in common."""

CUT_OFF = """
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    // Fields scroll by themselves, and so does the row of links at the top.
    if (!e.checkVisibility() || e.matches("input, select, textarea, video, .away, .skip")) continue;
    if (e.closest("svg, .bar nav")) continue;
    const box = e.getBoundingClientRect(), said = e.outerHTML.slice(0, 90);
    if (box.width > 1 && (box.left < -1 || box.right > innerWidth + 1)) found.push(`beyond: ${said}`);
    if (e.clientWidth && e.scrollWidth > e.clientWidth + 2) found.push(`out of its box: ${said}`);
  }
  return found.slice(0, 5);
"""
"""Things that reach beyond the window or out of their box."""

NAMELESS = """
  const all = document.querySelectorAll("input, select, textarea, button, a, img, progress, video, [role=group]");
  return [...all].filter((e) => {
    if (!e.checkVisibility()) return false;
    const name = e.getAttribute("aria-label") || e.textContent.trim() || e.getAttribute("alt")
      || [...(e.labels || [])].map((l) => l.textContent.trim()).join("");
    return !name;
  }).map((e) => e.outerHTML.slice(0, 90));
"""
"""Controls and pictures without a name for those who only hear the page."""
