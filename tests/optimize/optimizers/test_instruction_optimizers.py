"""The four optimizers of instructions on the whole program: what they find and what they leave alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import dspy
import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, Seen
from tests.support.planted import (
    AGENTS,
    CHOSEN,
    EACH,
    NAMES,
    RULE,
    Writer,
    a_task,
    accuracy,
    an_lm,
    engine_for,
    examples,
    improved,
    task_engine,
)
from videohv.errors import InputError
from videohv.modules.methods import make_method
from videohv.optimize.learner.demos import source_of
from videohv.optimize.learner.instructions import instructions_of, usable
from videohv.optimize.registry import PRESETS, make_optimizer
from videohv.optimize.task import Task, Trial
from videohv.types import Source


class Ran(NamedTuple):
    """An optimizer that has gone through the planted task, and what was seen of it.

    Args:
        task: What it was given.
        before: The state of each agent of the task's program before.
        made: The program that it made.
        engine: The model that the program asked.
        writer: The model that wrote the instructions.
        trials: What was told of candidates.
        said: What was written to stdout and stderr.
    """

    task: Task
    before: dict[str, Any]
    made: Any
    engine: FakeEngine
    writer: Writer
    trials: list[Trial]
    said: tuple[str, str]


Runs = Callable[..., Ran]
"""Gives the run of an optimizer by its name, and by the agents in question if they are not the Judge alone."""


@pytest.fixture(scope="module")
def kept() -> dict[tuple[str, tuple[str, ...]], Ran]:
    """The runs so far: each takes seconds, and much can be seen of one."""
    return {}


@pytest.fixture
def ran(kept: dict[tuple[str, tuple[str, ...]], Ran], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Runs:
    def run(name: str, roles: tuple[str, ...] = ("judge.predict",)) -> Ran:
        if (name, roles) not in kept:
            engine, writer, trials = engine_for(name), Writer(), list[Trial]()
            task = a_task(tmp_path, an_lm(writer.engine()), roles=roles, on_trial=trials.append)
            before = states(task.program)
            with dspy.context(lm=an_lm(engine)):
                made = make_optimizer(name, CHOSEN[name]).improve(task)
            kept[name, roles] = Ran(task, before, made, engine, writer, trials, tuple(capfd.readouterr()))
        return kept[name, roles]

    return run


def states(program: Any) -> dict[str, Any]:
    return {name: predictor.dump_state() for name, predictor in program.named_predictors()}


@pytest.mark.parametrize("name", NAMES)
def test_the_planted_rule_is_found(name: str, ran: Runs) -> None:
    seed = make_method("videohv")
    with dspy.context(lm=an_lm(task_engine())):
        assert accuracy(seed, examples(range(20, 26))) == 0
    made = ran(name).made
    assert RULE in made.judge.predict.signature.instructions
    with dspy.context(lm=an_lm(task_engine())):
        assert accuracy(made, examples(range(20, 26))) == 1


@pytest.mark.parametrize("name", EACH)
def test_the_rule_is_put_where_it_helps_among_all_agents(name: str, tmp_path: Path, ran: Runs) -> None:
    if name == "mipro":
        options = {"trials": 15, "candidates": 2, "demos": 0}
        made = improved(name, tmp_path, engine_for(name), Writer().engine(), roles=AGENTS, options=options)
    else:
        made = ran(name, AGENTS).made
    assert RULE in made.judge.predict.signature.instructions


@pytest.mark.parametrize("name", NAMES)
def test_only_the_agents_in_question_change_and_only_what_they_are_told(name: str, ran: Runs) -> None:
    task, before, made, *_ = ran(name)
    assert states(task.program) == before
    after = states(made)
    assert [n for n in before if before[n] != after[n]] == ["judge.predict"]
    assert after["judge.predict"]["signature"]["fields"] == before["judge.predict"]["signature"]["fields"]
    assert made.settings == task.program.settings
    assert all(predictor.lm is None for predictor in made.predictors())


@pytest.mark.parametrize("name", EACH)
def test_what_is_no_instruction_is_never_asked_with(name: str, ran: Runs) -> None:
    # DSPy ends its own part of the system message with this line.
    told = {seen.system.rpartition("your objective is:")[2].strip() for seen in ran(name, AGENTS).engine.requests}
    assert len(told) > len(AGENTS)
    assert all(usable(instruction) for instruction in told)


@pytest.mark.parametrize("name", NAMES)
def test_candidates_are_told_of_as_they_are_scored(name: str, ran: Runs) -> None:
    trials = ran(name).trials
    assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))
    whole = [trial for trial in trials if trial.examples == 3]
    assert whole[-1].best == 1
    assert all(trial.of is None or trial.number <= trial.of for trial in trials)


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        pytest.param(name, preset, marks=pytest.mark.slow if preset == "light" and name != "copro" else ())
        for preset in PRESETS
        for name in NAMES
    ],
)
def test_every_preset_has_a_plan_that_is_not_exceeded(name: str, preset: Any, tmp_path: Path) -> None:
    engine, writer = engine_for(name), Writer()
    optimizer = make_optimizer(name, preset=preset)
    task = a_task(tmp_path, an_lm(writer.engine()))
    plan = optimizer.plan(task)
    assert plan.program_runs > 0
    assert plan.prompt_calls > 0
    if preset == "light":
        with dspy.context(lm=an_lm(engine)):
            optimizer.improve(task)
        assert len(engine.of("answer")) <= plan.program_runs
        assert len(writer.told) <= plan.prompt_calls


@pytest.mark.parametrize("name", ["copro", "gepa", "simba"])
def test_the_writing_model_is_told_what_the_agent_did_wrong(name: str, ran: Runs) -> None:
    everything = "\n".join(f"{seen.system}\n{seen.inputs}" for seen in ran(name).writer.told)
    assert "did not separate the options" in everything


@pytest.mark.parametrize("name", EACH)
def test_no_frame_is_shown_to_the_writing_model(name: str, tmp_path: Path) -> None:
    writer, video = Writer(), make_clip(tmp_path / "clip.mp4", frames=100, fps=10)
    task = a_task(tmp_path, an_lm(writer.engine()), roles=("verifier.look", "judge.predict"))
    filmed = tuple(
        dspy.Example(**{**dict(e), "video": video}).with_inputs("question", "captions", "video") for e in task.train
    )
    engine = engine_for(name)
    with dspy.context(lm=an_lm(engine)):
        made = make_optimizer(name, CHOSEN[name]).improve(
            type(task)(**{**vars(task), "train": filmed, "dev": filmed[:3]})
        )
        assert made(**filmed[0].inputs()).trace.evidence[0].source is Source.FRAMES
    assert any(seen.images for seen in engine.requests)
    assert not any(seen.images for seen in writer.told)
    assert "base64" not in "".join(str(seen) for seen in writer.told)
    assert not made.verifier.look.demos


@pytest.mark.parametrize("name", [name for name in EACH if "mipro" not in name.values])
def test_demonstrations_that_were_there_before_stay(name: str, tmp_path: Path) -> None:
    task = a_task(tmp_path, an_lm(Writer().engine()))
    demos = [{"question": f"What is it, {n}?", "clue": "its colour"} for n in range(4)]
    task.program.judge.predict.demos = list(demos)
    with dspy.context(lm=an_lm(engine_for(name))):
        made = make_optimizer(name, CHOSEN[name]).improve(task)
    assert RULE in made.judge.predict.signature.instructions
    assert made.judge.predict.demos == demos


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_on_the_terminal(name: str, ran: Runs) -> None:
    assert ran(name).said == ("", "")


def test_gepa_refuses_agents_that_it_could_not_tell_apart(tmp_path: Path) -> None:
    task = a_task(tmp_path, an_lm(Writer().engine()), roles=("judge.predict", "verifier.check"))
    task.program.verifier.check.signature = task.program.judge.predict.signature
    with pytest.raises(InputError, match=r"cannot tell judge.predict from verifier.check"):
        make_optimizer("gepa").improve(task)


class Shown(FakeEngine):
    """Knows whether a request shows demonstrations."""

    demos = False

    def complete(self, request: Any) -> Any:
        self.demos = len(request.messages) > 1
        return super().complete(request)


def test_mipro_gives_demonstrations_to_agents_that_read(tmp_path: Path) -> None:
    """Here the Judge learns from nothing but a demonstration; one question of the train part makes one."""
    engine = Shown()

    def judge(seen: Seen) -> Any:
        knows = engine.demos or "video 1?" in seen.inputs["question"]
        return told(Seen(**{**vars(seen), "system": RULE if knows else ""}))

    engine.scripts = {**task_engine().scripts, "judge": judge}
    told: Any = task_engine().scripts["judge"]
    agents = ("verifier.look", "judge.predict", "verifier.check")
    made = improved("mipro", tmp_path, engine, FakeEngine({"unknown": "I would rather not."}), roles=agents)
    assert [source_of(demo) for demo in made.judge.predict.demos] == ["q1"]
    assert not made.verifier.look.demos
    assert instructions_of(made) == instructions_of(make_method("videohv"))


@pytest.mark.slow
def test_mipro_scores_on_a_few_examples_where_it_is_told_so(tmp_path: Path) -> None:
    trials: list[Trial] = []
    made = improved(
        "mipro", tmp_path, task_engine(), Writer().engine(), options={"minibatch": 2}, on_trial=trials.append
    )
    assert {trial.examples for trial in trials} == {2, 3}
    assert RULE in made.judge.predict.signature.instructions


@pytest.mark.parametrize("name", EACH)
def test_models_of_single_roles_are_asked_and_stay_where_they_are(name: str, tmp_path: Path) -> None:
    from videohv.lm.roles import using

    engine, other = engine_for(name), task_engine()
    with using(an_lm(engine), roles={"answer": an_lm(other)}):
        made = make_optimizer(name, CHOSEN[name]).improve(a_task(tmp_path, an_lm(Writer().engine())))
    assert RULE in made.judge.predict.signature.instructions
    assert not engine.of("answer")
    assert set(other.roles) == {"answer"}


@pytest.mark.parametrize(
    ("name", "option"), [("mipro", "trials"), ("copro", "depth"), ("simba", "steps"), ("gepa", "passes")]
)
def test_options_are_checked_by_name(name: str, option: str) -> None:
    with pytest.raises(InputError, match=f"has no option 'x'; it has: .*{option}"):
        make_optimizer(name, {"x": 1})
    with pytest.raises(InputError, match=f"option '{option}' of optimizer '{name}'"):
        make_optimizer(name, {option: 0})
