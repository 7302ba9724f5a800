"""The four optimizers of instructions on the whole program: what they find and what they leave alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, Seen
from tests.support.planted import (
    AGENTS,
    CHOSEN,
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
from videohv.optimize.task import Trial
from videohv.types import Source


@pytest.mark.parametrize("name", NAMES)
def test_the_planted_rule_is_found(name: str, tmp_path: Path) -> None:
    engine, writer = engine_for(name), Writer()
    seed = make_method("videohv")
    with dspy.context(lm=an_lm(task_engine())):
        assert accuracy(seed, examples(range(20, 26))) == 0
    made = improved(name, tmp_path, engine, writer.engine())
    assert RULE in made.judge.predict.signature.instructions
    with dspy.context(lm=an_lm(task_engine())):
        assert accuracy(made, examples(range(20, 26))) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_is_put_where_it_helps_among_all_agents(name: str, tmp_path: Path) -> None:
    changes = {"mipro": {"trials": 15, "candidates": 2, "demos": 0}}
    made = improved(name, tmp_path, engine_for(name), Writer().engine(), roles=AGENTS, options=changes.get(name, {}))
    assert RULE in made.judge.predict.signature.instructions


@pytest.mark.parametrize("name", NAMES)
def test_only_the_agents_in_question_change_and_only_what_they_are_told(name: str, tmp_path: Path) -> None:
    task = a_task(tmp_path, an_lm(Writer().engine()))
    before = {n: p.dump_state() for n, p in task.program.named_predictors()}
    with dspy.context(lm=an_lm(engine_for(name))):
        made = make_optimizer(name, CHOSEN[name]).improve(task)
    assert {n: p.dump_state() for n, p in task.program.named_predictors()} == before
    after = {n: p.dump_state() for n, p in made.named_predictors()}
    assert [n for n in before if before[n] != after[n]] == ["judge.predict"]
    assert after["judge.predict"]["signature"]["fields"] == before["judge.predict"]["signature"]["fields"]
    assert made.settings == task.program.settings
    assert all(predictor.lm is None for predictor in made.predictors())


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_instruction_is_never_asked_with(name: str, tmp_path: Path) -> None:
    engine = engine_for(name)
    improved(name, tmp_path, engine, Writer().engine(), roles=AGENTS)
    # DSPy ends its own part of the system message with this line.
    told = {seen.system.rpartition("your objective is:")[2].strip() for seen in engine.requests}
    assert len(told) > len(AGENTS)
    assert all(usable(instruction) for instruction in told)


@pytest.mark.parametrize("name", NAMES)
def test_candidates_are_told_of_as_they_are_scored(name: str, tmp_path: Path) -> None:
    trials: list[Trial] = []
    improved(name, tmp_path, engine_for(name), Writer().engine(), on_trial=trials.append)
    assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))
    whole = [trial for trial in trials if trial.examples == 3]
    assert whole[-1].best == 1
    assert all(trial.of is None or trial.number <= trial.of for trial in trials)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("preset", PRESETS)
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
def test_the_writing_model_is_told_what_the_agent_did_wrong(name: str, tmp_path: Path) -> None:
    writer = Writer()
    improved(name, tmp_path, engine_for(name), writer.engine())
    everything = "\n".join(f"{seen.system}\n{seen.inputs}" for seen in writer.told)
    assert "did not separate the options" in everything


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.parametrize("name", ["copro", "simba", "gepa"])
def test_demonstrations_that_were_there_before_stay(name: str, tmp_path: Path) -> None:
    task = a_task(tmp_path, an_lm(Writer().engine()))
    demos = [{"question": f"What is it, {n}?", "clue": "its colour"} for n in range(4)]
    task.program.judge.predict.demos = list(demos)
    with dspy.context(lm=an_lm(engine_for(name))):
        made = make_optimizer(name, CHOSEN[name]).improve(task)
    assert RULE in made.judge.predict.signature.instructions
    assert made.judge.predict.demos == demos


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_on_the_terminal(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    improved(name, tmp_path, engine_for(name), Writer().engine())
    assert capfd.readouterr() == ("", "")


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


def test_mipro_scores_on_a_few_examples_where_it_is_told_so(tmp_path: Path) -> None:
    trials: list[Trial] = []
    made = improved(
        "mipro", tmp_path, task_engine(), Writer().engine(), options={"minibatch": 2}, on_trial=trials.append
    )
    assert {trial.examples for trial in trials} == {2, 3}
    assert RULE in made.judge.predict.signature.instructions


@pytest.mark.parametrize("name", NAMES)
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
