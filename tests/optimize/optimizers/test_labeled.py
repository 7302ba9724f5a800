"""Labels as demonstrations: for methods of one step, and for no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.learning import OPTIONS, a_task, all_right, asked
from videohv.compiled.agents import SOURCE
from videohv.errors import OptimizerFailed
from videohv.modules.methods import make_method
from videohv.modules.program import VideoProgram
from videohv.optimize.registry import make_optimizer
from videohv.optimize.task import Task


def improved(task: Task) -> VideoProgram:
    with asked(all_right()):
        return make_optimizer("labeled").improve(task)


def test_it_shows_rows_with_their_right_option_without_a_call(tmp_path: Path) -> None:
    task = a_task(tmp_path, "captions", roles=("captions.answer",))
    with asked() as engine:
        made = make_optimizer("labeled", {"demos": 3}).improve(task)
        assert engine.requests == []
        task.program(**task.dev[0].inputs())
    shown = engine.requests[0].inputs
    for demo in made.captions.answer.demos:
        number = int(demo[SOURCE][1:])
        assert demo["answer"] == "ABC"[number % 3]
        assert demo["reasoning"] == OPTIONS[number % 3]
        assert demo["confidence"] == 1.0
        assert demo["question"] == f"What does person {number} do?"
        assert demo["captions"] == shown["captions"]
    assert len(made.captions.answer.demos) == 3
    assert make_optimizer("labeled").plan(task).program_runs == 0


@pytest.mark.parametrize(("method", "asked_first"), [("videohv", "summary"), ("retrieval", "certainty")])
def test_methods_of_several_steps_are_refused_by_name(tmp_path: Path, method: str, asked_first: str) -> None:
    with pytest.raises(OptimizerFailed, match=f"method '{method}' does not answer in one step.*{asked_first}"):
        improved(a_task(tmp_path, method))


def test_captions_that_do_not_fit_are_no_single_step(tmp_path: Path) -> None:
    program = make_method("captions", summarize=True)
    with pytest.raises(OptimizerFailed, match=r"asks summary\.predict for summary"):
        improved(a_task(tmp_path, program))


def test_other_roles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptimizerFailed, match=r"only captions\.answer.*\(summary\.predict\)"):
        improved(a_task(tmp_path, "captions", roles=("summary.predict",)))
