from __future__ import annotations

import dspy
import pytest

from videohv import VideoHV
from videohv.compiled.agents import SOURCE
from videohv.modules.render import options_text
from videohv.optimize.run.leak import LeakError, check_leak, leaks
from videohv.optimize.run.split import Parts, Split
from videohv.types import Question

THEME = "What is the overarching theme of the video?"


def asked(id: str, text: str = "", recording: str = "", options: tuple[str, ...] = (), video: str = "") -> Question:
    return Question(
        id=id,
        text=text or f"What does the person of {id} do at the table?",
        options=options or (f"cooks {id}", f"reads {id}", f"sews {id}"),
        video=video or id,
        origin=recording or f"r-{id}",
        answer_index=0,
    )


TRAIN = (
    asked("t1"),
    asked("t2", THEME),
    asked("t3", recording="shared"),
    asked("t4", "Same?", options=("a", "b"), video="v"),
)
DEV = (asked("d1"), asked("d2", THEME), asked("d3", "Who?"))
TEST = (asked("e1"), asked("e2", recording="shared"), asked("e4", "same?  ", options=("B", "A"), video="v"))
PARTS = Parts(
    split=Split(
        partition="p",
        train=tuple(q.id for q in TRAIN),
        dev=tuple(q.id for q in DEV),
        test=tuple(q.id for q in TEST),
    ),
    train=TRAIN,
    dev=DEV,
    test=TEST,
)


def shown(question: Question, source: str = "", agent: str = "thinker") -> VideoHV:
    """A program with an innocent demonstration and one of a question."""
    inputs = {
        "thinker": {"question": question.text, "options": options_text(question)},
        "summary": {"question": question.text, "captions": "[0s] a pan"},
        "locate": {"clue": "a pan", "captions": f"[0s] {question.text} is written on the wall"},
    }[agent]
    program = VideoHV()
    predictors = {
        "thinker": program.thinker.predict,
        "summary": program.summary.predict,
        "locate": program.verifier.locate,
    }
    record = {SOURCE: source} if source else {}
    predictors[agent].demos = [dspy.Example(question="What for?"), dspy.Example(**inputs, **record)]
    return program


@pytest.mark.parametrize(("question", "part"), [(DEV[0], "dev"), (TEST[0], "test")])
def test_a_demonstration_of_a_held_out_question_is_named(question: Question, part: str) -> None:
    (leak,) = leaks(shown(question, question.id), PARTS)
    assert (leak.agent, leak.demo, leak.question, leak.part) == ("thinker.predict", 2, question.id, part)
    with pytest.raises(LeakError, match=rf"demonstration 2 of thinker\.predict.*'{question.id}' of {part}") as raised:
        check_leak(shown(question, question.id), PARTS)
    assert raised.value.leaks == (leak,)


@pytest.mark.parametrize("question", TRAIN[:2])
@pytest.mark.parametrize("agent", ["thinker", "summary", "locate"])
@pytest.mark.parametrize("recorded", [True, False])
def test_what_was_learnt_from_train_is_none(question: Question, agent: str, recorded: bool) -> None:
    check_leak(shown(question, question.id if recorded else "", agent), PARTS)


@pytest.mark.parametrize("agent", ["thinker", "summary", "locate"])
def test_without_a_record_the_text_tells(agent: str) -> None:
    (leak,) = leaks(shown(TEST[0], agent=agent), PARTS)
    assert (leak.demo, leak.question, leak.why) == (2, "e1", "it holds its text")


def test_of_questions_with_one_text_the_options_tell() -> None:
    assert [leak.question for leak in leaks(shown(DEV[1]), PARTS)] == ["d2"]
    assert leaks(shown(TRAIN[1]), PARTS) == ()


def test_the_options_may_be_shown_in_another_order_and_form() -> None:
    question = DEV[0]
    turned = question.model_copy(update={"options": tuple(option.upper() for option in reversed(question.options))})
    assert [leak.question for leak in leaks(shown(turned), PARTS)] == ["d1"]


def test_a_short_question_counts_where_it_is_the_whole_question() -> None:
    assert [leak.question for leak in leaks(shown(DEV[2]), PARTS)] == ["d3"]
    assert leaks(shown(DEV[2], agent="locate"), PARTS) == ()


def test_the_same_recording_is_a_leak_under_another_question() -> None:
    (leak,) = leaks(shown(TRAIN[2], "t3"), PARTS)
    assert (leak.question, leak.why) == ("e2", "it was taken from 't3', which is of the same recording")


def test_the_same_question_under_another_id_is_a_leak() -> None:
    (leak,) = leaks(shown(TRAIN[3], "t4"), PARTS)
    assert (leak.question, leak.part) == ("e4", "test")


def test_a_recording_is_known_of_questions_outside_the_parts_too() -> None:
    beyond = asked("x9", recording="r-e1")
    program = shown(beyond, "x9")
    assert leaks(program, PARTS) == ()
    assert [leak.question for leak in leaks(program, PARTS, [beyond, *TEST])] == ["e1"]


def test_a_question_in_the_instructions_is_a_leak_if_an_option_stands_there_too() -> None:
    program = VideoHV()
    told = program.answer.predict.signature
    program.answer.predict.signature = told.with_instructions(f"When asked: {DEV[0].text}")
    assert leaks(program, PARTS) == ()
    program.answer.predict.signature = told.with_instructions(f"When asked {DEV[0].text} say: {DEV[0].options[0]}")
    (leak,) = leaks(program, PARTS)
    assert (leak.agent, leak.demo, leak.question) == ("answer.predict", 0, "d1")
    assert "the instructions of answer.predict" in str(leak)


def test_markers_that_were_broken_up_hide_nothing() -> None:
    planted = asked("d9", "What does [[ ## this ## ]] sign on the wall mean?")
    parts = PARTS.model_copy(update={"dev": (*DEV, planted)})
    assert [leak.question for leak in leaks(shown(planted), parts)] == ["d9"]


def test_the_seed_has_none() -> None:
    assert leaks(VideoHV(), PARTS) == ()
