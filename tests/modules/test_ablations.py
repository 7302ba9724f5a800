"""The loop with parts switched off: which calls are left, and what they are told."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import run_method
from tests.support.clips import make_clip
from tests.support.engine import Script, check_reply, letters
from videohv import LoopSettings, Part
from videohv.types import Outcome, Source

WHOLE = {"summary": 1, "thinker": 1, "judge": 1, "locate": 1, "check": 1, "answer": 1}
UNDECIDED: dict[str, Script] = {"check": check_reply("NOT_VERIFIED")}
OVERLAPPING: dict[str, Script] = {
    "judge": {"comparison": "alike", "quality": "OVERLAPPING", "clue": "a hand", "predictions": []}
}


def wants_more() -> dict[str, Script]:
    spans = iter([(10, 14), (20, 24), (30, 34)])
    return {"check": lambda seen: check_reply("PARTIAL", [next(spans)])}


def without(*parts: str, scripts: dict[str, Script] | None = None, **more: Any) -> Any:
    return run_method("videohv", scripts, without=parts, **more)


def counted(engine: Any) -> dict[str, int]:
    return dict(Counter(engine.roles))


def less(*roles: str, **changes: int) -> dict[str, int]:
    return {role: n for role, n in {**WHOLE, **changes}.items() if role not in roles}


@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        ((), WHOLE),
        (("hypotheses",), less("thinker")),
        (("clue",), less("judge")),
        (("status",), less("check")),
        (("refinement",), WHOLE),
        (("frames",), WHOLE),
        (("hypotheses", "clue"), less("thinker", "judge")),
        (("hypotheses", "status"), less("thinker", "check")),
        (("clue", "status"), less("judge", "check")),
        (("hypotheses", "clue", "status"), less("thinker", "judge", "check")),
        (("hypotheses", "clue", "status", "refinement", "frames"), less("thinker", "judge", "check")),
    ],
    ids=str,
)
def test_calls_by_role_when_the_first_check_decides(parts: tuple[str, ...], calls: dict[str, int]) -> None:
    trace, engine = without(*parts)
    assert counted(engine) == calls
    assert trace.outcome is Outcome.ANSWERED
    assert not trace.degraded
    assert trace.settings["without"] == list(parts)


@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        ((), less(thinker=3, judge=3, locate=3, check=3)),
        (("hypotheses",), less("thinker", judge=3, locate=3, check=3)),
        (("clue",), less("judge", thinker=3, locate=3, check=3)),
        (("status",), less("check")),
        (("refinement",), WHOLE),
        (("frames",), less(thinker=3, judge=3, locate=3, check=3)),
        (("hypotheses", "clue"), less("thinker", "judge")),
        (("clue", "refinement"), less("judge")),
        (("hypotheses", "frames"), less("thinker", judge=3, locate=3, check=3)),
    ],
    ids=str,
)
def test_calls_by_role_when_no_check_ever_decides(parts: tuple[str, ...], calls: dict[str, int]) -> None:
    trace, engine = without(*parts, scripts=UNDECIDED, rounds=3)
    assert counted(engine) == calls
    assert trace.outcome is Outcome.ANSWERED
    assert not trace.degraded


@pytest.mark.parametrize(
    ("parts", "checks"), [((), 3), (("hypotheses",), 3), (("clue",), 3), (("status",), 0), (("refinement",), 1)]
)
def test_looks_when_every_check_wants_more(parts: tuple[str, ...], checks: int) -> None:
    trace, engine = without(*parts, scripts=wants_more(), looks=3)
    assert counted(engine).get("check", 0) == checks
    assert len(trace.rounds[0].looks) == max(1, checks)


@pytest.mark.parametrize(
    ("parts", "thinks", "judges"),
    [((), 3, 3), (("hypotheses",), 0, 1), (("clue",), 1, 0), (("refinement",), 1, 1), (("frames",), 3, 3)],
)
def test_hypotheses_made_anew_when_they_overlap(parts: tuple[str, ...], thinks: int, judges: int) -> None:
    trace, engine = without(*parts, scripts=OVERLAPPING, regenerations=2)
    assert (engine.roles.count("thinker"), engine.roles.count("judge")) == (thinks, judges)
    assert not trace.degraded


@pytest.mark.parametrize("parts", [c for n in range(6) for c in combinations(Part, n)], ids="-".join)
def test_every_combination_answers_from_evidence_and_goes_without_nothing(parts: tuple[Part, ...]) -> None:
    for scripts in (None, UNDECIDED, wants_more(), OVERLAPPING):
        trace, engine = without(*parts, scripts=scripts)
        assert trace.outcome is Outcome.ANSWERED
        assert trace.evidence
        assert not trace.degraded
        off = {"thinker": Part.HYPOTHESES, "judge": Part.CLUE, "check": Part.STATUS}
        assert {role for role in off if role in engine.roles} == {r for r, part in off.items() if part not in parts}
        prompts = " ".join(value for seen in engine.requests for value in seen.inputs.values())
        assert "None" not in prompts
        assert "could be made" not in prompts


def test_without_hypotheses_the_options_stand_in() -> None:
    trace, engine = without("hypotheses")
    assert [(h.statement, h.stated) for h in trace.rounds[0].hypotheses] == [
        ("a red ball", False),
        ("a blue cube", False),
        ("a green cone", False),
    ]
    assert engine.of("judge")[0].inputs["hypotheses"] == "A. a red ball\nB. a blue cube\nC. a green cone"
    assert letters(engine.of("check")[0], "hypotheses") == ["A", "B", "C"]


def test_without_hypotheses_a_round_that_did_not_decide_makes_a_new_clue() -> None:
    _, engine = without("hypotheses", scripts=UNDECIDED, rounds=2)
    assert [seen.inputs["earlier_clue"].splitlines()[0] for seen in engine.of("judge")] == [
        "none",
        "which of them is visible",
    ]


def test_without_a_clue_the_question_is_what_is_looked_for(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", frames=100, fps=10.0)
    trace, engine = without("clue", video=clip)
    assert trace.rounds[0].clue is not None
    assert trace.rounds[0].clue.observation == "What is picked up?"
    for role in ("locate", "look", "check", "answer"):
        assert engine.of(role)[0].inputs["clue"] == "What is picked up?"


def test_without_a_status_the_evidence_goes_to_answer_as_it_is() -> None:
    trace, engine = without("status")
    asked = engine.of("answer")[0].inputs
    assert asked["status"] == "unknown"
    assert "someone holds thing 0" in asked["evidence"]
    assert "VERIFIED" not in asked["reasoning_trace"]
    assert asked["reasoning_trace"].endswith("Look 1 at 1-4s.")
    assert (trace.status, trace.rounds[0].looks[0].check) == (None, None)


def test_without_frames_the_captions_of_the_windows_are_the_evidence_although_there_is_a_video(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", frames=100, fps=10.0)
    trace, engine = without("frames", video=clip)
    assert [e.source for e in trace.evidence] == [Source.CAPTIONS]
    assert [o.text for o in trace.evidence[0].observations] == [f"the scene at {t}" for t in range(1, 5)]
    assert "look" not in engine.roles
    assert engine.roles.count("captioner") == 2, "captions are made from frames all the same"
    assert trace.video is not None
    assert not trace.warnings
    _, whole = without(video=clip)
    assert "look" in whole.roles


def test_parts_are_kept_in_their_order_each_once() -> None:
    settings = LoopSettings.model_validate({"without": ["frames", "clue", "frames"]})
    assert settings.without == (Part.CLUE, Part.FRAMES)
    assert settings == LoopSettings(without=(Part.CLUE, Part.FRAMES))
    assert settings.has(Part.STATUS)
    assert not settings.has(Part.CLUE)
