"""How the four optimizers of instructions end: outages, second sittings, and models that write nothing of use."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15

from tests.support.engine import FakeEngine
from tests.support.planted import (
    AGENTS,
    CHOSEN,
    EACH,
    Writer,
    a_task,
    an_lm,
    engine_for,
    improved,
    task_engine,
)
from videohv.modules.methods import make_method
from videohv.optimize.guard import Reason
from videohv.optimize.learner.border import CompileStopped
from videohv.optimize.learner.instructions import instructions_of
from videohv.optimize.registry import make_optimizer
from videohv.optimize.task import Trial


@pytest.mark.parametrize("name", EACH)
def test_a_second_sitting_asks_nobody_anything_and_comes_to_the_same(name: str, tmp_path: Path) -> None:
    found = []
    mine = uuid.uuid4().hex
    for _ in range(2):
        engine, writer = engine_for(name), Writer()
        with dspy.context(lm=an_lm(engine, cache=True, name=f"task-{mine}")):
            lm = an_lm(writer.engine(), cache=True, name=f"writer-{mine}")
            made = make_optimizer(name, CHOSEN[name]).improve(a_task(tmp_path, lm))
        found.append((instructions_of(made), len(engine.requests), len(writer.told)))
    assert found[0][1] > 0
    assert found[0][2] > 0
    assert found[1] == (found[0][0], 0, 0)


@pytest.mark.parametrize("name", EACH)
def test_threads_change_nothing(name: str, tmp_path: Path) -> None:
    if name == "simba":
        pytest.skip("its luck is dealt in the order of the calls")
    found = [
        instructions_of(improved(name, tmp_path, task_engine(), Writer().engine(), threads=threads))
        for threads in (1, 4)
    ]
    assert found[0] == found[1]


class Dies:
    """An engine that is there for so many calls, and then no more."""

    def __init__(self, engine: FakeEngine, calls: int) -> None:
        self.engine, self.left = engine, calls
        self.supports_images, self.supports_response_schema = True, True
        self.supported_params, self.context_tokens = engine.supported_params, None

    def __deepcopy__(self, memo: object) -> Dies:
        return self

    def complete(self, request: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise lm15.TransportError("connection refused")
        return self.engine.complete(request)


@pytest.mark.parametrize("name", EACH)
def test_a_writing_model_that_dies_stops_it_and_work_is_kept(name: str, tmp_path: Path) -> None:
    with pytest.raises(CompileStopped, match="writes the prompts") as stopped:
        improved(name, tmp_path, engine_for(name), Dies(Writer().engine(), 1), roles=AGENTS)  # type: ignore[arg-type]
    assert stopped.value.reason is Reason.OUTAGE


@pytest.mark.parametrize("name", EACH)
def test_a_program_whose_model_dies_stops_it_and_keeps_the_best(name: str, tmp_path: Path) -> None:
    trials: list[Trial] = []
    engine = Dies(engine_for(name), 150)
    with pytest.raises(CompileStopped, match="no reply for") as stopped:
        improved(
            name,
            tmp_path,
            engine,  # type: ignore[arg-type]
            Writer().engine(),
            roles=AGENTS,
            on_trial=trials.append,
            options={"mipro": {"trials": 50}, "simba": {"steps": 9}, "gepa": {"passes": 50}}.get(name, {}),
        )
    assert stopped.value.reason is Reason.OUTAGE
    if any(trial.examples == 3 for trial in trials):
        assert stopped.value.best is not None


@pytest.mark.parametrize("name", EACH)
def test_what_an_outage_interrupted_goes_on_and_asks_nothing_twice(name: str, tmp_path: Path) -> None:
    def sitting(engine: Any, writer: Any, mine: str) -> dict[str, str]:
        with dspy.context(lm=an_lm(engine, cache=True, name=f"task-{mine}")):
            task = a_task(tmp_path, an_lm(writer, cache=True, name=f"writer-{mine}"))
            return instructions_of(make_optimizer(name, CHOSEN[name]).improve(task))

    straight, twice = (engine_for(name), Writer()), (engine_for(name), Writer())
    expected = sitting(straight[0], straight[1].engine(), uuid.uuid4().hex)
    mine = uuid.uuid4().hex
    with pytest.raises(CompileStopped):
        sitting(Dies(twice[0], 30), twice[1].engine(), mine)
    assert len(twice[0].requests) == 30
    assert sitting(twice[0], twice[1].engine(), mine) == expected
    assert len(twice[0].requests) == len(straight[0].requests)
    assert len(twice[1].told) == len(straight[1].told)


@pytest.mark.parametrize("name", EACH)
def test_a_writer_that_writes_prose_changes_nothing(name: str, tmp_path: Path) -> None:
    prose = FakeEngine({"unknown": "I would rather not.", "summary": "No."})
    if name == "copro":
        with pytest.raises(Exception, match="no instruction could be proposed"):
            improved(name, tmp_path, engine_for(name), prose)
        return
    made = improved(name, tmp_path, engine_for(name), prose)
    assert instructions_of(made) == instructions_of(make_method("videohv"))
