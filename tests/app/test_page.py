"""The page in a real Chromium: `pytest -m browser tests/app`. Layout and planted texts: `test_page_looks.py`."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tests.app.conftest import Model, Serve
from tests.support.benchmark import seen
from tests.support.browser import Browser
from tests.support.cut import Wire
from tests.support.desk_page import ANSWERED, DeskPage
from tests.support.engine import check_reply
from tests.support.reported import a_large_run
from tests.support.server import Failure, Fault, Request
from tests.support.serving import Served

pytestmark = pytest.mark.browser


def test_a_question_is_asked_and_answered(page: DeskPage, served: Served) -> None:
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait(ANSWERED)
    assert page.text("#answer-text").startswith("Aa ball")
    assert "confidence 80 %" in page.text("#answer-text")
    assert page.texts("#verdict .chip")[:2] == ["answered", "verified"]
    assert page.text("#verdict .why") == "it was seen"
    steps = page.texts("#steps .what")
    assert [one for one in steps if one != "note"] == [
        "captions", "summary", "hypotheses", "clue", "looking at", "seen", "status", "answer",
    ]  # fmt: skip
    assert "6 by lm:" in page.text("#steps")
    assert "If B: B shows" in page.text("#steps")
    links = page.run("return [...document.querySelectorAll('#verdict a')].map((a) => a.getAttribute('href'))")
    assert [served.ask(link).status for link in links] == [200, 200, 200]
    page.wait("document.querySelector('#recent .said')?.textContent === 'What is it?'")
    assert not page.run("return document.querySelector('#go').disabled")
    page.fill("And now?")
    page.ask()
    page.wait(f"{ANSWERED} && document.querySelectorAll('#recent li').length === 2")
    assert page.text("#asked p") == "And now?"


def test_a_page_that_is_loaded_again_goes_on(browser: Browser, serve: Serve, hold: threading.Event) -> None:
    with DeskPage(browser, serve(away=30).address).watched() as page:
        page.choose("party.mp4")
        page.fill("What is it?", "a ball", "a cube")
        page.ask()
        page.wait("document.querySelector('#steps .chip')?.textContent === 'verified'")
        page.run("location.reload()")
        page.wait("document.querySelector('#state')?.textContent === 'Working…'")
        page.wait("document.querySelector('#steps .chip')?.textContent === 'verified'")
        assert page.text("#asked p") == "What is it?"
        assert page.text("#video-name").startswith("party.mp4")
        hold.set()
        page.wait(ANSWERED)
        page.run("location.reload()")
        page.wait("document.querySelector('#recent .said')?.textContent === 'What is it?'")
        assert page.run("return document.querySelector('#found').hidden"), "a new question can be asked"


def test_it_says_which_models_answer(page: DeskPage) -> None:
    page.run("document.querySelector('#more').open = true")
    page.wait("document.querySelector('#models li')")
    assert page.texts("#models li") == ["fake-model"]


def test_steps_are_there_before_the_answer(page: DeskPage, hold: threading.Event) -> None:
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait("document.querySelector('#steps .chip')?.textContent === 'verified'")
    assert page.text("#state") == "Working…"
    assert not page.run(f"return Boolean({ANSWERED})")
    assert page.run("return document.querySelectorAll('#timeline a:has(rect)').length") == 1
    hold.set()
    page.wait(ANSWERED)
    assert page.text("#state") == ""
    assert page.run("return document.querySelector('#stop').hidden")


def test_it_is_stopped(page: DeskPage, hold: threading.Event, model: Model) -> None:
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait("document.querySelector('#steps .chip')")
    page.click("#stop")
    page.wait(ANSWERED)
    assert page.text("#answer-text") == "Stopped."
    assert page.run("return document.querySelector('#stop').hidden && !document.querySelector('#go').disabled")
    assert page.values("#question, #options input") == ["What is it?", "a ball", "a cube"]
    hold.set()
    page.ask()
    page.wait("document.querySelector('#answer-text')?.textContent.includes('a ball')")


def test_refinement_and_what_it_went_without_are_said(page: DeskPage, model: Model) -> None:
    rounds = iter(["NOT_VERIFIED", "PARTIAL", "VERIFIED"])

    def say(request: Request) -> object:
        role = seen(request).role
        if role == "check":
            return check_reply(status := next(rounds), [(4, 5)] if status == "PARTIAL" else [])
        return Fault(Failure.EMPTY) if role == "locate" else None

    model.say = say
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait(ANSWERED)
    assert page.texts("#steps .round") == ["Round 1", "Round 2"]
    assert page.texts("#steps .chip") == ["not verified", "partial", "verified"]
    what = page.texts("#steps .what")
    assert what.count("went without") == 2
    assert what.index("refined") > what.index("status")
    assert "look 2" in what
    assert "Still wanted: 0:04–0:05" in page.text("#steps")


def test_a_failure_of_the_model_is_told_and_is_no_answer(page: DeskPage, model: Model) -> None:
    model.say = lambda request: Fault(Failure.REFUSAL)
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait(ANSWERED)
    assert page.text("#answer-text") == "No answer."
    assert page.texts("#verdict .chip")[0] == "content filtered"
    assert page.text("#verdict .note.bad")
    assert page.values("#question") == ["What is it?"]


def test_what_is_wrong_is_said_where_it_is(page: DeskPage, films: Path) -> None:
    page.fill("What is it?", "a ball")
    page.ask()
    assert page.text("#ask-error") == "Choose a video first."
    page.run("document.querySelector('#path').value = '../outside.mp4'")
    page.click("#path-form button")
    page.wait("!document.querySelector('#video-error').hidden")
    assert "may be read" in page.text("#video-error")
    page.run("document.querySelector('#path').value = 'party.mp4'")
    page.click("#path-form button")
    page.wait("!document.querySelector('#player').hidden")
    assert page.run("return document.querySelector('#video-error').hidden")
    page.ask()
    assert "two options or more" in page.text("#ask-error")
    page.fill("  ", "a ball", "a cube")
    page.ask()
    page.wait("document.querySelector('#ask-error').textContent.includes('the question is empty')")
    assert page.values("#options input") == ["a ball", "a cube"]
    assert not page.run("return document.querySelector('#go').disabled")
    page.expect_refusals(2)


def test_a_wrong_number_is_shown_even_where_it_is_folded_away(page: DeskPage) -> None:
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.run("document.querySelector('#rounds').value = 99; document.querySelector('#more').open = false")
    page.ask()
    page.wait("document.querySelector('#more').open && document.activeElement.id === 'rounds'")
    assert page.run("return document.querySelector('#found').hidden")


def test_options_are_rows(page: DeskPage) -> None:
    from selenium.webdriver.common.keys import Keys

    page.fill("What is it?")
    page.paste("#options input", "one\n\n two \r\nthree")
    assert page.values("#options input")[:1] == ["one"]
    assert {"two", "three"} <= set(page.values("#options input"))
    page.paste("#options input", "\n".join(f"option {i}" for i in range(40)))
    assert len(page.values("#options input")) == 26
    assert page.run("return document.querySelector('#add').disabled")
    assert page.texts("#options .letter")[-1] == "Z"
    page.click("#options li:nth-child(2) button")
    assert len(page.values("#options input")) == 25
    assert page.texts("#options .letter")[-1] == "Y"
    page.run("document.querySelector('#options li:last-child input').focus()")
    page.browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.run("return document.activeElement.getAttribute('aria-label')") == "Option Z"
    assert not page.run(f"return Boolean({ANSWERED})")


def test_without_options_it_is_an_open_question(page: DeskPage) -> None:
    page.choose("party.mp4")
    page.fill("What is it?", "", "")
    sent = json.loads(page.sent_by("document.querySelector('#go').click()"))
    assert (sent["question"], sent["options"], sent["method"]) == ("What is it?", None, "videohv")


def test_what_is_chosen_is_sent(page: DeskPage) -> None:
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.run(
        "document.querySelector('#more').open = true; document.querySelector('#rounds').value = 1;"
        "document.querySelector('#looks').value = 4; document.querySelector('#abstain').checked = true;"
        "document.querySelector('#captioner').value = 'tags';"
    )
    sent = json.loads(page.sent_by("document.querySelector('#go').click()"))
    assert (sent["settings"], sent["abstain"], sent["captioner"]) == ({"rounds": 1, "looks": 4}, True, "tags")


def test_a_broken_connection_is_taken_up_again(
    browser: Browser, served: Served, model: Model, hold: threading.Event
) -> None:
    with Wire(served.port) as wire, DeskPage(browser, wire.address).watched() as page:
        page.choose("party.mp4")
        page.fill("What is it?", "a ball", "a cube")
        page.ask()
        page.wait("document.querySelector('#steps .chip')")
        before = page.texts("#steps .what")
        wire.cut()
        page.wait("document.querySelector('#state').textContent.startsWith('Connecting')")
        hold.set()
        page.wait(ANSWERED)
        assert page.texts("#steps .what") == [*before, "answer"]
        # A broken stream is told to the console, as it should be.
        page.forget_complaints()


def test_a_page_that_goes_takes_its_question_with_it(page: DeskPage, hold: threading.Event, served: Served) -> None:
    page.choose("party.mp4")
    page.fill("What is it?", "a ball", "a cube")
    page.ask()
    page.wait("document.querySelector('#steps .chip')")
    job = served.api("/jobs")["jobs"][0]["id"]
    page.browser.driver.get("about:blank")
    assert served.until(job, "cancelled")


def test_earlier_questions_are_opened_again(browser: Browser, serve: Serve, tmp_path: Path) -> None:
    a_large_run(tmp_path / "runs" / "first", 5)
    with DeskPage(browser, serve().address).watched() as page:
        page.choose("party.mp4")
        page.fill("What is it?", "a ball", "a cube")
        page.ask()
        page.wait(ANSWERED)
        page.reload()
        page.wait("document.querySelector('#recent .said')")
        page.click("#recent .said")
        page.wait(f"{ANSWERED} && document.querySelectorAll('#steps .step').length > 5")
        assert page.values("#question, #options input") == ["What is it?", "a ball", "a cube"]
    with DeskPage(browser, serve(runs=tmp_path / "runs").address).watched() as page:
        page.fill("Half typed")
        page.wait("document.querySelector('#recent .said')")
        page.click("#recent .said")
        page.wait(ANSWERED)
        assert page.text("#answer-text").startswith("Aa ball")
        assert page.text("#asked p") == "What is it?"
        assert page.values("#question") == ["Half typed"]
        assert page.text("#video-name").startswith("party.mp4")
        page.wait("document.querySelector('#runs a')?.textContent === 'first'")
        page.follow_link("#runs a")
        page.wait("document.querySelector('h1, h2')")
        assert browser.run("return document.querySelectorAll('table').length") > 0
