"""What is changed in DSPy for the time of a compile; each test fails when DSPy no longer needs it, or changes."""

from __future__ import annotations

import inspect
import logging
import sys
import threading
from importlib import import_module

import dspy
import pytest
from dspy.utils.parallelizer import ParallelExecutor

from videohv.optimize.learner.shims import PatientExecutor, aloud, quiet, shimmed

MODULES = ("dspy.evaluate.evaluate", "dspy.predict.parallel")


def test_dspy_still_asks_slow_examples_twice_and_lets_nobody_say_otherwise() -> None:
    assert inspect.signature(ParallelExecutor).parameters["timeout"].default == 120
    assert not {"timeout", "straggler_limit"} & set(inspect.signature(dspy.Evaluate).parameters)


@pytest.mark.parametrize(("kind", "times"), [(ParallelExecutor, 2), (PatientExecutor, 1)])
def test_a_slow_example_is_asked_once(kind: type[ParallelExecutor], times: int) -> None:
    asked: list[int] = []
    again = threading.Event()

    def slow(item: int) -> int:
        asked.append(item)
        if len(asked) == 2:
            again.set()
        # The executor looks at its stragglers once a second.
        again.wait(60 if times == 2 else 2)
        return item

    executor = kind(num_threads=2, disable_progress_bar=True, timeout=0.1)
    assert executor.execute(slow, [1]) == [1]
    assert len(asked) == times


@pytest.mark.parametrize("module", MODULES)
def test_it_is_used_where_dspy_makes_executors_and_only_meanwhile(module: str) -> None:
    home = import_module(module)
    with shimmed():
        with shimmed():
            assert home.ParallelExecutor is PatientExecutor
        assert home.ParallelExecutor is PatientExecutor
    assert home.ParallelExecutor is ParallelExecutor


def test_bootstrapping_draws_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    from dspy.teleprompt import BootstrapFewShot

    student = dspy.Predict("x -> y")
    example = dspy.Example(x="1").with_inputs("x")
    for quietly in (False, True):
        with dspy.context(lm=dspy.utils.DummyLM([{"y": "2"}])):
            if quietly:
                with shimmed():
                    BootstrapFewShot(max_labeled_demos=0).compile(student, trainset=[example])
            else:
                BootstrapFewShot(max_labeled_demos=0).compile(student, trainset=[example])
        assert ("100%" in capsys.readouterr().err) is not quietly


def test_only_what_is_said_aloud_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("gepa")
    before = logger.level
    with quiet():
        print("a whole prompt")
        assert not logger.isEnabledFor(logging.INFO)
        assert logger.isEnabledFor(logging.WARNING)
        with aloud():
            print("a trial")
        print("another prompt")
    print("after", file=sys.stdout)
    assert capsys.readouterr().out == "a trial\nafter\n"
    assert logger.level == before
