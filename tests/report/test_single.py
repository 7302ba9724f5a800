from __future__ import annotations

import html

import pytest

from tests.support.hostile import PLANTED, a_hostile_trace
from tests.support.html import Read, dangers
from tests.support.traces import a_check, a_look, a_question, a_round, a_trace, evidence, window
from videohv.report import html_of, notebook_html
from videohv.types import Answer, Degradation, Mode, Outcome, RoleUsage, Segment, Status, Trace, VideoInfo, Window

FIELDS = (
    *("question", "option", "other", "video", "type", "id", "method", "captioner", "summary", "hypothesis"),
    *("clue", "prediction", "critique", "observation", "rationale", "verdict", "reasoning", "conflict"),
    *("step", "why", "warning", "video-warning", "setting", "set", "item", "role", "model"),
)


def info(duration: float = 100.0) -> VideoInfo:
    return VideoInfo(
        path="/far/away/party.mp4", content_hash="0" * 64, duration=duration, fps=25, width=640, height=360
    )


def test_planted_text_is_shown_as_text_wherever_it_stands() -> None:
    read = Read(html_of(a_hostile_trace()))
    assert not dangers(read)
    assert (len(read.all("script")), len(read.all("style"))) == (2, 1)
    shown = "".join(c for c in PLANTED if c >= " ")
    for field in FIELDS:
        assert f"{field}-here {shown}" in read.text, field


def test_it_does_not_tell_where_the_video_lay() -> None:
    html = html_of(a_trace(video=info(), question=a_question(video="")))
    assert "party.mp4" in html
    assert "/far/away" not in html


def test_options_have_their_hypothesis_and_both_verdicts() -> None:
    read = Read(html_of(a_trace()))
    for said in ("a blue cube in the hand", "as seen of a blue cube", "supported", "refuted", "right option", "answer"):
        assert said in read.text, said
    assert len(read.of("chosen")) == 1


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (a_trace(None), "Declined"),
        (a_trace(outcome=Outcome.LM_FAILED, error="the server is gone"), "No answer: the server is gone"),
        (a_trace(outcome=Outcome.OVER_BUDGET, rounds=()), "No answer: over budget"),
        (a_trace(degraded=(Degradation(step="judge", why="no reply"),)), "Went without judge no reply"),
        (a_trace(warnings=("few frames",)), "Warning few frames"),
        (a_trace(answer=Answer(option_index=0, conflicts=("both hold",))), "Conflict both hold"),
    ],
)
def test_what_went_wrong_is_said(trace: Trace, said: str) -> None:
    assert said in Read(html_of(trace)).text


def test_that_options_were_proposed_is_said_where_they_were() -> None:
    made_up = a_trace(question=a_question(proposed=True))
    assert "No options were given: these were proposed" in Read(html_of(made_up)).text
    assert "No options were given: these were proposed" in html.unescape(notebook_html(made_up))
    assert "No options were given" not in Read(html_of(a_trace())).text
    nothing = a_question(proposed=True, options=(), answer_index=None)
    failed = a_trace(question=nothing, outcome=Outcome.PARSE_FAILED, rounds=())
    assert "none could be proposed" in Read(html_of(failed)).text


def test_a_failure_is_neither_right_nor_wrong() -> None:
    def chips(trace: Trace) -> set[str]:
        return {word for word in ("✓right", "✕wrong") if word in Read(html_of(trace)).text.replace("✓right option", "")}

    assert chips(a_trace(1)) == {"✓right"}
    assert chips(a_trace(0)) == {"✕wrong"}
    assert chips(a_trace(outcome=Outcome.PARSE_FAILED, error="no reply")) == set()


def test_every_look_of_every_round_is_told() -> None:
    first = a_round(a_look(a_check("???", Status.NOT_VERIFIED), windows=(window(10, 15), window(80, 90))))
    second = a_round(a_look(a_check(), (evidence(50, 60),)), mode=Mode.SPECIFICITY)
    read = Read(html_of(a_trace(1, first, second, video=info())))
    for said in ("Round 1", "Round 2", "not verified", "Nothing came of 1:20–1:30", "Sharper hypotheses"):
        assert said in read.text, said
    assert {"a-1-1", "a-2-1"} <= {e.attributes.get("id") for e in read.elements}


def test_the_timeline_places_windows_and_moments_in_per_cent() -> None:
    spans = (Window(start=20, end=40),)
    trace = a_trace(
        video=info(), question=a_question(spans=spans), summary=(Segment(window=window(0, 50), text="a hand"),)
    )
    read = Read(html_of(trace))
    placed = {(e.attributes["class"], e.attributes["x"], e.attributes["width"]) for e in read.all("rect")}
    assert placed == {
        ("segment", "0.000%", "50.000%"),
        ("span", "20.000%", "20.000%"),
        ("relied", "10.000%", "5.000%"),
    }
    assert [(e.attributes["class"], e.attributes["cx"]) for e in read.all("circle")] == [("seen", "11.000%")]
    seeks = [e.attributes for e in read.elements if "data-seek" in e.attributes]
    assert {"11", "10", "0", "20"} == {a["data-seek"] for a in seeks}
    assert all(a.get("aria-label") for a in seeks)


def test_marks_stay_inside_of_the_line() -> None:
    late = a_round(a_look(a_check(), (evidence(99, 140, times=(139.0,)),)))
    read = Read(html_of(a_trace(1, late, video=info())))
    for e in read.all("rect"):
        assert float(e.attributes["x"][:-1]) >= 0
        assert float(e.attributes["x"][:-1]) <= 100
    assert all(float(e.attributes["cx"][:-1]) <= 100 for e in read.all("circle"))


def test_a_trace_without_times_has_no_timeline() -> None:
    bare = Trace(question=a_question(), outcome=Outcome.MISSING_INPUT, error="no captions")
    read = Read(html_of(bare))
    assert not read.of("timeline")
    assert [e.attributes["id"] for e in read.all("section")] == ["a-options", "a-cost"]


def test_cost_by_role_adds_up() -> None:
    usage = (
        RoleUsage(role="thinker", model="m", calls=2, prompt_tokens=1000, completion_tokens=50, cost=0.01),
        RoleUsage(role="answer", model="m", calls=1, prompt_tokens=500, completion_tokens=25),
    )
    text = " ".join(Read(html_of(a_trace(usage=usage, seconds=12.5))).text.split())
    assert "thinker21,000500.0100 $" in text
    assert "answer150025–" in text
    assert "in all31,500750.0100 $" in text
    assert "12.5 seconds in all" in text
    assert "images" not in text


def test_the_video_is_named_only_as_seen_from_the_report() -> None:
    read = Read(html_of(a_trace(), video="./my%20clip.mp4"))
    assert read.of("player")[0].attributes["data-src"] == "./my%20clip.mp4"
    with pytest.raises(ValueError, match="not an address beside"):
        html_of(a_trace(), video="javascript:alert(1)")


def test_headings_do_not_skip_a_level_and_fields_are_labelled() -> None:
    read = Read(html_of(a_trace(video=info())))
    levels = [int(e.name[1]) for e in read.elements if e.name in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(e.attributes.get("aria-label") for e in read.all("input"))
    assert all("alt" in e.attributes for e in read.all("img"))
