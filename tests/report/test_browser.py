"""Reports in a real Chromium: `pytest -m browser tests/report`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import CONTRAST, Browser, browsing
from tests.support.clips import make_clip
from tests.support.hostile import PLANTED, a_hostile_trace
from tests.support.reported import a_large_run
from videohv.data.whole import write_whole
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.row import Row
from videohv.report import html_of, report_answer, report_comparison, report_run
from videohv.report.runs import run_html
from videohv.report.versus import Side, comparison_html
from videohv.video import Video, content_hash

pytestmark = pytest.mark.browser

SHOWN = "".join(c for c in PLANTED if c >= " ").strip()
ROWS = 5_031
FILTERED_WITHIN_MS = 300
LOCAL = ("file:", "data:", "blob:", "about:")
FILTER = """
  const field = document.querySelector(arguments[0]);
  const began = performance.now();
  field.value = arguments[1];
  field.dispatchEvent(new Event("input", { bubbles: true }));
  document.querySelector("table.rows").getBoundingClientRect();
  return performance.now() - began;
"""
CLICK = ".dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))"
COUNT = "document.querySelector('.count').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_loaded_and_nothing_refused(browser: Browser) -> Iterator[None]:
    """Whatever a test does: nothing is asked for from elsewhere, and the page does not trip over its own policy."""
    browser.requests()
    browser.complaints()
    yield
    assert [url for url in browser.requests() if not url.startswith(LOCAL)] == []
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = a_large_run(tmp_path_factory.mktemp("large") / "run", ROWS)
    return report_run(folder, folder / "report.html")


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every text is planted, beside the clip that it is of."""
    home = tmp_path_factory.mktemp("answered")
    clip = make_clip(home / "a <b>clip.mp4", frames=60, fps=10.0, size=(320, 240))
    trace = a_hostile_trace(clip.name, content_hash(clip)).model_copy(update={"video": Video(clip).info})
    return report_answer(trace, home / "report.html", clip)


def test_a_large_run_filters_in_time(browser: Browser, large: Path, capsys: pytest.CaptureFixture[str]) -> None:
    browser.open(large)
    browser.wait(f"{COUNT}.startsWith('5,031')")
    took = {}
    for selector, value in (
        (".finder input", "kn"),
        (".finder input", "knife bottle"),
        (".finder input", "clip-04999"),
        (".finder select[aria-label='Right or wrong']", "wrong"),
        (".finder input", ""),
        (".finder select[aria-label='Order']", "10 -1"),
    ):
        took[f"{selector} {value!r}"] = browser.run(FILTER, selector, value)
    with capsys.disabled():
        print(f"\n{ROWS:,} rows, {large.stat().st_size / 1e6:.1f} MB; filtering took (ms):")
        for what, ms in took.items():
            print(f"  {ms:7.1f}  {what}")
    assert max(took.values()) < FILTERED_WITHIN_MS


def test_filters_show_what_they_say(browser: Browser, large: Path) -> None:
    browser.open(large)
    browser.wait(f"{COUNT}.startsWith('5,031')")
    browser.run(FILTER, ".finder select[aria-label='Status']", "verified")
    browser.run(FILTER, ".finder select[aria-label='Right or wrong']", "wrong")
    browser.run(FILTER, ".finder select[aria-label='duration']", "long")
    shown = browser.run("return [...document.querySelectorAll('tbody .open')].map(b => Number(b.dataset.row))")
    assert len(shown) == 50
    data = browser.run(
        "const d = JSON.parse(document.getElementById('rows').textContent);"
        "return [d.columns.map(c => c.label), d.rows.length, arguments[0].map(i => d.rows[i])]",
        shown,
    )
    labels = data[0]
    for row in data[2]:
        assert row[labels.index("Status")] == "verified"
        assert row[labels.index("Right or wrong")] == "wrong"
        assert row[labels.index("duration")] == "long"
    browser.run("document.querySelector('.finder button[type=reset]').click()")
    browser.wait(f"{COUNT}.startsWith('5,031 ')")
    browser.run(FILTER, ".finder input", "nothing is like this")
    assert "None of the 5,031" in browser.run(f"return {COUNT}")


def test_questions_open_turn_and_close_by_keyboard(browser: Browser, large: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(large)
    browser.wait(f"{COUNT}.startsWith('5,031')")
    browser.run("document.querySelectorAll('.open')[1].focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.wait("document.querySelector('dialog[open] .detail h1')?.textContent.includes('clip 1?')")
    assert browser.run("return location.hash") == "#q-1"
    browser.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    browser.wait("document.querySelector('dialog[open] .detail h1')?.textContent.includes('clip 2?')")
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    browser.wait("!document.querySelector('dialog[open]')")
    assert browser.run("return document.activeElement.dataset.row") == "2"
    browser.open(large, anchor="#q-5000")
    browser.wait("document.querySelector('dialog[open] .detail h1')?.textContent.includes('clip 5000?')")
    browser.run("document.querySelector('dialog .timeline a')" + CLICK)
    assert browser.run("return location.hash") == "#q-5000"


def test_pages_turn(browser: Browser, large: Path) -> None:
    browser.open(large)
    browser.wait(f"{COUNT}.startsWith('5,031')")
    browser.run("document.querySelectorAll('.pager button')[1].click()")
    assert browser.run("return document.querySelector('.pager span').textContent") == "page 2 of 101"
    assert browser.run("return document.querySelector('.open').dataset.row") == "50"


def test_clicking_evidence_seeks_the_video(browser: Browser, answered: Path) -> None:
    browser.open(answered)
    browser.wait("document.querySelector('video').readyState >= 1")
    assert browser.run("return document.querySelector('video').duration") == pytest.approx(6.0, abs=0.2)
    for selector in (".seen button[data-seek]", ".still img[data-seek]", ".timeline a:has(circle.seen)"):
        browser.run("document.querySelector('video').currentTime = 0")
        browser.wait("document.querySelector('video').currentTime === 0")
        browser.run(
            f"document.querySelector(arguments[0]){CLICK}",
            selector,
        )
        browser.wait("Math.abs(document.querySelector('video').currentTime - 2.5) < 0.01")
    browser.wait("document.querySelector('.playhead').getAttribute('visibility') === 'visible'")


def test_a_video_elsewhere_is_asked_for(browser: Browser, answered: Path, tmp_path: Path) -> None:
    clip = next(answered.parent.glob("*.mp4"))
    page = tmp_path / "alone.html"
    trace = a_hostile_trace()
    write_whole(page, html_of(trace))
    browser.open(page)
    browser.run("document.querySelector('.seen button[data-seek]').click()")
    assert "Open the video file first" in browser.run(
        "return document.querySelector('.player [role=status]').textContent"
    )
    browser.driver.find_element("css selector", ".player input").send_keys(str(clip))
    browser.wait("document.querySelector('video').readyState >= 1")
    browser.wait("Math.abs(document.querySelector('video').currentTime - 2.5) < 0.01")


def test_planted_scripts_are_shown_and_never_run(browser: Browser, answered: Path, tmp_path: Path) -> None:
    trace = a_hostile_trace()
    failed = trace.model_copy(update={"outcome": "lm_failed", "answer": None}, deep=True)
    made = Manifest(benchmark="b" + PLANTED, method=PLANTED, program=PLANTED, settings={PLANTED: PLANTED})
    run, compared = tmp_path / "run.html", tmp_path / "cmp.html"
    write_whole(run, run_html(made, [(Row.of(trace), trace)]))
    side = Side(PLANTED, made, [Row.of(trace)])
    write_whole(compared, comparison_html(side, side, lambda pair: (trace, trace)))
    assert failed.answer is None
    for page in (answered, run, compared):
        browser.open(page)
        if page is not answered:
            browser.wait("document.querySelector('.open')")
            assert SHOWN[:40] in browser.run("return document.querySelector('.open').textContent")
            browser.run("document.querySelector('.open').click()")
            browser.wait("document.querySelector('dialog[open] .detail h1')")
        browser.run("for (const d of document.querySelectorAll('details')) d.open = true;")
        text = browser.run("return document.body.textContent")
        for said in (
            "<script>window.pwned=1</script>",
            "<img src=x onerror=window.pwned=3>",
            "javascript:window.pwned=5",
        ):
            assert said in text
        assert browser.run("return window.pwned") is None
        assert browser.run("return document.querySelectorAll('body img[src=x], svg[onload], [onerror]').length") == 0
        assert browser.run(
            "return [...document.querySelectorAll('a')].every(a => a.getAttribute('href').startsWith('#'))"
        )


@pytest.mark.parametrize("width", [1280, 390])
def test_both_themes_can_be_read_at_any_width(browser: Browser, answered: Path, large: Path, width: int) -> None:
    paper = "return getComputedStyle(document.body).backgroundColor"
    for page in (answered, large):
        browser.open(page, width=width, theme="light")
        light = browser.run(paper)
        browser.open(page, width=width, theme="dark")
        dark = browser.run(paper)
        assert light != dark
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        # From the system's to light, whatever the system says.
        browser.run("document.getElementById('theme').click()")
        assert browser.run(paper) == light
        assert browser.run("return document.getElementById('theme').getAttribute('aria-label')").startswith(
            "Theme: light"
        )
        browser.driver.refresh()
        assert browser.run(paper) == light
        for _ in range(2):
            browser.run("document.getElementById('theme').click()")
        assert browser.run(paper) == dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser: Browser, answered: Path, large: Path, theme: str) -> None:
    for page in (answered, large):
        browser.open(page, theme=theme)
        faint = browser.run(CONTRAST, 4.5)
        assert faint == []


def test_a_comparison_opens_on_what_flipped(browser: Browser, tmp_path: Path) -> None:
    a, b = a_large_run(tmp_path / "a", 60, 1, 0.3), a_large_run(tmp_path / "b", 60, 2, 0.9)
    browser.open(report_comparison(a, b, tmp_path / "cmp.html"))
    browser.wait(f"{COUNT}.startsWith('60 ')")
    first = browser.run("return document.querySelector('tbody .chip').textContent")
    assert "only run" in first
    browser.run("document.querySelector('.open').click()")
    browser.wait("document.querySelectorAll('dialog[open] .sides > div').length === 2")
