"""Retrieving until sure: what is shown, what is looked at, when it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import run_method
from tests.support.clips import make_clip
from tests.support.engine import Script, guess_reply
from videohv.modules import observe
from videohv.modules.ask import ATTEMPTS
from videohv.modules.rivals.retrieval import moments_text
from videohv.signatures.retrieval import read_certainty
from videohv.types import Evidence, Observation, Outcome, Source, Window


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", frames=200, fps=10.0)


def seeks(*windows: tuple[float, float], missing: str = "the hands") -> dict[str, Any]:
    return {"missing": missing, "windows": [{"start": s, "end": e} for s, e in windows]}


def unsure(*certainties: object) -> dict[str, Script]:
    """Answers A, B, C … with these certainties; each seek wants another window."""
    spans = iter([(8, 12), (20, 23), (30, 33), (14, 17)])
    return {
        "retrieval.answer": [guess_reply("ABC"[i % 3], certainty) for i, certainty in enumerate(certainties)],
        "retrieval.seek": lambda seen: seeks(next(spans)),
    }


def test_sure_at_once_takes_one_call_on_a_few_captions() -> None:
    trace, engine = run_method("retrieval")
    assert engine.roles == ["retrieval.answer"]
    shown = engine.requests[0].inputs["seen"]
    assert shown.splitlines() == [f"[{t}s] someone holds thing {t // 4}" for t in (4, 12, 20, 28, 36)]
    assert engine.requests[0].inputs["video_seconds"] == "40.0"
    assert (trace.answer.option_index, trace.answer.confidence, trace.status) == (0, 1.0, None)
    (evidence,) = trace.evidence
    assert (evidence.source, evidence.times) == (Source.CAPTIONS, (4, 12, 20, 28, 36))
    assert not trace.warnings


def test_while_unsure_it_names_what_is_missing_retrieves_it_and_answers_again() -> None:
    trace, engine = run_method("retrieval", unsure(1, 2, 3), rounds=5)
    assert engine.roles == ["retrieval.answer", "retrieval.seek"] * 2 + ["retrieval.answer"]
    assert engine.of("retrieval.seek")[0].inputs["thought"] == "as far as it was seen"
    before, after = (seen.inputs["seen"] for seen in engine.of("retrieval.answer")[:2])
    assert "[9s]" not in before
    assert after.splitlines() == sorted(after.splitlines(), key=lambda line: float(line[1:].split("s]")[0]))
    assert all(line in after for line in before.splitlines()), "nothing that was seen is forgotten"
    assert after.count("[12s]") == 1, "a moment that is retrieved again is shown once"
    assert "[8s] someone holds thing 2" in after
    assert trace.answer.option_index == 2
    assert [[str(w) for look in r.looks for w in look.windows] for r in trace.rounds] == [
        ["0:00–0:40"],
        ["0:08–0:12"],
        ["0:20–0:23"],
    ]
    assert [(e.round, e.look) for e in trace.evidence] == [(1, 1), (2, 1), (3, 1)]
    (draft,) = trace.rounds[1].drafts
    assert draft.clue is not None
    assert (draft.clue.observation, draft.hypotheses) == ("the hands", ())
    assert draft.critique == "A so far, certainty 1 of 3: as far as it was seen"
    assert all(look.check is None for r in trace.rounds for look in r.looks)
    assert trace.status is None
    assert {u.role: u.calls for u in trace.usage} == {"retrieval.answer": 3, "retrieval.seek": 2}


def test_rounds_are_exhausted_and_the_last_answer_stands() -> None:
    trace, engine = run_method("retrieval", unsure(1, 2, 2, 1), rounds=3)
    assert engine.roles.count("retrieval.answer") == 3
    assert engine.roles.count("retrieval.seek") == 2
    assert (trace.outcome, trace.answer.option_index) == (Outcome.ANSWERED, 2)
    assert trace.answer.confidence == pytest.approx(2 / 3, abs=1e-3)
    _, engine = run_method("retrieval", unsure(1), rounds=1)
    assert engine.roles == ["retrieval.answer"]


def test_it_ends_when_nothing_new_is_wanted() -> None:
    scripts: dict[str, Script] = {"retrieval.answer": guess_reply("B", 1), "retrieval.seek": seeks((8, 12))}
    trace, engine = run_method("retrieval", scripts, rounds=9)
    assert engine.roles == ["retrieval.answer", "retrieval.seek"] * 2
    assert len(trace.rounds) == 2
    assert (trace.answer.option_index, trace.degraded) == (1, ())


def test_windows_outside_of_the_video_are_none_and_it_is_said() -> None:
    scripts: dict[str, Script] = {"retrieval.answer": guess_reply("B", 1), "retrieval.seek": seeks((900, 950))}
    trace, _ = run_method("retrieval", scripts)
    assert len(trace.rounds) == 1
    assert "retrieval.seek: none of the windows [(900.0, 950.0)] lies in the video" in trace.warnings


def test_frames_are_looked_at_by_a_vision_model_at_most_five_a_call(clip: Path) -> None:
    scripts: dict[str, Script] = {
        "retrieval.answer": [guess_reply("A", 1), guess_reply("B", 3)],
        "retrieval.seek": seeks((2, 8), (10, 12), (15, 15)),
    }
    trace, engine = run_method("retrieval", scripts, video=clip)
    looks = engine.of("look")
    assert len(looks) == 3
    assert all(1 <= seen.images <= 5 for seen in looks)
    assert all(seen.inputs["clue"] == "the hands" for seen in looks)
    assert all(not seen.images for seen in engine.requests if seen.role not in ("look", "captioner"))
    assert [e.source for e in trace.evidence] == [Source.CAPTIONS, *[Source.FRAMES] * 3]
    assert [u.role for u in trace.usage if u.images] == ["captioner", "retrieval.look"]
    seen = engine.of("retrieval.answer")[1].inputs["seen"]
    assert all(f"the scene at {o.time:g}" in seen for e in trace.evidence for o in e.observations)


def test_without_a_vision_model_things_are_detected(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tags:
        def observe(self, frames: Any) -> tuple[Observation, ...]:
            return tuple(Observation(time=f.time, text="1 dog") for f in frames)

    monkeypatch.setattr(observe, "TagCaptioner", Tags)
    captions = [f"moment {i}" for i in range(20)]
    trace, engine = run_method(
        "retrieval", unsure(1, 3), video=clip, captions=captions, engine={"supports_images": False}
    )
    assert trace.evidence[-1].source is Source.TAGS
    assert "1 dog" in engine.of("retrieval.answer")[1].inputs["seen"]


def test_a_look_that_fails_falls_back_on_captions_openly(clip: Path) -> None:
    captions = [f"moment {i}" for i in range(20)]
    trace, _ = run_method("retrieval", {**unsure(1, 3), "look": "garbage"}, video=clip, captions=captions)
    assert trace.evidence[-1].source is Source.CAPTIONS
    assert [d.step for d in trace.degraded] == ["retrieval.look"]


def test_captions_only_are_evidence_and_it_is_said() -> None:
    trace, _ = run_method("retrieval", unsure(1, 3))
    assert {e.source for e in trace.evidence} == {Source.CAPTIONS}
    assert any("no frames" in warning for warning in trace.warnings)


def test_a_later_answer_that_fails_leaves_the_one_before_openly() -> None:
    scripts = {**unsure(1), "retrieval.answer": [guess_reply("B", 1), "garbage"]}
    trace, _ = run_method("retrieval", scripts)
    assert (trace.outcome, trace.answer.option_index) == (Outcome.ANSWERED, 1)
    assert [d.step for d in trace.degraded] == ["retrieval.answer"]


@pytest.mark.parametrize("reply", ["garbage", seeks((1, 2), missing=" ")], ids=["unreadable", "empty"])
def test_seeking_that_fails_leaves_the_answer_before_openly(reply: Any) -> None:
    trace, engine = run_method("retrieval", {"retrieval.answer": guess_reply("B", 2), "retrieval.seek": reply})
    assert (trace.outcome, trace.answer.option_index) == (Outcome.ANSWERED, 1)
    assert [d.step for d in trace.degraded] == ["retrieval.seek"]
    assert engine.roles.count("retrieval.seek") == ATTEMPTS


def test_only_few_captions_are_ever_shown() -> None:
    captions = [f"caption number {i:04d}" for i in range(2000)]
    _, engine = run_method(
        "retrieval", {**unsure(1), "retrieval.seek": seeks((0, 900), (900, 1800))}, captions=captions
    )
    last = engine.of("retrieval.answer")[-1].inputs["seen"]
    assert last.count("caption number") <= 5 + 2 * 20
    assert all("captions" not in seen.inputs for seen in engine.requests)


@pytest.mark.parametrize(
    ("written", "read"),
    [(1, 1), (3, 3), (2.0, 2), ("3", 3), ("2/3", 2), (" 1 ", 1)]
    + [(written, 0) for written in (0, 4, -1, 2.5, True, None, "high", "", [], float("nan"), "²")],
)
def test_certainty_is_read_however_it_is_written(written: object, read: int) -> None:
    assert read_certainty(written) == read


def test_a_certainty_that_cannot_be_read_is_unknown_and_not_sure() -> None:
    trace, engine = run_method("retrieval", unsure("quite", 3))
    assert engine.roles.count("retrieval.answer") == 2, "no reply was thrown away for it"
    assert trace.rounds[1].drafts[0].critique.startswith("A so far, certainty unknown")
    trace, _ = run_method("retrieval", unsure("quite"), rounds=1)
    assert trace.answer.confidence is None


def test_moments_come_in_the_order_of_time_each_once() -> None:
    def seen(*moments: tuple[float, str]) -> Evidence:
        observations = tuple(Observation(time=t, text=x) for t, x in moments)
        return Evidence(window=Window(start=0, end=9), times=(), observations=observations, source=Source.CAPTIONS)

    assert moments_text([seen((4, "b"), (6, "c")), seen((1.5, "a"), (4, "b"))]) == "[1.5s] a\n[4s] b\n[6s] c"
