"""Optimizers one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from dspy.utils.exceptions import LMServerError

from tests.support.learning import Heard, a_task, asked, knows
from videohv.optimize.guard import CompileStopped, Guard, GuardLimits, guarding
from videohv.optimize.optimizers.chain import Chain
from videohv.optimize.registry import make_optimizer


def test_each_begins_where_the_one_before_ended(tmp_path: Path) -> None:
    heard = Heard()
    chain = Chain([make_optimizer("labeled", {"demos": 1}), make_optimizer("random-search", {"candidates": 1})])
    task = a_task(tmp_path, "captions", roles=("captions.answer",), on_trial=heard)
    assert chain.uses_demos
    assert chain.plan(task) == (6 + 3 * 4, 0)
    with asked({"captions.answer": knows(*range(6))}):
        made = chain.improve(task)
    assert type(made) is type(task.program)
    assert len(heard.trials) == 3


def test_trials_are_numbered_through(tmp_path: Path) -> None:
    heard = Heard()
    search = {"candidates": 1, "demos": 1}
    chain = Chain([make_optimizer("random-search", search), make_optimizer("random-search", search)])
    with asked({"captions.answer": knows(*range(6))}):
        chain.improve(a_task(tmp_path, "captions", on_trial=heard))
    assert [trial.number for trial in heard.trials] == [1, 2, 3, 4, 5, 6]
    assert [trial.of for trial in heard.trials] == [3, 3, 3, 6, 6, 6]


def test_what_was_learnt_before_is_kept(tmp_path: Path) -> None:
    chain = Chain([make_optimizer("labeled"), make_optimizer("bootstrap")])
    gone = LMServerError("gone", model="fake", status=500)
    task = a_task(tmp_path, "captions", roles=("captions.answer",))
    with (
        guarding(Guard(GuardLimits(outage=1))),
        asked({"captions.answer": gone}),
        pytest.raises(CompileStopped) as stopped,
    ):
        chain.improve(task)
    assert stopped.value.best is not None
    assert len(stopped.value.best.captions.answer.demos) == 2
