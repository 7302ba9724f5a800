"""Questions without options: what is proposed, by whom, and what becomes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import ContextLengthError
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import FakeEngine, answer_reply, default_reply, fake_lm, seen_in
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv import Trace, VideoHV, answer, listening, samples
from videohv.compiled import program_hash
from videohv.errors import InputError
from videohv.lm import make_lm
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


def test_the_programs_own_model_proposes_where_there_is_no_general_one() -> None:
    for method in ("videohv", "captions", "retrieval"):
        own, engine = fake_lm({"options": PROPOSED})
        program = make_method(method)
        program.set_lm(own)
        assert program(question="What is held?", captions=CAPTIONS).trace.question.proposed
        assert engine.roles.count("options") == 1


@pytest.mark.parametrize("method", ["captions", "retrieval"])
def test_rivals_answer_open_questions_too(method: str) -> None:
    trace, engine = ask(method=method)
    assert trace.question.proposed
    assert trace.outcome is Outcome.ANSWERED
    assert "moment 29" in engine.of("options")[0].inputs["captions"]


def test_captions_that_do_not_fit_after_all_are_summarised_first() -> None:
    lm, engine = fake_lm({"options": [ContextLengthError("too long"), PROPOSED]})
    with using(lm):
        trace = make_method("captions")(question="What is held?", captions=CAPTIONS).trace
    assert trace.question.options == ("a ball", "a cube", "a cone")
    assert "someone does something" in engine.of("options")[1].inputs["captions"]
    assert "options are proposed from the summary" in trace.warnings[0]


def test_a_proposed_question_that_is_asked_again_keeps_its_options_and_may_be_declined() -> None:
    trace, _ = ask(rounds=1)
    lm, engine = fake_lm({"answer": lambda seen: answer_reply("ABSTAIN")})
    with using(lm):
        again = VideoHV(rounds=1)(question=trace.question, captions=CAPTIONS).trace
    assert again.question == trace.question
    assert again.outcome is Outcome.ABSTAINED
    assert "options" not in engine.roles


def test_a_method_without_captions_says_that_it_cannot() -> None:
    lm, _ = fake_lm()
    with using(lm), pytest.raises(InputError, match="works on no captions, from which options"):
        make_method("direct")(question="What is held?", video="x.mp4")


def test_no_usable_proposal_is_a_failure_and_no_guess() -> None:
    trace, engine = ask({"options": {"options": ["the same", "The same ", ""]}})
    assert (trace.outcome, trace.answer) == (Outcome.PARSE_FAILED, None)
    assert "1 different options were proposed" in trace.error
    assert "thinker" not in engine.roles


@pytest.mark.parametrize(
    ("said", "options"),
    [
        (["A. a ball", "B. a cube"], ("a ball", "a cube")),
        (["(a) a ball", "(b) a cube"], ("a ball", "a cube")),
        (["1. a ball", "2. a cube", "3) a cone"], ("a ball", "a cube", "a cone")),
        (["A. a ball", "a cube"], ("A. a ball", "a cube")),
        (["B. a ball", "A. a cube"], ("B. a ball", "A. a cube")),
        (["a ball", "A ball.", "a  ball ", "a cube"], ("a ball", "a cube")),
        (["x" * LONGEST + "1", "x" * LONGEST + "2", "a cube"], ("x" * LONGEST, "a cube")),
        ([str(n) for n in range(1_000)], ("0", "1", "2", "3", "4")),
    ],
)
def test_proposals_are_cleaned(said: list[str], options: tuple[str, ...]) -> None:
    assert ask({"options": {"options": said}}, method="captions")[0].question.options == options


def test_a_proposal_that_cannot_be_used_is_asked_for_again() -> None:
    trace, engine = ask({"options": [{"options": ["one"]}, PROPOSED]}, method="captions")
    assert trace.outcome is Outcome.ANSWERED
    assert "1 different options were proposed" in engine.of("options")[1].after[-1]


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


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=40),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=8,
)


@given(st.text(max_size=200) | anything.map(json.dumps) | anything.map(lambda it: json.dumps({"options": it})))
def test_whatever_comes_back_the_question_ends_typed_and_is_no_guess(reply: str) -> None:
    lm, _ = fake_lm({"options": reply})
    with using(lm), dspy.context(disable_history=True):
        trace = make_method("captions")(question="What?", captions=CAPTIONS).trace
    assert (trace.outcome is Outcome.ANSWERED) == (len(trace.question.options) >= 2)
    # An empty reply is one of the model's failures, as for every other step.
    assert (trace.answer is None) == (trace.outcome in (Outcome.PARSE_FAILED, Outcome.LM_FAILED))
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


def test_a_question_with_options_is_written_as_it_was_before_there_were_others() -> None:
    given_ones = Question(text="What?", options=("a", "b"))
    assert "proposed" not in given_ones.model_dump()
    assert "proposed" not in json.loads(given_ones.model_dump_json())
    assert Question.model_validate_json(given_ones.model_dump_json()) == given_ones
    made_up = Question(text="What?", options=("a", "b"), proposed=True)
    assert Question.model_validate_json(made_up.model_dump_json()) == made_up != given_ones


def over_http(request: Request, at_options: Fault | None = None) -> str | Fault:
    system = str(request.body["messages"][0]["content"])
    what = seen_in(request.prompt, request.images, None, request.schema is not None, system)
    return at_options if what.role == "options" and at_options else json.dumps(default_reply(what))


def test_over_http_the_schema_is_sent_and_the_call_is_counted() -> None:
    with FakeServer(over_http) as server, using(make_lm(server.spec(timeout=2)).copy(cache=False)):
        trace = VideoHV(rounds=1)(question="What is held?", captions=CAPTIONS).trace
    (asked,) = [request for request in server.requests if request.outputs == {"options"}]
    assert asked.schema is not None
    assert asked.schema["properties"]["options"]["type"] == "array"
    assert (trace.outcome, trace.question.options) == (Outcome.ANSWERED, ("a ball", "a cube"))
    assert trace.calls == len(server.requests)
    assert next(use for use in trace.usage if use.role == "options").calls == 1


@pytest.mark.parametrize("kind", [k for k in Failure if k is not Failure.HANG])
def test_over_http_a_proposal_that_fails_ends_the_question_typed(kind: Failure) -> None:
    with (
        FakeServer(lambda request: over_http(request, Fault(kind))) as server,
        using(make_lm(server.spec(timeout=2)).copy(cache=False)),
    ):
        trace = VideoHV(rounds=1)(question="What is held?", captions=CAPTIONS).trace
    assert trace.outcome in (Outcome.LM_FAILED, Outcome.PARSE_FAILED, Outcome.CONTENT_FILTERED)
    assert trace.error.startswith("options: ")
    assert (trace.answer, trace.rounds, trace.question.options) == (None, (), ())
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


@pytest.mark.local_model
@pytest.mark.slow
def test_the_embedded_model_proposes_for_the_sample_clip(user_cache: None, tmp_path: Path) -> None:
    lm = make_lm("embedded/qwen2.5-coder-0.5b").copy(cache=False)
    with using(lm):
        program = make_method("captions", store=tmp_path / "captions.sqlite3", captioner="tags", fps=0.2)
        trace = program(question="What is the animal doing?", video=samples.CLIP).trace
    assert trace.question.proposed
    assert trace.outcome in (Outcome.ANSWERED, Outcome.ABSTAINED, Outcome.PARSE_FAILED)
    assert len(trace.question.options) in ((0, 2, 3, 4, 5) if trace.answer is None else (2, 3, 4, 5))
    assert "options" in {use.role for use in trace.usage}
