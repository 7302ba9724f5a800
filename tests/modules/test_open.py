"""Questions without options: what is proposed, by whom, and what becomes of it."""

from __future__ import annotations

from typing import Any

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import FakeEngine, answer_reply, default_reply, fake_lm
from videohv import Trace, VideoHV, answer, listening
from videohv.compiled import program_hash
from videohv.errors import InputError
from videohv.lm.roles import using
from videohv.modules.methods import make_method
from videohv.modules.proposer import LONGEST, MOST
from videohv.modules.recorder import Event, EventKind
from videohv.types import Outcome, Question

CAPTIONS = [f"moment {i}" for i in range(30)]
PROPOSED = {"options": ["a ball", "a cube", "A  ball", "", "a cone"]}


def ask(scripts: dict[str, Any] | None = None, method: str = "videohv", **given: Any) -> tuple[Trace, FakeEngine]:
    lm, engine = fake_lm({"options": PROPOSED, **(scripts or {})})
    with using(lm):
        made = make_method(method, **given)(question="What is held?", captions=CAPTIONS)
    assert isinstance(made.trace, Trace)
    return made.trace, engine


def test_options_are_proposed_from_the_summary_and_then_verified() -> None:
    trace, engine = ask(rounds=1)
    assert trace.question.options == ("a ball", "a cube", "a cone")
    assert trace.question.proposed
    assert (trace.outcome, trace.answer is not None and trace.answer.option_index) == (Outcome.ANSWERED, 0)
    assert trace.evidence
    assert engine.roles.index("options") < engine.roles.index("thinker")
    # The summary that they are from is the one that the program goes on with.
    assert engine.roles.count("summary") == len(trace.summary)
    assert "someone does something" in engine.of("options")[0].inputs["captions"]
    assert "options" in {use.role for use in trace.usage}
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


def test_listeners_see_them() -> None:
    heard: list[Event] = []
    lm, _ = fake_lm({"options": PROPOSED})
    with using(lm), listening(heard.append):
        VideoHV(rounds=1)(question="What is held?", captions=CAPTIONS)
    (event,) = [event for event in heard if event.kind is EventKind.OPTIONS]
    assert isinstance(event.value, Question)
    assert event.value.options == ("a ball", "a cube", "a cone")


def test_it_may_always_be_declined() -> None:
    trace, engine = ask({"answer": lambda seen: answer_reply("ABSTAIN")}, rounds=1)
    assert trace.outcome is Outcome.ABSTAINED
    assert trace.settings["may_abstain"] is True
    assert engine.of("answer")[0].inputs["may_abstain"] == "True"


def test_the_program_itself_is_not_changed() -> None:
    program = VideoHV(rounds=1)
    before = program_hash(program), [name for name, _ in program.named_predictors()]
    lm, engine = fake_lm({"options": PROPOSED})
    with using(lm):
        program(question="What is held?", captions=CAPTIONS)
        program(question="What is held?", options=["x", "y"], captions=CAPTIONS)
    assert (program_hash(program), [name for name, _ in program.named_predictors()]) == before
    assert not program.settings.may_abstain
    assert engine.of("answer")[1].inputs["may_abstain"] == "False"
    assert engine.roles.count("options") == 1


def test_the_thinkers_model_proposes_unless_another_is_named() -> None:
    general, _ = fake_lm()
    thinking, thinker = fake_lm({"options": PROPOSED})
    named, proposer = fake_lm({"options": PROPOSED})
    with using(general, roles={"thinker": thinking}):
        VideoHV(rounds=1)(question="What is held?", captions=CAPTIONS)
    assert thinker.roles.count("options") == 1
    with using(general, roles={"thinker": thinking, "options": named}):
        VideoHV(rounds=1)(question="What is held?", captions=CAPTIONS)
    assert (thinker.roles.count("options"), proposer.roles) == (1, ["options"])


@pytest.mark.parametrize("method", ["captions", "retrieval"])
def test_rivals_answer_open_questions_too(method: str) -> None:
    trace, engine = ask(method=method)
    assert trace.question.proposed
    assert trace.outcome is Outcome.ANSWERED
    assert "moment 29" in engine.of("options")[0].inputs["captions"]


def test_a_method_without_captions_says_that_it_cannot() -> None:
    lm, _ = fake_lm()
    with using(lm), pytest.raises(InputError, match="works on no captions, from which options"):
        make_method("direct")(question="What is held?", video="x.mp4")


def test_no_usable_proposal_is_a_failure_and_no_guess() -> None:
    trace, engine = ask({"options": {"options": ["the same", "The same ", ""]}})
    assert (trace.outcome, trace.answer) == (Outcome.PARSE_FAILED, None)
    assert "1 different options were proposed" in trace.error
    assert "thinker" not in engine.roles


def test_the_short_way_to_ask() -> None:
    lm, _ = fake_lm({"options": PROPOSED})
    with using(lm):
        assert answer(None, "What is held?", captions=CAPTIONS, rounds=1).answer == "a ball"


def test_a_question_of_a_benchmark_must_have_options() -> None:
    with pytest.raises(ValueError, match="0 options"):
        Question(text="What?", options=())
    with pytest.raises(InputError, match="0 options"):
        VideoHV()(question="What?", options=[], captions=CAPTIONS)


@given(st.lists(st.text(st.characters(codec=None), max_size=400), max_size=9))
def test_whatever_is_proposed_is_usable_or_refused(texts: list[str]) -> None:
    lm, _ = fake_lm({"options": {"options": texts}, "answer": lambda seen: default_reply(seen)})
    with using(lm), dspy.context(disable_history=True):
        trace = make_method("captions")(question="What?", captions=CAPTIONS).trace
    if trace.question.options:
        assert 2 <= len(trace.question.options) <= MOST
        assert len({option.casefold() for option in trace.question.options}) == len(trace.question.options)
        assert all(option and len(option) <= LONGEST for option in trace.question.options)
    else:
        assert trace.outcome is Outcome.PARSE_FAILED
