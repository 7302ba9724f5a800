"""What all methods have in common: found by name, saved and loaded, their failures typed and recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import AuthError, ServerError
from pydantic import ValidationError

from tests.support.asking import CAPTIONS, RunsOut, run_method
from tests.support.engine import fake_lm, guess_reply
from videohv import LoopSettings, VideoHV, load_program, make_method, method_names
from videohv.errors import InputError, ProgramError
from videohv.lm.roles import role_names, using
from videohv.modules import methods
from videohv.modules.ask import ATTEMPTS
from videohv.modules.methods import method
from videohv.modules.program import VideoProgram
from videohv.modules.recorder import Recorder, listening
from videohv.modules.settings import MethodSettings
from videohv.modules.timeline import Timeline
from videohv.types import Answer, Outcome, Trace
from videohv.video import Video

NAMES = ("captions", "direct", "retrieval", "videohv")
READERS = ("captions", "retrieval", "videohv")
ANSWERING = {"captions": "captions.answer", "retrieval": "retrieval.answer", "videohv": "answer"}
AGENTS = {
    "captions": ["captioner.predict", "summary.predict", "captions.answer"],
    "direct": ["direct.answer"],
    "retrieval": ["captioner.predict", "retrieval.answer", "retrieval.seek", "retrieval.look"],
}


@pytest.fixture
def registry() -> Iterator[None]:
    before = dict(methods._methods)
    yield
    methods._methods.clear()
    methods._methods.update(before)


def test_the_methods_are_known_by_name() -> None:
    assert method_names() == NAMES
    assert type(make_method("videohv")) is VideoHV
    for name in NAMES:
        assert make_method(name).method == name


def test_a_method_of_ones_own_is_one_class_and_one_decorator(registry: None) -> None:
    @method("always-a")
    class AlwaysA(VideoProgram):
        def reason(self, recorder: Recorder, timeline: Timeline, video: Video | None) -> Answer:
            return Answer(option_index=0)

    trace, engine = run_method("always-a", seed=3)
    assert (trace.method, trace.outcome, trace.settings["seed"]) == ("always-a", Outcome.ANSWERED, 3)
    assert trace.captions is not None
    assert not engine.requests
    with pytest.raises(InputError, match=r"'always-a' is already registered by .*AlwaysA"):
        method("always-a")(VideoHV)


def test_an_unregistered_program_goes_by_the_name_of_its_class() -> None:
    class Mine(VideoHV):
        pass

    lm, _ = fake_lm()
    with dspy.context(lm=lm):
        assert Mine()(question="q", options=["a", "b"], captions=CAPTIONS).trace.method == "Mine"
    assert VideoHV.method == "videohv"


def test_an_unknown_method_or_setting_or_value_says_what_there_is() -> None:
    with pytest.raises(InputError, match="no method is called 'llovi'; known methods: captions, direct, retrieval"):
        make_method("llovi")
    with pytest.raises(InputError, match=r"method 'direct' has no setting 'looks'; it has: .*frames, may_abstain"):
        make_method("direct", looks=2)
    with pytest.raises(InputError, match="setting 'rounds' of method 'retrieval': Input should be less than"):
        make_method("retrieval", rounds=99)
    with pytest.raises(InputError, match=r"setting 'without.0' of method 'videohv': .*'hypotheses'"):
        make_method("videohv", without=["thinking"])
    with pytest.raises(InputError, match="no captioner is called 'poet'"):
        make_method("captions", captioner="poet")
    with pytest.raises(ValidationError):
        VideoHV(rounds=99)


def test_settings_that_all_methods_share_fit_every_method_and_others_only_their_own() -> None:
    for name in NAMES:
        assert make_method(name, MethodSettings(seed=5), fps=2).settings.seed == 5
    assert make_method("videohv", LoopSettings(rounds=2), looks=4).settings == LoopSettings(rounds=2, looks=4)
    with pytest.raises(InputError, match="method 'direct' takes DirectSettings; these are LoopSettings"):
        make_method("direct", LoopSettings())


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_holds_method_and_settings_and_survives_json(name: str) -> None:
    trace, _ = run_method(name, may_abstain=True)
    assert trace.method == name
    assert trace.settings == make_method(name, may_abstain=True).settings.model_dump(mode="json")
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


@pytest.mark.parametrize("name", NAMES)
def test_every_agent_is_a_known_role_for_which_a_model_can_be_named(name: str) -> None:
    agents = [agent.removesuffix(".predict") for agent, _ in make_method(name).named_predictors()]
    assert set(agents) <= set(role_names())


def test_a_rivals_role_can_have_a_model_of_its_own() -> None:
    general, general_engine = fake_lm({"retrieval.answer": guess_reply("A", 1)})
    strong, strong_engine = fake_lm()
    with using(general, roles={"retrieval.seek": strong}):
        make_method("retrieval", rounds=2)(question="q", options=["a", "b"], captions=CAPTIONS)
    assert strong_engine.roles == ["retrieval.seek"]
    assert general_engine.roles == ["retrieval.answer"] * 2


@pytest.mark.parametrize("name", READERS)
def test_streamed_awaited_and_called_alike(name: str) -> None:
    lm, _ = fake_lm()
    asked: dict[str, Any] = {"question": "q", "options": ["a", "b"], "captions": CAPTIONS}
    with dspy.context(lm=lm):
        *events, streamed = make_method(name).stream(**asked)
        called = make_method(name)(**asked)
    assert [str(e.kind) for e in events][:: len(events) - 1] == ["captions", "answer"]
    assert events[-1].value == called.trace.answer
    assert streamed.trace.rounds == called.trace.rounds


@pytest.mark.parametrize("name", READERS)
def test_without_captions_and_video_the_input_is_missing_and_it_is_said_how(name: str) -> None:
    trace, engine = run_method(name, captions=[])
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "the captions that were given are empty; there is no video file to make them from" in trace.error
    assert trace.captions is not None
    assert trace.captions.count == 0
    assert not engine.requests
    with pytest.raises(InputError, match="give a video, captions, or both"):
        make_method(name)(question="q", options=["a", "b"])


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("error", "outcome", "calls"),
    [("garbage", Outcome.PARSE_FAILED, ATTEMPTS), (ServerError("down"), Outcome.LM_FAILED, 1)],
    ids=["garbage", "outage"],
)
def test_an_answer_that_fails_for_good_is_a_typed_failure_and_no_guess(
    name: str, error: Any, outcome: Outcome, calls: int
) -> None:
    role = ANSWERING[name]
    trace, engine = run_method(name, {role: error})
    assert (trace.outcome, trace.answer) == (outcome, None)
    assert trace.error.startswith(f"{role}: ")
    assert engine.roles.count(role) == calls


@pytest.mark.parametrize("name", READERS)
def test_an_error_that_every_call_would_repeat_ends_the_question_at_once(name: str) -> None:
    first = {"captions": "captions.answer", "retrieval": "retrieval.answer", "videohv": "summary"}[name]
    trace, engine = run_method(name, {first: AuthError("no such key")}, workers=1)
    assert trace.outcome is Outcome.LM_FAILED
    assert engine.roles == [first]


@pytest.mark.parametrize("name", READERS)
def test_an_answer_may_be_declined_only_when_that_is_allowed(name: str) -> None:
    reply = {"verdicts": [], "conflicts": [], "reasoning": "r", "answer": "ABSTAIN", "confidence": 0.1}
    scripts: dict[str, Any] = {
        "answer": reply,
        "captions.answer": {k: reply[k] for k in ("reasoning", "answer", "confidence")},
        "retrieval.answer": guess_reply("ABSTAIN", 3),
    }
    trace, engine = run_method(name, scripts, may_abstain=True)
    assert trace.outcome is Outcome.ABSTAINED
    assert engine.of(ANSWERING[name])[0].inputs["may_abstain"] == "True"
    trace, _ = run_method(name, scripts)
    assert trace.outcome is Outcome.PARSE_FAILED
    assert "abstained although it may not" in trace.error


@pytest.mark.parametrize(
    ("name", "calls", "roles", "rounds"),
    [
        ("videohv", 1, ["summary"], 1),
        ("videohv", 3, ["summary", "thinker", "judge"], 1),
        ("videohv", 4, ["summary", "thinker", "judge", "locate"], 1),
        ("videohv", 5, ["summary", "thinker", "judge", "locate", "check"], 1),
        ("retrieval", 0, [], 1),
        ("retrieval", 2, ["retrieval.answer", "retrieval.seek"], 2),
        ("captions", 0, [], 0),
    ],
)
def test_a_budget_that_is_spent_ends_the_question_with_all_that_was_recorded(
    name: str, calls: int, roles: list[str], rounds: int
) -> None:
    lm, engine = fake_lm({"retrieval.answer": guess_reply("A", 1)})
    with dspy.context(lm=lm), listening(RunsOut(calls)):
        program = make_method(name, workers=1, **({"stretches": 1} if name == "videohv" else {}))
        prediction = program(question="q", options=["a", "b"], captions=CAPTIONS)
    trace = prediction.trace
    assert (trace.outcome, trace.answer, prediction.answer_index) == (Outcome.OVER_BUDGET, None, None)
    assert trace.error == "budget: the budget is spent"
    assert not trace.degraded, "it is not gone on with"
    assert engine.roles == roles
    assert trace.calls == calls
    assert len(trace.rounds) == rounds
    assert bool(trace.summary) == ("summary" in roles)
    assert bool(trace.evidence) == ("locate" in roles or name == "retrieval")
    assert trace.status == ("VERIFIED" if "check" in roles else None)


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_is_a_named_predictor_and_what_was_saved_is_loaded(name: str, tmp_path: Path) -> None:
    program = make_method(name)
    assert [agent for agent, _ in program.named_predictors()] == AGENTS[name]
    for agent, predictor in program.named_predictors():
        predictor.signature = predictor.signature.with_instructions(f"Be {agent}.")
        predictor.demos = [dspy.Example(**dict.fromkeys(predictor.signature.fields, "B"), of="none of its fields")]
    program.save(tmp_path / "program.json")
    loaded = load_program(tmp_path / "program.json", into=make_method(name, seed=7))
    assert loaded.settings.seed == 7
    for agent, predictor in loaded.named_predictors():
        assert predictor.signature.instructions == f"Be {agent}."
        assert dict(predictor.demos[0]) == dict.fromkeys(predictor.signature.fields, "B")


@pytest.mark.parametrize("name", NAMES)
def test_a_program_does_not_load_into_another_method(name: str, tmp_path: Path) -> None:
    make_method(name).save(tmp_path / "program.json")
    for other in NAMES:
        if other != name:
            with pytest.raises(ProgramError, match=rf"differ from those of method '{other}' in "):
                load_program(tmp_path / "program.json", into=make_method(other))


@pytest.mark.parametrize("name", READERS)
def test_demonstrations_are_collected_for_the_agents_that_spoke(name: str) -> None:
    def metric(gold: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> bool:
        return bool(prediction.answer_index == 0)

    lm, engine = fake_lm()
    example = dspy.Example(question="q", options=["a", "b"], captions=CAPTIONS)
    trainset = [example.with_inputs("question", "options", "captions")]
    teleprompter = dspy.BootstrapFewShot(metric=metric, max_bootstrapped_demos=1, max_labeled_demos=0)
    with dspy.context(lm=lm):
        compiled = teleprompter.compile(
            make_method(name, stretches=1) if name != "retrieval" else make_method(name), trainset=trainset
        )
        before = len(engine.requests)
        assert compiled(question="q", options=["a", "b"], captions=CAPTIONS).answer_index == 0
    spoke = {agent for agent, predictor in compiled.named_predictors() if predictor.demos}
    roles = {"answer.predict": "answer", "verifier.locate": "locate", "verifier.check": "check"}
    asked = {seen.role for seen in engine.requests[before:]}
    assert {roles.get(agent, agent.removesuffix(".predict")) for agent in spoke} == asked


def test_a_direct_program_works_on_no_captions_and_says_so() -> None:
    with pytest.raises(InputError, match="the method 'direct' works on no captions"):
        make_method("direct").caption("some.mp4")
