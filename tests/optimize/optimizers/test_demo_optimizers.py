"""Each optimizer of demonstrations, to its end, on whole programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.utils.exceptions import LMServerError

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, Seen, default_reply
from tests.support.learning import Heard, a_task, all_right, an_example, asked, knows, number_in
from videohv.compiled.agents import agents_of
from videohv.compiled.fingerprint import program_hash
from videohv.errors import InputError, OptimizerFailed
from videohv.modules.program import VideoProgram
from videohv.optimize.guard import CompileStopped, Guard, GuardLimits, Reason, guarding
from videohv.optimize.learner.demos import source_of
from videohv.optimize.registry import make_optimizer
from videohv.optimize.task import Task

SEARCHES = ("bootstrap", "random-search", "optuna", "knn")
SLOW = {("random-search", "videohv"), ("optuna", "videohv")}
ON_BOTH = [
    pytest.param(name, method, marks=pytest.mark.slow if (name, method) in SLOW else ())
    for method in ("videohv", "captions")
    for name in SEARCHES
]
"""Each on the whole loop and on a program of one agent; the searches score many candidates of the loop."""


def demos_of(program: VideoProgram) -> dict[str, list[str | None]]:
    return {
        name: [source_of(demo) for demo in predictor.demos]
        for name, predictor in program.named_predictors()
        if predictor.demos
    }


def improved(name: str, task: Task, scripts: Any = None, **options: Any) -> VideoProgram:
    with asked(scripts if scripts is not None else all_right()):
        return make_optimizer(name, options).improve(task)


@pytest.mark.parametrize(("name", "method"), ON_BOTH)
def test_it_gives_demonstrations_to_all_that_read_text(tmp_path: Path, name: str, method: str) -> None:
    # Without any demonstration the dev part is answered wrongly, so that a search has something to find.
    task = a_task(tmp_path, method)
    made = improved(name, task, {role: knows(*range(6), 10, 11) for role in ("answer", "captions.answer")})
    known = demos_of(made)
    if name != "random-search":
        assert known
    assert {source for sources in known.values() for source in sources} <= {f"q{n}" for n in range(6)}
    assert type(made) is type(task.program)
    assert made.settings == task.program.settings
    assert all(predictor.lm is None for predictor in made.predictors())
    assert demos_of(task.program) == {}
    # What no artifact can hold would be refused here.
    assert len(agents_of(made)) == len(task.roles)


@pytest.mark.parametrize("name", SEARCHES)
def test_only_the_named_roles_change(tmp_path: Path, name: str) -> None:
    task = a_task(tmp_path, roles=("judge.predict",))
    made = improved(name, task, **({"trials": 3} if name == "optuna" else {}))
    before, after = (dict(program.named_predictors()) for program in (task.program, made))
    for role in before:
        same = before[role].dump_state() == after[role].dump_state()
        assert same or role == "judge.predict", role
    if name != "random-search":
        assert set(demos_of(made)) == {"judge.predict"}


def test_traces_of_wrong_answers_teach_nothing(tmp_path: Path) -> None:
    made = improved("bootstrap", a_task(tmp_path), {"answer": knows(1, 4)}, demos=4)
    assert {tuple(sources) for sources in demos_of(made).values()} == {("q1", "q4")}


def test_traces_with_failed_steps_teach_nothing(tmp_path: Path) -> None:
    def fails_early(seen: Seen) -> Any:
        return "nothing of use" if number_in(seen) < 3 else default_reply(seen)

    made = improved("bootstrap", a_task(tmp_path), {**all_right(), "judge": fails_early}, demos=2)
    assert {tuple(sources) for sources in demos_of(made).values()} == {("q3", "q4")}


def test_no_right_answer_is_said_so(tmp_path: Path) -> None:
    for name in SEARCHES:
        with pytest.raises(OptimizerFailed, match="no demonstration could be made: of 6 training questions 6 were"):
            improved(name, a_task(tmp_path, "captions"), {"captions.answer": knows()})


def test_demonstrations_that_are_all_too_long_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(OptimizerFailed, match=r"every demonstration for captions\.answer.* longer than 50 characters"):
        improved("bootstrap", a_task(tmp_path, "captions", roles=("captions.answer",)), longest=50)


def test_images_never_become_demonstrations(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4")
    train = tuple(an_example(n).copy(video=clip).with_inputs("question", "captions", "video") for n in range(2))
    task = a_task(tmp_path, train=train)
    with asked(all_right()) as engine:
        made = make_optimizer("bootstrap").improve(task)
    assert any(seen.images for seen in engine.of("look"))
    assert "verifier.look" not in demos_of(made)
    assert "verifier.check" in demos_of(made)
    assert "base64" not in str([predictor.dump_state() for predictor in made.predictors()])
    with pytest.raises(InputError, match="images are never stored"):
        improved("bootstrap", a_task(tmp_path, train=train, roles=("verifier.look",)))


@pytest.mark.parametrize(("name", "method"), ON_BOTH)
def test_threads_change_nothing(tmp_path: Path, name: str, method: str) -> None:
    scripts = {role: knows(0, 2, 3, 5, 11, 13) for role in ("answer", "captions.answer")}
    one, many = (program_hash(improved(name, a_task(tmp_path, method, threads=n), scripts)) for n in (1, 4))
    assert one == many


@pytest.mark.parametrize("name", SEARCHES)
def test_the_same_again_asks_nothing_twice(tmp_path: Path, name: str) -> None:
    engine = FakeEngine({"captions.answer": knows(0, 2, 3, 5, 11, 13)})
    hashes, counts = [], []
    for threads in (1, 2):
        # Another name of the model for each test: the cache is one for all.
        with dspy.context(lm=dspy.LM(f"fake/{name}-{tmp_path.name}", engine=engine, cache=True)):
            task = a_task(tmp_path, "captions", threads=threads)
            hashes.append(program_hash(make_optimizer(name, {"demos": 1}).improve(task)))
        counts.append(len(engine.requests))
    assert hashes[0] == hashes[1]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["random-search", "optuna"])
def test_a_search_finds_the_demonstration_that_helps(tmp_path: Path, name: str) -> None:
    class Led(FakeEngine):
        """Right about the dev part if it has seen person 4 before, and about the training part always."""

        def complete(self, request: lm15.Request) -> lm15.Response:
            text = "\n".join(part.text for m in request.messages for part in m.parts if hasattr(part, "text"))
            numbers = [int(n) for n in re.findall(r"person (\d+)", text)]
            right = numbers[-1] < 10 or 4 in numbers[:-1]
            self.scripts["captions.answer"] = knows(*range(20)) if right else knows()
            return super().complete(request)

    heard = Heard()
    options = {"demos": 2, "candidates": 8} if name == "random-search" else {"demos": 6, "trials": 16}
    task = a_task(tmp_path, "captions", roles=("captions.answer",), on_trial=heard)
    with dspy.context(lm=dspy.LM("fake/model", engine=Led(), cache=False)):
        made = make_optimizer(name, options).improve(task)
    assert "q4" in demos_of(made)["captions.answer"]
    assert max(trial.best for trial in heard.trials) == 1.0
    assert [trial.number for trial in heard.trials] == list(range(1, len(heard.trials) + 1))
    assert {trial.examples for trial in heard.trials} == {4}
    assert {trial.of for trial in heard.trials} == {10 if name == "random-search" else 16}


def test_optuna_leaves_agents_alone_for_which_there_is_nothing(tmp_path: Path) -> None:
    # The captioner is never asked when captions are given; DSPy's own crashes on it.
    made = improved("optuna", a_task(tmp_path), trials=3)
    assert "captioner.predict" not in demos_of(made)
    assert {len(sources) for sources in demos_of(made).values()} == {1}


def test_the_same_seed_finds_the_same_and_another_another(tmp_path: Path) -> None:
    hashes = [
        program_hash(improved("optuna", a_task(tmp_path, "captions", seed=seed), demos=6, trials=2))
        for seed in (1, 1, 2, 3, 4)
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) > 1


def test_knn_shows_the_neighbours_of_what_will_be_asked(tmp_path: Path) -> None:
    def about(number: int, what: str) -> Any:
        example = an_example(number)
        question = example.question.model_copy(update={"text": f"{what} Ask about person {number}."})
        return example.copy(question=question).with_inputs("question", "captions")

    train = tuple(about(n, "Which tool is held?" if n % 2 else "How does the cook stir the soup?") for n in range(6))
    dev = tuple(about(n, "How did the soup end up stirred by a cook?") for n in range(10, 14))
    made = improved("knn", a_task(tmp_path, "captions", train=train, dev=dev))
    assert set(demos_of(made)["captions.answer"]) <= {"q0", "q2", "q4"}


class TestStopped:
    def test_bootstrap_keeps_what_it_has_found(self, tmp_path: Path) -> None:
        def dies(seen: Seen) -> Any:
            if number_in(seen) >= 2:
                return LMServerError("gone", model="fake", status=500)
            return knows(*range(6))(seen)  # type: ignore[operator]

        limits = GuardLimits(outage=2)
        with guarding(Guard(limits)), pytest.raises(CompileStopped) as stopped:
            improved("bootstrap", a_task(tmp_path, "captions"), {"captions.answer": dies}, demos=4)
        assert stopped.value.reason is Reason.OUTAGE
        assert stopped.value.best is not None
        assert demos_of(stopped.value.best)["captions.answer"] == ["q0", "q1"]
        assert stopped.value.trial is None

    @pytest.mark.parametrize("threads", [1, 3])
    @pytest.mark.parametrize("name", ["random-search", "optuna"])
    def test_a_search_keeps_the_best_that_it_has_scored(self, tmp_path: Path, name: str, threads: int) -> None:
        calls = [0]

        def dies(seen: Seen) -> Any:
            calls[0] += 1
            # The training part, and two candidates.
            if calls[0] > 6 + 2 * 4:
                return LMServerError("gone", model="fake", status=500)
            known = range(6) if calls[0] <= 6 else (10, 11) if calls[0] <= 10 else (10,)
            return knows(*known)(seen)  # type: ignore[operator]

        heard = Heard()
        task = a_task(tmp_path, "captions", threads=threads, on_trial=heard)
        with guarding(Guard(GuardLimits(outage=2))), pytest.raises(CompileStopped) as stopped:
            improved(name, task, {"captions.answer": dies})
        assert stopped.value.best is not None
        assert stopped.value.trial == max(heard.trials, key=lambda trial: trial.score)
        assert len(heard.trials) == 2
        assert all(predictor.lm is None for predictor in stopped.value.best.predictors())


def test_plans_count_the_runs_at_most(tmp_path: Path) -> None:
    task = a_task(tmp_path, "captions")
    for name in (*SEARCHES, "labeled"):
        made = make_optimizer(name)
        with asked(all_right()) as engine:
            made.improve(task)
        assert len(engine.requests) <= made.plan(task).program_runs
        assert made.plan(task).prompt_calls == 0


def test_unknown_options_are_refused() -> None:
    with pytest.raises(InputError, match="'bootstrap' has no option 'trials'; it has: demos, longest, threshold"):
        make_optimizer("bootstrap", {"trials": 3})
