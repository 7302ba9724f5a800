"""Videos on the page in a real Chromium: how they come there, are played or shown, and lead to the evidence."""

from __future__ import annotations

import base64
import threading
from pathlib import Path

import pytest

from tests.support.clips import make_clip
from tests.support.desk_page import ANSWERED, DeskPage

pytestmark = pytest.mark.browser


def test_evidence_leads_into_the_video(page: DeskPage) -> None:
    from selenium.webdriver.common.keys import Keys

    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait(ANSWERED)
    page.wait("document.querySelector('#video').readyState >= 1")
    at = page.run("return [...document.querySelectorAll('.seen-list .t')].map((one) => one.textContent)")
    assert len(at) == 5
    for selector in (
        ".seen-list li:nth-child(3) .t",
        ".stills button:nth-child(3)",
        "#timeline a:has(circle):nth-of-type(4)",
    ):
        page.rewind()
        page.click(selector)
        page.wait("Math.abs(document.querySelector('#video').currentTime - 2.4) < 0.11")
    page.rewind()
    page.click(".seen-list ~ * .t, .step p .t")
    page.wait("document.querySelector('#video').currentTime === 1")
    assert float(page.run("return parseFloat(document.querySelector('#playhead').getAttribute('x1'))")) == (
        pytest.approx(100 / 6, abs=0.5)
    )
    page.rewind()
    page.run("document.querySelector('#timeline a:has(circle)').focus()")
    page.browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait("document.querySelector('#video').currentTime >= 1")
    assert page.run("return document.activeElement.matches('#timeline a')")
    page.wait("[...document.querySelectorAll('.stills img')].every((one) => one.complete && one.naturalWidth > 0)")


def test_files_are_uploaded(page: DeskPage, clip: Path, tmp_path: Path) -> None:
    (tmp_path / "own film.mp4").write_bytes(clip.read_bytes())
    (tmp_path / "words.mp4").write_text("no video")
    page.fill("What is it?", "a ball", "a cube")
    give = page.browser.driver.find_element("css selector", "#file").send_keys
    give(str(tmp_path / "words.mp4"))
    page.wait("!document.querySelector('#video-error').hidden")
    assert page.text("#video-error")
    assert page.run("return document.querySelector('#uploading').hidden && document.querySelector('#player').hidden")
    give(str(tmp_path / "own film.mp4"))
    page.wait("!document.querySelector('#player').hidden && document.querySelector('#video').readyState >= 1")
    assert page.text("#video-name").startswith("own film.mp4 · 0:0")
    assert page.values("#question, #options input") == ["What is it?", "a ball", "a cube"]
    page.ask()
    page.wait(ANSWERED)
    page.expect_refusals(1)


def test_a_dropped_file_is_taken_and_one_beside_the_box_leaves_the_page(page: DeskPage, clip: Path) -> None:
    drop = """
      const bytes = Uint8Array.from(atob(arguments[1]), (c) => c.charCodeAt(0)), given = new DataTransfer();
      given.items.add(new File([bytes], "dropped.mp4", { type: "video/mp4" }));
      const one = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: given });
      return document.querySelector(arguments[0]).dispatchEvent(one);
    """
    content = base64.b64encode(clip.read_bytes()).decode()
    assert page.run(drop, "#ask", content) is False
    assert page.run("return document.querySelector('#player').hidden")
    assert page.run(drop, "#drop", content) is False
    page.wait("document.querySelector('#video-name').textContent.startsWith('dropped.mp4')")


def test_a_video_that_the_browser_cannot_play_is_shown_as_frames(page: DeskPage, films: Path) -> None:
    make_clip(films / "old.avi", frames=40, fps=10.0, size=(320, 240), codec="mpeg4")
    page.run("document.querySelector('#path').value = 'old.avi'")
    page.click("#path-form button")
    page.wait("!document.querySelector('#still').hidden && document.querySelector('#still').naturalWidth > 0")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait(ANSWERED)
    page.click(".seen-list li:nth-child(3) .t")
    page.wait("/at=2\\.\\d/.test(document.querySelector('#still').src)")
    page.wait("document.querySelector('#still').complete && document.querySelector('#still').naturalWidth > 0")


def test_another_video_meanwhile_loses_nothing(page: DeskPage, hold: threading.Event, films: Path, clip: Path) -> None:
    (films / "other.mp4").write_bytes(clip.read_bytes() + b"\0" * 8)
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait("document.querySelector('#steps .step')")
    page.click("#another")
    page.choose("other.mp4")
    hold.set()
    page.wait(ANSWERED)
    assert "status" in page.texts("#steps .what")
    assert page.run("return document.querySelectorAll('#timeline a').length") == 0
    page.click(".seen-list li:nth-child(3) .t")
    page.wait("document.querySelector('#video-name').textContent.startsWith('party.mp4')")
    page.wait("Math.abs(document.querySelector('#video').currentTime - 2.4) < 0.11")
    assert page.run("return document.querySelectorAll('#timeline a').length") == 6
