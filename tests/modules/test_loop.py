"""Every branch of the loop, driven by an engine that is scripted per role."""

from __future__ import annotations

from typing import Any

import dspy
import pytest

from tests.support.engine import FakeEngine, Script, Seen, answer_reply, check_reply, fake_lm, letters
from videohv import VideoHV
from videohv.types import Caption, Mode, Outcome, Quality, Source, Status, Trace

OPTIONS = ["a red ball", "a blue cube", "a green cone"]
CAPTIONS = [f"someone holds thing {i // 4}" for i in range(40)]


def run(
    scripts: dict[str, Script] | None = None,
    *,
    captions: list[str] | None = None,
    options: list[str] | None = None,
    video: Any = None,
    engine: dict[str, Any] | None = None,
    **settings: Any,
) -> tuple[dspy.Prediction, Trace, FakeEngine]:
    lm, made = fake_lm(scripts, **(engine or {}))
    with dspy.context(lm=lm):
        given = captions if captions is not None or video is not None else CAPTIONS
        prediction = VideoHV(**settings)(
            question="What is picked up?", options=options or OPTIONS, captions=given, video=video
        )
    return prediction, prediction.trace, made


def test_verified_at_once_takes_one_round_and_one_look() -> None:
    prediction, trace, engine = run()
    assert engine.roles == ["summary", "thinker", "judge", "locate", "check", "answer"]
    assert (prediction.outcome, prediction.answer_index, prediction.answer) == (Outcome.ANSWERED, 0, "a red ball")
    assert prediction.status is Status.VERIFIED
    assert prediction.confidence == 0.8
    assert (len(trace.rounds), len(trace.rounds[0].looks)) == (1, 1)
    assert trace.calls == 6
    assert not trace.degraded


def test_partial_looks_again_where_the_check_wants_to_and_then_verifies() -> None:
    _, trace, engine = run({"check": [check_reply("PARTIAL", [(20, 25)]), check_reply("VERIFIED")]})
    assert [(w.start, w.end) for look in trace.rounds[0].looks for w in look.windows] == [(1, 4), (20, 25)]
    assert trace.status is Status.VERIFIED
    assert engine.roles.count("locate") == 1
    second = engine.of("check")[1].inputs["evidence"]
    assert "1-4s" in second, "evidence of the first look is kept"
    assert "20-25s" in second


def test_partial_without_a_new_window_stops_looking() -> None:
    _, trace, engine = run({"check": [check_reply("PARTIAL", [(1, 4)])]})
    assert len(trace.rounds[0].looks) == 1, "the wanted window was looked at already"
    assert trace.status is Status.PARTIAL
    assert engine.of("answer")[0].inputs["status"] == "PARTIAL"


def test_looks_are_exhausted() -> None:
    wanted = iter([(5, 9), (12, 16), (20, 24), (30, 34)])
    _, trace, engine = run({"check": lambda seen: check_reply("PARTIAL", [next(wanted)])}, looks=3)
    assert len(trace.rounds) == 1, "PARTIAL does not start another round"
    assert len(trace.rounds[0].looks) == 3
    assert engine.roles.count("check") == 3


def test_not_verified_thinks_again_more_specifically() -> None:
    _, trace, engine = run(
        {"check": [check_reply("NOT_VERIFIED", rationale="no ball at 2 s"), check_reply("VERIFIED")]}
    )
    assert [r.drafts[-1].mode for r in trace.rounds] == [Mode.INITIAL, Mode.SPECIFICITY]
    again = engine.of("thinker")[1].inputs
    assert again["mode"] == "specificity"
    assert "no ball at 2 s" in again["feedback"]
    assert "which of them is visible" in again["feedback"], "the clue that did not decide is named"
    assert "which of them is visible" in engine.of("judge")[1].inputs["earlier_clue"]
    assert trace.status is Status.VERIFIED


def test_rounds_are_exhausted_and_the_answer_says_not_verified() -> None:
    prediction, trace, engine = run({"check": check_reply("NOT_VERIFIED")}, rounds=3)
    assert len(trace.rounds) == 3
    assert engine.of("answer")[0].inputs["status"] == "NOT_VERIFIED"
    assert prediction.outcome is Outcome.ANSWERED


def test_overlapping_hypotheses_are_made_anew_and_so_is_the_clue() -> None:
    clues = iter(["a hand", "the colour of the thing"])

    def judge(seen: Seen) -> dict[str, Any]:
        clue = next(clues)
        quality = "OVERLAPPING" if clue == "a hand" else "DISTINCT"
        return {"comparison": "all show a hand", "quality": quality, "clue": clue, "predictions": []}

    _, trace, engine = run({"judge": judge})
    first, second = trace.rounds[0].drafts
    assert (first.quality, second.quality) == (Quality.OVERLAPPING, Quality.DISTINCT)
    assert second.mode is Mode.DISCRIMINABILITY
    assert "all show a hand" in engine.of("thinker")[1].inputs["feedback"]
    assert trace.rounds[0].clue is not None
    assert trace.rounds[0].clue.observation == "the colour of the thing"
    for role in ("locate", "check", "answer"):
        assert "the colour of the thing" in engine.of(role)[0].inputs["clue"], role
        assert "a hand" not in engine.of(role)[0].inputs["clue"], role


def test_regeneration_ends_when_they_keep_overlapping() -> None:
    reply = {"comparison": "same", "quality": "OVERLAPPING", "clue": "x", "predictions": []}
    prediction, trace, engine = run({"judge": reply}, regenerations=2)
    assert engine.roles.count("thinker") == engine.roles.count("judge") == 3
    assert trace.rounds[0].drafts[-1].quality is Quality.OVERLAPPING
    assert prediction.outcome is Outcome.ANSWERED


def thinks(*plausibilities: float) -> Script:
    return {
        "hypotheses": [
            {"option": o, "statement": f"{o} holds", "plausibility": p}
            for o, p in zip("ABC", plausibilities, strict=False)
        ]
    }


def test_a_pruned_option_is_not_tested_but_can_be_answered() -> None:
    prediction, trace, engine = run({"thinker": thinks(0.9, 0.0, 0.5), "answer": answer_reply("B", "ABC")})
    assert [h.pruned for h in trace.rounds[0].hypotheses] == [False, True, False]
    assert letters(engine.of("judge")[0], "hypotheses") == ["A", "C"]
    assert letters(engine.of("check")[0], "hypotheses") == ["A", "C"]
    assert letters(engine.of("answer")[0]) == ["A", "B", "C"]
    assert "B. B holds (set aside, not tested)" in engine.of("answer")[0].inputs["reasoning_trace"]
    assert prediction.answer == "a blue cube"


@pytest.mark.parametrize("plausibilities", [(0.0, 0.0, 0.0), (0.9, 0.0, 0.0)], ids=["all pruned", "one left"])
def test_pruning_that_leaves_nothing_to_compare_is_ignored(plausibilities: tuple[float, ...]) -> None:
    prediction, trace, engine = run({"thinker": thinks(*plausibilities)})
    assert not any(h.pruned for h in trace.rounds[0].hypotheses)
    assert letters(engine.of("check")[0], "hypotheses") == ["A", "B", "C"]
    assert prediction.answer_index == 0


def test_an_option_without_a_hypothesis_gets_its_own_text() -> None:
    _, trace, _ = run({"thinker": thinks(0.9)})
    assert [h.stated for h in trace.rounds[0].hypotheses] == [True, False, False]
    assert trace.rounds[0].hypotheses[2].statement == "a green cone"


def test_a_window_out_of_range_is_left_out_and_one_that_sticks_out_is_cut() -> None:
    _, trace, _ = run({"locate": {"windows": [{"start": 900, "end": 950}, {"start": 38, "end": 99}]}})
    assert [(w.start, w.end) for w in trace.rounds[0].looks[0].windows] == [(38, 40)]


def test_windows_that_are_all_out_of_range_mean_the_whole_video_and_it_is_said() -> None:
    _, trace, _ = run({"locate": {"windows": [{"start": 900, "end": 950}]}})
    assert [(w.start, w.end) for w in trace.rounds[0].looks[0].windows] == [(0, 40)]
    assert [d.step for d in trace.degraded] == ["verifier.locate"]
    assert any("900" in warning for warning in trace.warnings)


def test_no_window_at_all_means_the_whole_video_and_it_is_said() -> None:
    _, trace, _ = run({"locate": {"windows": []}})
    assert [(w.start, w.end) for w in trace.rounds[0].looks[0].windows] == [(0, 40)]
    assert "no window was named" in trace.degraded[0].why


def test_with_captions_only_the_evidence_is_the_captions_of_the_window_and_the_trace_says_so() -> None:
    _, trace, engine = run()
    (evidence,) = trace.evidence
    assert evidence.source is Source.CAPTIONS
    assert [(o.time, o.text) for o in evidence.observations] == [
        (float(i), f"someone holds thing {i // 4}") for i in range(1, 5)
    ]
    assert any("no frames" in warning for warning in trace.warnings)
    assert not engine.of("look")


GARBAGE = "I am sorry, as a model I would rather talk about the weather."


@pytest.mark.parametrize(
    ("role", "step", "calls"),
    [
        ("summary", "summary", 8),
        ("thinker", "thinker", 8),
        ("judge", "judge", 8),
        ("locate", "verifier.locate", 8),
        ("check", "verifier.check", 8),
    ],
)
def test_a_parse_failure_degrades_the_question_openly(role: str, step: str, calls: int) -> None:
    prediction, trace, engine = run({role: GARBAGE})
    assert prediction.outcome is Outcome.ANSWERED
    assert [d.step for d in trace.degraded] == [step]
    assert "could not be read" in trace.degraded[0].why
    assert engine.roles.count(role) == 3, "told what was wrong, then asked for a fresh sample"
    assert [seen.temperature for seen in engine.of(role)] == [None, None, 1.0]
    assert len(engine.requests) == calls
    booked = {u.role: u for u in trace.usage}
    assert booked[step].calls == 3


def test_a_parse_failure_in_answer_is_a_typed_failure_and_no_guess() -> None:
    prediction, trace, engine = run({"answer": GARBAGE})
    assert prediction.outcome is Outcome.PARSE_FAILED
    assert (prediction.answer, prediction.answer_index, prediction.confidence) == (None, None, None)
    assert "answer: the reply could not be read" in prediction.error
    assert trace.rounds, "what was found before is kept"
    assert engine.roles.count("answer") == 3


def test_an_answer_that_is_no_option_is_asked_for_again() -> None:
    prediction, _, engine = run({"answer": [answer_reply("Q"), answer_reply("C")]})
    assert prediction.answer_index == 2
    assert engine.roles.count("answer") == 2


def test_nothing_to_reason_from_is_a_failure_and_answer_is_not_asked() -> None:
    prediction, _, engine = run({"summary": GARBAGE, "look": GARBAGE}, captions=[""] * 5 + ["x"])
    assert prediction.outcome is Outcome.ANSWERED, "captions of the window are something to reason from"
    prediction, _, engine = run(captions=[])
    assert prediction.outcome is Outcome.MISSING_INPUT
    assert not engine.requests


def test_an_outage_is_a_typed_failure_that_stops_at_once_when_it_is_hopeless() -> None:
    from dspy.lm15 import AuthError

    prediction, _, engine = run({"summary": AuthError("no such key")})
    assert prediction.outcome is Outcome.LM_FAILED
    assert "LMAuthError" in prediction.error
    assert engine.roles == ["summary"]


def test_a_server_error_in_one_role_degrades_and_in_answer_fails() -> None:
    from dspy.lm15 import ServerError

    prediction, trace, _ = run({"thinker": ServerError("down")})
    assert (prediction.outcome, trace.degraded[0].step) == (Outcome.ANSWERED, "thinker")
    prediction, _, _ = run({"answer": ServerError("down")})
    assert prediction.outcome is Outcome.LM_FAILED


def test_abstaining_only_when_it_is_allowed() -> None:
    prediction, _, engine = run({"answer": answer_reply("ABSTAIN")}, may_abstain=True)
    assert (prediction.outcome, prediction.answer, prediction.answer_index) == (Outcome.ABSTAINED, None, None)
    assert engine.of("answer")[0].inputs["may_abstain"] == "True"
    prediction, _, _ = run({"answer": answer_reply("ABSTAIN")})
    assert prediction.outcome is Outcome.PARSE_FAILED
    assert "abstained although it may not" in prediction.error


def test_the_context_decouples_reasoning_from_captions() -> None:
    _, _, engine = run(
        {"check": [check_reply("NOT_VERIFIED"), check_reply("PARTIAL", [(9, 12)]), check_reply("VERIFIED")]}
    )
    text = "someone holds thing 7"
    for seen in engine.requests:
        if seen.role in ("summary", "locate"):
            assert text in seen.inputs["captions"]
        else:
            assert not any(text in value for value in seen.inputs.values()), seen.role
    for role in ("thinker", "judge", "answer"):
        assert all("someone does something" in seen.inputs["summary"] for seen in engine.of(role))


def test_twenty_six_options() -> None:
    options = [f"thing {i}" for i in range(26)]
    prediction, _, _ = run({"answer": answer_reply("Z", [])}, options=options)
    assert prediction.answer == "thing 25"


def test_duplicate_options_are_flagged() -> None:
    _, trace, _ = run(options=["a cat", "A cat", "a dog"])
    assert trace.warnings[0] == "options A and B are equal: either counts as the same answer"


@pytest.mark.parametrize("said", [None, True, [], {}, ["None"], 3])
def test_what_is_no_text_is_no_answer_even_if_an_option_reads_like_it(said: object) -> None:
    options = ["None", "True", "[]", "{}", "3"]
    prediction, _, engine = run({"answer": answer_reply("A", "AB", answer=said)}, options=options)
    assert prediction.outcome is Outcome.PARSE_FAILED
    assert engine.roles.count("answer") == 3


def test_a_slip_in_what_decorates_an_answer_does_not_cost_the_answer() -> None:
    verdict = {"option": "A", "support": "Supported"}
    for confidence in ("high", None, "0,9", "85%", float("nan")):
        reply = answer_reply("B", [], confidence=confidence, verdicts=[verdict])
        prediction, trace, _ = run({"answer": reply})
        assert prediction.answer_index == 1
        assert prediction.confidence in (None, 0.9, 0.85)
        assert trace.answer.verdicts[0].support == "supported"


def test_half_a_character_from_a_model_breaks_nothing() -> None:
    reply = '{"verdicts": [], "conflicts": ["\\ud83d"], "reasoning": "ok \\ud83d", "answer": "A", "confidence": 1}'
    _, trace, _ = run({"answer": reply, "summary": {"summary": "half \ud83d"}}, options=["a\udce9", "b"])
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


def test_endless_numbers_and_lists_and_texts_are_cut() -> None:
    many = [{"time": 2.0, "seen": "x" * 9_000}] * 900
    spans = [{"start": "9" * 400 + ":00", "end": 3}, *[{"start": 90_000 + i, "end": 90_001 + i} for i in range(900)]]
    _, trace, engine = run(
        {"locate": {"windows": spans}, "summary": {"summary": "y" * 900_000}, "look": {"sights": many}}
    )
    assert trace.outcome is Outcome.ANSWERED
    assert trace.degraded[0].step == "verifier.locate"
    assert all(len(value) < 20_000 for seen in engine.requests for value in seen.inputs.values())
    assert all(len(warning) < 2_000 for warning in trace.warnings)


def test_an_option_with_a_line_of_its_own_cannot_pose_as_another_option() -> None:
    _, _, engine = run(options=["cat\nB. dog", "bird"])
    assert engine.of("thinker")[0].inputs["options"] == "A. cat B. dog\nB. bird"


def test_captions_in_milliseconds_do_not_cost_a_call_each() -> None:
    lm, engine = fake_lm()
    captions = [Caption(time=i * 1000.0, text=f"moment {i}") for i in range(180)]
    with dspy.context(lm=lm):
        VideoHV()(question="q", options=["a", "b"], captions=captions)
    assert engine.roles.count("summary") <= 18
