from __future__ import annotations

import re
from typing import Any

import dspy
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import Seen, fake_lm
from videohv import VideoHV
from videohv.modules.pieces import CHARS_A_TOKEN, caption_tokens, in_pieces
from videohv.modules.settings import LoopSettings
from videohv.types import Outcome


@given(st.lists(st.text("ab ", min_size=1, max_size=40), max_size=60), st.integers(5, 200))
def test_pieces_hold_every_line_once_and_fit(lines: list[str], tokens: int) -> None:
    pieces = in_pieces(lines, tokens)
    assert "\n".join(pieces) == "\n".join(lines)
    for piece in pieces:
        assert len(piece) <= tokens * CHARS_A_TOKEN or "\n" not in piece


def test_the_budget_follows_the_models_context() -> None:
    predictor = dspy.Predict("captions -> passages")
    small, _ = fake_lm(context_tokens=8_192)
    unknown, _ = fake_lm()
    with dspy.context(lm=small):
        assert caption_tokens(predictor, LoopSettings()) == 8_192 - 3_000
    with dspy.context(lm=unknown):
        assert caption_tokens(predictor, LoopSettings()) > 20_000
        assert caption_tokens(predictor, LoopSettings(caption_tokens=700)) == 700


CAPTIONS = [f"moment {i} of a long day in the workshop" for i in range(600)]


def summarize(seen: Seen) -> dict[str, Any]:
    first = re.search(r"\[(\d+)", seen.inputs["captions"])
    assert first
    return {"passages": [{"start": int(first.group(1)), "end": int(first.group(1)) + 50, "text": "work goes on"}]}


def test_captions_over_the_budget_are_mapped_side_by_side_and_reduced() -> None:
    lm, engine = fake_lm({"summary": summarize})
    with dspy.context(lm=lm):
        prediction = VideoHV(caption_tokens=2000)(question="q", options=["a", "b"], captions=CAPTIONS)
    asked = engine.of("summary")
    assert len(asked) > 3
    assert all(len(seen.inputs["captions"]) <= 2000 * CHARS_A_TOKEN for seen in asked)
    mapped = "\n".join(seen.inputs["captions"] for seen in asked)
    assert all(text in mapped for text in CAPTIONS), "no caption is lost"
    assert "work goes on" in asked[-1].inputs["captions"], "the last call condenses the passages of the pieces"
    assert prediction.outcome is Outcome.ANSWERED


def test_a_model_that_does_not_condense_ends_all_the_same() -> None:
    def echo(seen: Seen) -> dict[str, Any]:
        lines = seen.inputs["captions"].splitlines()
        return {
            "passages": [{"start": i, "end": i, "text": line + " " + "and more" * 5} for i, line in enumerate(lines)]
        }

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
