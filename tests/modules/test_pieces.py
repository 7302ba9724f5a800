from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import dspy
import pytest
from dspy.lm15 import ContextLengthError
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import Seen, default_reply, fake_lm
from videohv import VideoHV
from videohv.modules.pieces import CHARS_A_TOKEN, caption_tokens, in_pieces, text_of
from videohv.modules.render import Line
from videohv.modules.settings import LoopSettings
from videohv.types import Outcome


@given(
    st.lists(st.text("ab ", min_size=1, max_size=40), min_size=1, max_size=60), st.integers(5, 200), st.integers(1, 9)
)
def test_pieces_hold_every_line_once_and_fit(texts: list[str], tokens: int, at_least: int) -> None:
    lines = [Line(i, i, text) for i, text in enumerate(texts)]
    pieces = in_pieces(lines, tokens, at_least)
    assert [line for piece in pieces for line in piece] == lines
    assert all(pieces)
    for piece in pieces:
        assert len(text_of(piece)) <= tokens * CHARS_A_TOKEN or len(piece) == 1


@pytest.mark.parametrize(("count", "wanted"), [(180, 4), (40, 4), (3, 3), (1, 1)])
def test_lines_of_one_length_make_as_many_pieces_as_are_wanted(count: int, wanted: int) -> None:
    pieces = in_pieces([Line(i, i, "a caption") for i in range(count)], 10_000, wanted)
    assert len(pieces) == wanted
    assert max(map(len, pieces)) - min(map(len, pieces)) <= 1


def test_the_budget_follows_the_models_context() -> None:
    predictor = dspy.Predict("captions -> passages")
    small, _ = fake_lm(context_tokens=8_192)
    unknown, _ = fake_lm()
    with dspy.context(lm=small):
        assert caption_tokens("summary", predictor, LoopSettings()) == 8_192 - 3_000
    with dspy.context(lm=unknown):
        assert caption_tokens("summary", predictor, LoopSettings()) > 20_000
        assert caption_tokens("summary", predictor, LoopSettings(caption_tokens=700)) == 700


CAPTIONS = [f"moment {i} of a long day in the workshop" for i in range(600)]


def summarize(seen: Seen) -> dict[str, Any]:
    return {"summary": "work goes on"}


def test_a_summary_covers_the_whole_video_in_stretches_whose_times_no_model_made_up() -> None:
    lm, engine = fake_lm()
    with dspy.context(lm=lm):
        trace = VideoHV()(question="q", options=["a", "b"], captions=CAPTIONS[:180]).trace
    assert len(engine.of("summary")) == 4
    edges = [(s.window.start, s.window.end) for s in trace.summary]
    assert (edges[0][0], edges[-1][1]) == (0, 179)
    assert all(start == end + 1 for (_, end), (start, _) in pairwise(edges))
    assert all(30 <= s.window.duration <= 60 for s in trace.summary)
    with dspy.context(lm=lm):
        short = VideoHV()(question="q", options=["a", "b"], captions=CAPTIONS[:15]).trace
        whole = VideoHV(stretches=1)(question="q", options=["a", "b"], captions=CAPTIONS[:180]).trace
    assert len(short.summary) == len(whole.summary) == 1


def test_captions_over_the_budget_are_mapped_side_by_side_and_reduced() -> None:
    lm, engine = fake_lm({"summary": {"summary": "work goes on " * 200}})
    with dspy.context(lm=lm):
        prediction = VideoHV(caption_tokens=2000)(question="q", options=["a", "b"], captions=CAPTIONS)
    asked = engine.of("summary")
    assert len(asked) > 3
    assert all(len(seen.inputs["captions"]) <= 2000 * CHARS_A_TOKEN for seen in asked)
    mapped = "\n".join(seen.inputs["captions"] for seen in asked)
    assert all(text in mapped for text in CAPTIONS), "no caption is lost"
    assert "work goes on" in asked[-1].inputs["captions"], "the last call condenses summaries"
    assert prediction.outcome is Outcome.ANSWERED


def test_a_model_that_does_not_condense_ends_all_the_same() -> None:
    def echo(seen: Seen) -> dict[str, Any]:
        return {"summary": seen.inputs["captions"] + " and more"}

    lm, engine = fake_lm({"summary": echo})
    with dspy.context(lm=lm):
        prediction = VideoHV(caption_tokens=2000)(question="q", options=["a", "b"], captions=CAPTIONS)
    assert prediction.outcome is Outcome.ANSWERED
    assert len(engine.of("summary")) < 40


def test_one_failed_piece_is_recorded_and_the_others_are_used() -> None:
    def some(seen: Seen) -> dict[str, Any] | str:
        return "garbage" if "moment 0 " in seen.inputs["captions"] else summarize(seen)

    lm, _ = fake_lm({"summary": some})
    with dspy.context(lm=lm):
        trace = VideoHV(caption_tokens=2000)(question="q", options=["a", "b"], captions=CAPTIONS).trace
    assert [d.step for d in trace.degraded] == ["summary"]
    assert "one of" in trace.degraded[0].why
    assert trace.summary


def test_windows_of_all_pieces_compete_in_a_last_search() -> None:
    def locate(seen: Seen) -> dict[str, Any]:
        times = [int(t) for t in re.findall(r"\[(\d+)", seen.inputs["captions"])]
        return {"windows": [{"start": times[len(times) // 2], "end": times[len(times) // 2] + 5}]}

    lm, engine = fake_lm({"summary": summarize, "locate": locate})
    with dspy.context(lm=lm):
        trace = VideoHV(caption_tokens=2000)(question="q", options=["a", "b"], captions=CAPTIONS).trace
    searches = engine.of("locate")
    assert len(searches) > 3
    last = searches[-1].inputs["captions"]
    assert len(last) < len(searches[0].inputs["captions"]) / 2
    (window,) = trace.rounds[0].looks[0].windows
    assert f"[{window.start:g}s]" in last


def limited(tokens: int) -> Callable[[Seen], dict[str, Any] | Exception]:
    """A model that holds less than was supposed, and says so only when it is asked."""

    def reply(seen: Seen) -> dict[str, Any] | Exception:
        if len(seen.inputs["captions"]) > tokens * CHARS_A_TOKEN:
            return ContextLengthError(f"{tokens} tokens at most")
        return default_reply(seen)

    return reply


def test_captions_that_do_not_fit_after_all_are_given_in_smaller_pieces() -> None:
    lm, engine = fake_lm({"summary": limited(700), "locate": limited(700)})
    with dspy.context(lm=lm):
        trace = VideoHV(caption_tokens=5_000)(question="q", options=["a", "b"], captions=CAPTIONS).trace
    assert (trace.outcome, trace.degraded) == (Outcome.ANSWERED, ())
    assert [warning.partition(":")[0] for warning in trace.warnings if "smaller pieces" in warning] == [
        "summary",
        "verifier.locate",
    ]
    shown = [seen.inputs["captions"] for seen in engine.of("summary") if len(seen.inputs["captions"]) <= 700 * 3]
    assert all(text in "\n".join(shown) for text in CAPTIONS), "no caption is lost"
    windows = [segment.window for segment in trace.summary]
    assert [w.start for w in windows] == sorted(w.start for w in windows)
    assert windows[-1].end == len(CAPTIONS) - 1


def test_a_single_line_that_is_too_long_is_cut_short() -> None:
    lm, _ = fake_lm({"summary": limited(200), "locate": limited(200)})
    with dspy.context(lm=lm):
        trace = VideoHV()(question="q", options=["a", "b"], captions=["word " * 400, "short"]).trace
    assert (trace.outcome, trace.degraded) == (Outcome.ANSWERED, ())


def test_a_model_that_holds_nothing_is_a_failure_and_no_endless_halving() -> None:
    lm, engine = fake_lm({"summary": ContextLengthError("0 tokens at most")})
    with dspy.context(lm=lm):
        trace = VideoHV()(question="q", options=["a", "b"], captions=CAPTIONS[:64]).trace
    assert [d.step for d in trace.degraded] == ["summary"]
    assert "too long for the model: 0 tokens at most" in trace.degraded[0].why
    assert len(engine.of("summary")) < 2 * 64


def test_a_prompt_without_captions_that_is_too_long_is_a_typed_failure() -> None:
    lm, engine = fake_lm({"answer": ContextLengthError("too much")})
    with dspy.context(lm=lm):
        trace = VideoHV()(question="q", options=["a", "b"], captions=CAPTIONS[:8]).trace
    assert trace.outcome is Outcome.LM_FAILED
    assert "answer: the prompt is too long for the model: too much" in trace.error
    assert len(engine.of("answer")) == 1
