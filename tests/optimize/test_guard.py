"""When a compile stops, why, and that it does so through all of DSPy."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMAuthError, LMInvalidRequestError, LMServerError

from tests.support.engine import FakeEngine, Seen, default_reply, fake_lm
from tests.support.learning import a_task, all_right, an_example, asked, number_in
from videohv.errors import InputError, OptimizerFailed
from videohv.lm.budget import Budget, spending
from videohv.lm.faults import Patience, patient
from videohv.optimize.guard import CompileStopped, Guard, GuardLimits, Reason, Tripped, guarding
from videohv.optimize.learner.border import border
from videohv.optimize.learner.prompt_lm import ROLE, watched_lm
from videohv.optimize.learner.student import Student
from videohv.optimize.metrics.metric import Score

DOWN = LMServerError("the server is on fire", model="fake", status=500)


def evaluated(folder: Path, threads: int = 1, **changes: Any) -> float:
    """All training questions through DSPy's own evaluation."""
    task = a_task(folder, changes.pop("program", "captions"), threads=threads, **changes)
    with border(task) as there:
        evaluate = dspy.Evaluate(devset=list(task.train), metric=there.metric, num_threads=threads)
        return float(evaluate(there.student()).score)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_outage_stops_everything(tmp_path: Path, threads: int) -> None:
    with (
        asked({"captions.answer": DOWN}) as engine,
        guarding(Guard(GuardLimits(outage=3))),
        pytest.raises(CompileStopped) as stopped,
    ):
        evaluated(tmp_path, threads, train=tuple(an_example(n) for n in range(40)))
    assert stopped.value.reason is Reason.OUTAGE
    assert "captions.answer got no reply for 3 questions in a row" in str(stopped.value)
    assert "on fire" in str(stopped.value)
    assert isinstance(stopped.value, OptimizerFailed)
    assert 3 <= len(engine.requests) <= 3 + threads


def test_an_outage_of_one_role_is_one_although_questions_are_answered(tmp_path: Path) -> None:
    with (
        asked({**all_right(), "judge": DOWN}),
        guarding(Guard(GuardLimits(outage=2))),
        pytest.raises(CompileStopped, match="judge got no reply") as stopped,
    ):
        evaluated(tmp_path, program="videohv")
    assert stopped.value.reason is Reason.OUTAGE


def test_single_failures_are_none(tmp_path: Path) -> None:
    def sometimes(seen: Seen) -> Any:
        return DOWN if number_in(seen) % 2 else default_reply(seen)

    with asked({"captions.answer": sometimes}), guarding(Guard(GuardLimits(outage=2))) as guard:
        assert evaluated(tmp_path) == pytest.approx(100 / 6, abs=0.01)
    assert (guard.questions, guard.failures) == (6, 3)


def test_a_missing_key_stops_at_once(tmp_path: Path) -> None:
    refused = LMAuthError("no such key", model="fake", status=401)
    with asked({"captions.answer": refused}) as engine, pytest.raises(CompileStopped) as stopped:
        evaluated(tmp_path)
    assert stopped.value.reason is Reason.HOPELESS
    assert len(engine.requests) == 1


def test_prompts_that_are_too_long_are_no_outage(tmp_path: Path) -> None:
    from dspy.utils.exceptions import ContextWindowExceededError

    long = ContextWindowExceededError(message="too long", model="fake")
    with asked({"captions.answer": long, "summary": long}), guarding(Guard(GuardLimits(outage=2))) as guard:
        assert evaluated(tmp_path) == 0.0
    assert guard.failures == 6


@pytest.mark.parametrize("threads", [1, 2])
def test_too_many_failures_stop_it(tmp_path: Path, threads: int) -> None:
    with (
        asked({"captions.answer": "no JSON at all"}),
        guarding(Guard(GuardLimits(failed=0.5, after=4))) as guard,
        pytest.raises(CompileStopped, match=r"questions failed, the last with: captions\.answer") as stopped,
    ):
        evaluated(tmp_path, threads, train=tuple(an_example(n) for n in range(30)))
    assert stopped.value.reason is Reason.FAILURES
    assert 4 <= guard.questions <= 4 + threads


@pytest.mark.parametrize("threads", [1, 3])
def test_a_budget_counts_in_dspys_threads_and_stops_it(tmp_path: Path, threads: int) -> None:
    budget = Budget("compile", max_calls=4)
    with (
        asked() as engine,
        spending(budget),
        pytest.raises(CompileStopped, match="a compile may use 4 calls") as stopped,
    ):
        evaluated(tmp_path, threads)
    assert stopped.value.reason is Reason.BUDGET
    assert len(engine.requests) == budget.spent.calls == 4


def test_patience_counts_in_dspys_threads(tmp_path: Path) -> None:
    seen: list[float] = []

    def look(_: Seen) -> Any:
        from videohv.lm.faults import patience

        seen.append(patience().longest)
        return {"reasoning": "so", "answer": "A", "confidence": 1}

    with asked({"captions.answer": look}), patient(Patience(longest=7.0)):
        evaluated(tmp_path, 2)
    assert set(seen) == {7.0}


def test_a_metric_that_cannot_score_stops_it_instead_of_scoring_nought(tmp_path: Path) -> None:
    class Picky:
        name = "picky"

        def __call__(self, question: Any, trace: Any) -> Score:
            raise InputError("it has no annotated span")

    with (
        asked(),
        pytest.raises(CompileStopped, match=r"'picky' cannot score question 'q0'.*no annotated span") as stopped,
    ):
        evaluated(tmp_path, metric=Picky())
    assert stopped.value.reason is Reason.METRIC


def test_an_interruption_is_typed(tmp_path: Path) -> None:
    def interrupts(seen: Seen) -> Any:
        if number_in(seen) == 2:
            raise KeyboardInterrupt
        return default_reply(seen)

    with asked({"captions.answer": interrupts}), pytest.raises(CompileStopped) as stopped:
        evaluated(tmp_path)
    assert stopped.value.reason is Reason.INTERRUPTED


def test_no_further_call_is_begun_once_it_has_tripped(tmp_path: Path) -> None:
    guard = Guard()
    student = Student(a_task(tmp_path).program, ["answer.predict"], guard)
    guard.trip(Reason.OUTAGE, "gone")
    guard.trip(Reason.BUDGET, "later")
    with asked() as engine, pytest.raises(Tripped, match="gone"):
        student(**an_example(0).inputs())
    assert engine.requests == []
    assert guard.why == (Reason.OUTAGE, "gone")


@pytest.mark.parametrize("threads", [1, 3])
def test_dspy_does_not_swallow_it(tmp_path: Path, threads: int) -> None:
    guard = Guard()
    task = a_task(tmp_path)
    student = Student(task.program, ["answer.predict"], guard)
    guard.trip(Reason.OUTAGE, "gone")
    evaluate = dspy.Evaluate(devset=list(task.train), metric=lambda *_: 1.0, num_threads=threads)
    with pytest.raises(Tripped):
        evaluate(student)


def test_running_questions_stop_at_their_next_call(tmp_path: Path) -> None:
    guard = Guard()

    def trips(seen: Seen) -> Any:
        guard.trip(Reason.OUTAGE, "gone")
        return default_reply(seen)

    student = Student(a_task(tmp_path).program, ["answer.predict"], guard)
    with asked({"thinker": trips}) as engine, pytest.raises(Tripped):
        student(**an_example(0).inputs())
    assert engine.roles[-1] == "thinker"


def test_an_error_of_the_optimizer_is_typed(tmp_path: Path) -> None:
    with pytest.raises(OptimizerFailed, match="the optimizer failed: KeyError: 'x'"), border(a_task(tmp_path)):
        raise KeyError("x")


def test_what_an_optimizer_made_of_a_trip_that_it_swallowed_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(CompileStopped, match="gone"), border(a_task(tmp_path)) as there:
        there.guard.trip(Reason.OUTAGE, "gone")


def test_settings_are_as_before_afterwards(tmp_path: Path) -> None:
    before = dict(dspy.settings.copy())
    with border(a_task(tmp_path)):
        assert dspy.settings.disable_history
    assert dict(dspy.settings.copy()) == before


class TestPromptLM:
    def lm(self, reply: Any, guard: Guard) -> tuple[dspy.BaseLM, FakeEngine]:
        lm, engine = fake_lm({"unknown": reply})
        return watched_lm(lm, guard), engine

    def test_it_answers_and_is_booked(self) -> None:
        guard = Guard()
        lm, engine = self.lm("Write better.", guard)
        assert lm("What is better?") == ["Write better."]
        assert lm.copy(rollout_id=1, temperature=1.0)("And now?") == ["Write better."]
        assert engine.requests[1].temperature == 1.0
        assert [(row.role, row.calls) for row in guard.ledger.by_role()] == [(ROLE, 2)]
        assert isinstance(lm, dspy.LM)

    def test_predictors_use_it(self) -> None:
        lm, _ = self.lm("[[ ## better ## ]]\nso\n\n[[ ## completed ## ]]", Guard())
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
            assert dspy.Predict("worse -> better")(worse="thus").better == "so"

    def test_without_a_model_nothing_goes_on(self) -> None:
        guard = Guard()
        lm, _ = self.lm(DOWN, guard)
        with pytest.raises(Tripped, match="which writes the prompts, gave no reply"):
            lm("What is better?")
        assert guard.why is not None
        assert guard.why[0] is Reason.OUTAGE

    def test_a_prompt_that_will_not_do_is_the_optimizers_own_affair(self) -> None:
        guard = Guard()
        lm, _ = self.lm(LMInvalidRequestError("nonsense", model="fake", status=400), guard)
        with pytest.raises(LMInvalidRequestError):
            lm("What is better?")
        assert guard.why is None

    def test_budgets_count(self) -> None:
        guard = Guard()
        lm, _ = self.lm("so", guard)
        with spending(Budget("compile", max_calls=1)), guard.watching():
            lm("one")
            found: list[BaseException] = []

            def elsewhere() -> None:
                try:
                    lm("two")
                except Tripped as error:
                    found.append(error)

            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
        assert "a compile may use 1 calls" in str(found[0])
