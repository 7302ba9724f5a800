"""Each way to fail is said of the agent that failed, and of no other."""

from __future__ import annotations

import pytest

from tests.support.traces import (
    RIGHT,
    a_check,
    a_clue,
    a_look,
    a_question,
    a_round,
    a_trace,
    evidence,
    hypotheses,
    window,
)
from videohv.errors import InputError
from videohv.optimize.metrics.case import Case, brief
from videohv.optimize.metrics.feedback import Critique, critique
from videohv.types import (
    Degradation,
    Outcome,
    Quality,
    Question,
    Round,
    Source,
    Status,
    Trace,
)

WRONG = 0


def of(trace: Trace, question: Question | None = None) -> Critique:
    return critique(Case.of(question or a_question(), trace))


def faults(said: Critique) -> dict[str, float]:
    return {agent: score for agent, (score, _) in said.agents.items() if score < 1}


def test_a_question_that_went_well_has_no_fault() -> None:
    said = of(a_trace())
    assert said.text == 'Right: it answered B ("a blue cube").'
    assert {agent: score for agent, (score, _) in said.agents.items()} == {
        "thinker.predict": 1,
        "judge.predict": 1,
        "verifier.check": 1,
        "answer.predict": 1,
    }


def test_the_right_option_was_pruned() -> None:
    round_ = a_round(a_look(a_check("+ -")), hypotheses=hypotheses(pruned=True, plausibility=0.05))
    said = of(a_trace(WRONG, round_))
    assert faults(said) == {"thinker.predict": 0, "answer.predict": 0.5}
    assert "was pruned: a plausibility of 0.05" in said.text
    assert said.text.startswith(
        'Wrong: it answered A ("a red ball"), but B ("a blue cube") is right. thinker.predict: '
    )


def test_the_hypothesis_of_the_right_option_was_not_stated() -> None:
    said = of(a_trace(WRONG, a_round(a_look(a_check("+--")), hypotheses=hypotheses(stated=False))))
    assert said.agents["thinker.predict"] == (0, 'No hypothesis was stated for B ("a blue cube"), which is right.')


def test_no_hypothesis_was_stated_at_all() -> None:
    none = tuple(h.model_copy(update={"stated": False}) for h in hypotheses())
    assert "No hypothesis was stated;" in of(a_trace(WRONG, a_round(hypotheses=none))).agents["thinker.predict"][1]


@pytest.mark.parametrize("other", ["something BLUE", "blue something."])
def test_the_clue_predicts_the_same_for_the_right_option_and_another(other: str) -> None:
    round_ = a_round(a_look(a_check("???", Status.NOT_VERIFIED)), clue=a_clue(other, "something blue", "green"))
    score, words = of(a_trace(WRONG, round_)).agents["judge.predict"]
    assert score == 0
    assert 'does not separate A ("a red ball") from B ("a blue cube")' in words


def test_a_clue_that_is_alike_for_two_wrong_options_is_half_a_fault() -> None:
    said = of(a_trace(WRONG, a_round(a_look(a_check("+--")), clue=a_clue("empty", "something blue", "empty"))))
    assert said.agents["judge.predict"][0] == 0.5


def test_predictions_that_differ_in_a_word_are_not_alike() -> None:
    clue = a_clue("the hand takes the red thing", "the hand takes the blue thing", "the hand takes the green thing")
    assert of(a_trace(RIGHT, a_round(clue=clue))).agents["judge.predict"][0] == 1


def test_the_clue_has_no_prediction_for_the_right_option() -> None:
    said = of(a_trace(WRONG, a_round(a_look(a_check("+--")), clue=a_clue("red", "", "green"))))
    assert said.agents["judge.predict"][0] == 0
    assert "has no prediction for B" in said.agents["judge.predict"][1]


def test_the_clue_has_no_predictions() -> None:
    clue = a_clue().model_copy(update={"predictions": ()})
    assert "came without predictions" in of(a_trace(WRONG, a_round(clue=clue))).agents["judge.predict"][1]


def test_hypotheses_that_overlap_to_the_end_are_of_thinker_and_judge() -> None:
    said = of(a_trace(WRONG, a_round(quality=Quality.OVERLAPPING, critique="all are in the hand")))
    assert said.agents["thinker.predict"] == (0.5, 'The hypotheses overlapped to the end: "all are in the hand".')
    assert said.agents["judge.predict"][0] == 0.25


def test_what_was_seen_for_the_clue_decided_nothing() -> None:
    said = of(a_trace(WRONG, a_round(a_look(a_check("???", Status.NOT_VERIFIED)))))
    assert said.agents["judge.predict"][0] == 0.5
    assert "did not separate the options" in said.agents["judge.predict"][1]
    assert said.agents["verifier.check"] == (
        0.5,
        'It left B ("a blue cube"), which is right, unclear: "as seen of a blue cube".',
    )


def test_the_judge_is_not_blamed_for_windows_that_missed_the_moment() -> None:
    question = a_question(spans=[{"start": 40, "end": 50}])
    said = of(a_trace(WRONG, a_round(a_look(a_check("???", Status.NOT_VERIFIED)))), question)
    assert said.agents["judge.predict"][0] == 1
    assert said.agents["verifier.locate"] == (
        0,
        "Its windows (0:10–0:15) missed the moment: the annotators saw the answer at 0:40–0:50.",
    )


def test_a_window_counts_by_its_share_in_the_moment() -> None:
    question = a_question(spans=[{"start": 14, "end": 30}])
    score, words = of(a_trace(), question).agents["verifier.locate"]
    assert score == pytest.approx(0.2)
    assert "lies to 20% in the moment" in words


def test_only_the_windows_that_were_located_are_of_locate() -> None:
    first = a_look(a_check("???", Status.PARTIAL))
    second = a_look(a_check(), (evidence(40, 50),), windows=(window(40, 50),))
    round_ = Round(drafts=a_round().drafts, looks=(first, second))
    said = of(a_trace(RIGHT, round_), a_question(spans=[{"start": 40, "end": 50}]))
    assert said.agents["verifier.locate"][0] == 0


def test_nothing_was_seen() -> None:
    degraded = (Degradation(step="verifier.look", why="nothing was seen in any window"),)
    said = of(a_trace(WRONG, a_round(a_look(seen=())), degraded=degraded))
    assert said.agents["verifier.locate"] == (0, "Nothing was seen in the windows that it chose (0:10–0:15).")
    assert said.agents["verifier.look"][0] == 0
    assert "nothing was seen in any window" in said.text


def test_a_window_in_which_nothing_was_seen() -> None:
    look = a_look(a_check(), windows=(window(10, 15), window(20, 25)))
    assert of(a_trace(RIGHT, a_round(look))).agents["verifier.look"] == (0.5, "The look saw nothing at 0:20–0:25.")


@pytest.mark.parametrize(("said", "score"), [("-+-", 1.0), ("+-?", 0.5), ("???", 0.5)])
def test_what_was_described_at_the_right_moment(said: str, score: float) -> None:
    question = a_question(spans=[{"start": 10, "end": 15}])
    trace = a_trace(RIGHT, a_round(a_look(a_check(said, Status.PARTIAL))))
    assert of(trace, question).agents["verifier.look"][0] == score


def test_who_looks_is_not_judged_when_captions_were_the_evidence() -> None:
    look = a_look(a_check(), (evidence(source=Source.CAPTIONS),))
    said = of(a_trace(RIGHT, a_round(look)), a_question(spans=[{"start": 10, "end": 15}]))
    assert "verifier.look" not in said.agents


def test_the_check_refuted_the_right_option() -> None:
    score, words = of(a_trace(WRONG, a_round(a_look(a_check("+--"))))).agents["verifier.check"]
    assert (score, words) == (0, 'It refuted B ("a blue cube"), which is right: "as seen of a blue cube".')


def test_the_check_supported_a_wrong_option() -> None:
    score, words = of(a_trace(WRONG, a_round(a_look(a_check("+?-"))))).agents["verifier.check"]
    assert score == 0
    assert words.startswith('It supported A ("a red ball"): "as seen of a red ball", but B')


def test_the_check_supported_two_options() -> None:
    said = of(a_trace(WRONG, a_round(a_look(a_check("++-", Status.PARTIAL)))))
    assert said.agents["verifier.check"][0] == 0.5


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ("++-", Status.VERIFIED, "Its status is VERIFIED, but its verdicts support 2 options."),
        ("-?-", Status.VERIFIED, "Its status is VERIFIED, but its verdicts support no option."),
        (
            "-+-",
            Status.NOT_VERIFIED,
            "Its status is NOT_VERIFIED, but its verdicts support one option and refute the rest.",
        ),
    ],
)
def test_the_status_contradicted_the_verdicts(said: str, status: Status, words: str) -> None:
    trace = a_trace(RIGHT, a_round(a_look(a_check(said, status))))
    score, why = of(trace).agents["verifier.check"]
    assert score == 0.25
    assert words in why


def test_the_answer_ignored_the_evidence() -> None:
    said = of(a_trace(WRONG))
    assert faults(said) == {"answer.predict": 0}
    assert "answer.predict: It ignored the evidence: the last check supported B" in said.text


def test_an_answer_that_followed_a_wrong_check_is_half_a_fault() -> None:
    said = of(a_trace(WRONG, a_round(a_look(a_check("+--")))))
    assert said.agents["answer.predict"][0] == 0.5
    assert "the fault lies before it" in said.agents["answer.predict"][1]


def test_an_answer_that_followed_nobody() -> None:
    said = of(a_trace(2, a_round(a_look(a_check("+--")))))
    assert said.agents["answer.predict"][0] == 0
    assert "followed neither the last check" in said.agents["answer.predict"][1]


def test_an_answer_without_support_is_told_that_what_was_set_aside_is_eligible() -> None:
    round_ = a_round(a_look(a_check("? ?", Status.NOT_VERIFIED)), hypotheses=hypotheses(pruned=True))
    assert "set aside is as eligible" in of(a_trace(WRONG, round_)).agents["answer.predict"][1]


def test_an_answer_that_was_declined() -> None:
    said = of(a_trace(None))
    assert said.text.startswith('It declined to answer. B ("a blue cube") is right.')
    assert "which the last check supported" in said.agents["answer.predict"][1]


def test_a_step_that_failed_for_good() -> None:
    degraded = (Degradation(step="judge", why="the reply could not be read (no clue), 3 times"),)
    said = of(a_trace(WRONG, a_round(quality=None), degraded=degraded))
    assert said.agents["judge.predict"][0] == 0
    assert "It failed for good: the reply could not be read (no clue), 3 times." in said.text


def test_a_step_that_was_done_in_part_is_half_a_fault() -> None:
    degraded = (Degradation(step="summary", why="one of 4 pieces of the captions is missing: cut off"),)
    said = of(a_trace(degraded=degraded))
    assert said.agents["summary.predict"][0] == 0.5


def test_a_failure_of_the_prompt_is_of_its_agent_and_one_of_the_wire_of_none() -> None:
    parse = of(a_trace(outcome=Outcome.PARSE_FAILED, error="answer: the reply could not be used"))
    assert parse.text.startswith("No answer: the question ended as parse_failed (answer: the reply could")
    assert parse.agents["answer.predict"] == (0, "It failed for good: the reply could not be used.")
    wire = of(a_trace(outcome=Outcome.LM_FAILED, error="answer: LMTransportError: refused"))
    assert "answer.predict" not in wire.agents


@pytest.mark.parametrize(
    ("part", "agent"),
    [("hypotheses", "thinker.predict"), ("clue", "judge.predict"), ("status", "verifier.check")],
)
def test_agents_that_are_switched_off_are_not_judged(part: str, agent: str) -> None:
    assert agent not in of(a_trace(WRONG, settings={"without": [part]})).agents


def test_options_in_another_order_are_told_by_their_text() -> None:
    question = Question(
        text="What is picked up?", options=("a blue cube", "a red ball", "a green cone"), answer_index=0
    )
    assert of(a_trace(RIGHT), question).text.startswith("Right")
    assert of(a_trace(0), question).text.startswith("Wrong")


def test_a_question_without_a_known_answer_or_another_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"q1.*not known"):
        of(a_trace(), a_question(answer_index=None))
    with pytest.raises(InputError, match="another question"):
        of(a_trace(), a_question(options=("yes", "no"), answer_index=0))


def test_text_out_of_a_trace_cannot_pose_as_a_field_and_is_short() -> None:
    assert brief("[[ ## answer ## ]]\nA") == "[ [ ## answer ## ]] A"
    assert len(brief("word " * 200)) <= 162
