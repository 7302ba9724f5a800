"""Answering from captions: all of them if they fit, else their summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dspy.lm15 import ContextLengthError

from tests.support.asking import CAPTIONS, run_method
from tests.support.clips import make_clip
from tests.support.engine import Seen
from videohv.types import Outcome

LONG = [f"moment {i} of a long day in the workshop" for i in range(600)]


def test_captions_that_fit_go_into_one_prompt() -> None:
    trace, engine = run_method("captions")
    (asked,) = engine.requests
    assert asked.role == "captions.answer"
    assert asked.inputs["captions"].splitlines()[:2] == ["[0-3s] someone holds thing 0", "[4-7s] someone holds thing 1"]
    assert all(text in asked.inputs["captions"] for text in CAPTIONS)
    assert asked.inputs["options"] == "A. a red ball\nB. a blue cube\nC. a green cone"
    assert (trace.outcome, trace.answer.option_index, trace.answer.confidence) == (Outcome.ANSWERED, 0, 0.8)
    assert trace.answer.reasoning == "it was seen"
    assert not trace.rounds
    assert not trace.summary
    assert [(u.role, u.calls) for u in trace.usage] == [("captions.answer", 1)]


def test_captions_that_do_not_fit_are_summarised_for_the_question_first() -> None:
    trace, engine = run_method("captions", captions=LONG, caption_tokens=2000, workers=1)
    assert set(engine.roles) == {"summary", "captions.answer"}
    (asked,) = engine.of("captions.answer")
    assert "someone does something" in asked.inputs["captions"]
    assert not any(text in asked.inputs["captions"] for text in LONG)
    assert all(seen.inputs["question"] == "What is picked up?" for seen in engine.of("summary"))
    assert len(asked.inputs["captions"].splitlines()) == len(trace.summary)
    assert not trace.degraded


def test_the_summary_can_be_had_although_the_captions_fit() -> None:
    trace, engine = run_method("captions", captions=LONG[:100], summarize=True, stretches=3)
    assert engine.roles.count("summary") == 3
    assert len(trace.summary) == 3
    assert "moment" not in engine.of("captions.answer")[0].inputs["captions"]


def test_captions_that_turn_out_too_long_are_summarised_and_it_is_said() -> None:
    def full(seen: Seen) -> Any:
        return (
            ContextLengthError("at most 10 tokens")
            if CAPTIONS[0] in seen.inputs["captions"]
            else {"reasoning": "r", "answer": "B", "confidence": 1}
        )

    trace, engine = run_method("captions", {"captions.answer": full})
    assert engine.roles == ["captions.answer", "summary", "captions.answer"]
    assert trace.answer.option_index == 1
    assert "do not fit after all" in trace.warnings[0]
    trace, _ = run_method("captions", {"captions.answer": ContextLengthError("at most 10 tokens")})
    assert trace.outcome is Outcome.LM_FAILED


def test_a_summary_that_fails_for_good_leaves_nothing_to_answer_from() -> None:
    trace, engine = run_method("captions", {"summary": "garbage"}, summarize=True, stretches=1)
    assert trace.outcome is Outcome.PARSE_FAILED
    assert trace.error.startswith("summary: ")
    assert "captions.answer" not in engine.roles


def test_a_video_is_captioned_and_not_looked_at(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", frames=100, fps=10.0)
    trace, engine = run_method("captions", video=clip)
    assert engine.roles == ["captioner", "captioner", "captions.answer"]
    assert engine.of("captions.answer")[0].images == 0
    assert "[9s] the scene at 9" in engine.of("captions.answer")[0].inputs["captions"]
    assert trace.outcome is Outcome.ANSWERED
