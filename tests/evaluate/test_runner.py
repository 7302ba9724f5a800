"""A run: resumed, stopped, retried, never twice and never invented."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from videohv.data.card import Card, Split
from videohv.data.dataset import Dataset
from videohv.errors import InputError, VideoHVError
from videohv.evaluate.jobs import Answerer, Job
from videohv.evaluate.journal import NAME, read_rows
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.runner import CRASHES, FAILURES_IN_A_ROW, Ending, Progress, Run
from videohv.evaluate.threads import ThreadWorkers
from videohv.lm.budget import Budget
from videohv.lm.counter import Amount, Totals
from videohv.types import Answer, Model, Outcome, Question, RoleUsage, Trace


def questions(count: int) -> list[Question]:
    return [
        Question(id=f"q{i:03d}", video=f"v{i // 2}", text="Which?", options=("a", "b", "c"), answer_index=i % 3)
        for i in range(count)
    ]


def dataset(asked: list[Question]) -> Dataset:
    card = Card(name="own", title="Own", splits=(Split(name="all"),))
    return Dataset(benchmark="own", split="all", card=card, questions=tuple(asked), content_hash="")


class Asked:
    """An answerer that remembers whom it was asked and fails where it is told to."""

    def __init__(self, failing: dict[str, Outcome | Exception] | None = None) -> None:
        self.failing = failing or {}
        self.ids: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, job: Job) -> Trace:
        question = job.shown
        with self._lock:
            self.ids.append(question.id)
        failure = self.failing.get(question.id)
        if isinstance(failure, Exception):
            raise failure
        if failure is not None:
            return Trace(question=question, outcome=failure, error="as told")
        right = question.options.index("a")
        return Trace(question=question, outcome=Outcome.ANSWERED, answer=Answer(option_index=right))


def run(
    folder: Path, asked: list[Question], answer: Answerer, count: int = 4, orders: int = 1, **more: object
) -> Ending:
    manifest = Manifest(benchmark="own", question_ids=tuple(q.id for q in asked), orders=orders)
    return Run(folder, manifest, dataset(asked), asked, ThreadWorkers(answer, count), **more).go()  # type: ignore[arg-type]


def test_every_question_is_asked_once_and_rows_are_in_order(tmp_path: Path) -> None:
    answer = Asked()
    ending = run(tmp_path, questions(50), answer)
    assert sorted(answer.ids) == [q.id for q in questions(50)]
    assert [row.id for row in ending.rows] == [q.id for q in questions(50)]
    assert (ending.progress.done, ending.progress.scored, ending.progress.right) == (50, 50, 17)
    assert ending.stopped == ""


def test_a_finished_run_asks_nothing(tmp_path: Path) -> None:
    run(tmp_path, questions(5), Asked())
    again = Asked()
    ending = run(tmp_path, questions(5), again)
    assert again.ids == []
    assert len(ending.rows) == 5
    assert ending.asked == 0


def test_failed_ones_are_asked_again_only_when_wanted(tmp_path: Path) -> None:
    failing: dict[str, Outcome | Exception] = {"q001": Outcome.PARSE_FAILED, "q003": Outcome.ABSTAINED}
    first = run(tmp_path, questions(5), Asked(failing))
    assert (first.progress.failed, first.progress.done) == (1, 5)
    assert run(tmp_path, questions(5), untouched := Asked()).progress.failed == 1
    assert untouched.ids == []
    healed = run(tmp_path, questions(5), again := Asked(), retry_failed=True)
    assert again.ids == ["q001"]
    assert (healed.progress.failed, healed.progress.right) == (0, 1)
    assert [row.outcome for row in healed.rows].count(Outcome.ABSTAINED) == 1


def test_a_crash_costs_one_question_and_is_asked_again(tmp_path: Path) -> None:
    ending = run(tmp_path, questions(5), Asked({"q002": RuntimeError("a bug")}))
    assert ending.crashes == (("q002", "RuntimeError: a bug"),)
    assert [row.id for row in ending.rows] == ["q000", "q001", "q003", "q004"]
    assert run(tmp_path, questions(5), again := Asked()).progress.done == 5
    assert again.ids == ["q002"]


def test_a_program_that_crashes_all_the_time_stops_the_run(tmp_path: Path) -> None:
    ending = run(tmp_path, questions(60), Asked({q.id: KeyError("x") for q in questions(60)}), count=1)
    assert len(ending.crashes) == CRASHES
    assert "10 questions crashed" in ending.stopped


def test_a_model_that_is_gone_stops_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    gone: dict[str, Outcome | Exception] = {q.id: Outcome.LM_FAILED for q in questions(90)[10:]}
    ending = run(tmp_path, questions(90), Asked(gone), count=1)
    assert ending.stopped == f"{FAILURES_IN_A_ROW} questions in a row failed, the last with: as told"
    assert len(read_rows(tmp_path)) == 10 + FAILURES_IN_A_ROW
    assert run(tmp_path, questions(90), Asked(), retry_failed=True).progress.done == 90


def test_a_budget_that_is_used_up_stops_the_run_in_every_sitting(tmp_path: Path) -> None:
    class Costly(Asked):
        def __call__(self, job: Job) -> Trace:
            budget.counter.update(lambda totals: Totals(totals.spent + Amount(calls=2), totals.held))
            usage = (RoleUsage(role="answer", calls=2),)
            return super().__call__(job).model_copy(update={"usage": usage})

    budget = Budget("run", max_calls=6)
    ending = run(tmp_path, questions(9), Costly(), count=1, budget=budget)
    assert ending.stopped == "the budget of the run is used up"
    assert len(ending.rows) == 3
    budget = Budget("run", max_calls=8)
    assert len(run(tmp_path, questions(9), Costly(), count=1, budget=budget).rows) == 4
    assert budget.spent.calls == 8


def test_another_manifest_is_refused_by_name(tmp_path: Path) -> None:
    asked = questions(3)
    ids = tuple(q.id for q in asked)

    def manifest(temperature: float, **changes: object) -> Manifest:
        model = Model(role="judge", name="fake/model", parameters={"temperature": temperature})
        return Manifest(benchmark="own", question_ids=ids, models=(model,), settings={"rounds": 3, **changes})

    Run(tmp_path, manifest(0.0), dataset(asked), asked, ThreadWorkers(Asked(), 1)).go()
    with pytest.raises(InputError) as refused:
        Run(tmp_path, manifest(0.7, rounds=2, looks=1), dataset(asked), asked, ThreadWorkers(again := Asked(), 1)).go()
    assert "models.judge.parameters.temperature: 0.0 then, 0.7 now" in str(refused.value)
    assert "settings.rounds: 3 then, 2 now" in str(refused.value)
    assert "settings.looks: (none) then, 1 now" in str(refused.value)
    assert again.ids == []
    with pytest.raises(InputError, match=r"questions: 3 then, 4 now \(0 left out, 1 added\)"):
        run(tmp_path, questions(4), Asked())


def test_option_orders_are_asked_one_after_the_other(tmp_path: Path) -> None:
    ending = run(tmp_path, questions(4), Asked(), orders=3)
    assert len(ending.rows) == 12
    assert {row.order for row in ending.rows} == {0, 1, 2}
    # Whatever the order, "a" is answered: the same option of the benchmark, shown elsewhere.
    assert {row.answer_index for row in ending.rows} == {0}
    assert {row.shown_index for row in ending.rows if row.order == 1} == {2}


def test_progress_is_told_after_each_question(tmp_path: Path) -> None:
    told: list[Progress] = []
    run(tmp_path, questions(6), Asked({"q004": Outcome.CONTENT_FILTERED}), on_progress=told.append)
    assert [p.done for p in told] == list(range(7))
    assert told[-1].failed == 1
    assert told[0].left is None
    assert told[-1].left == 0.0


def test_interrupted_in_the_middle_nothing_further_is_begun(tmp_path: Path) -> None:
    answer = Asked()

    def interrupt(progress: Progress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, questions(40), answer, count=1, on_progress=interrupt)
    assert len(read_rows(tmp_path)) == 3
    run(tmp_path, questions(40), again := Asked())
    assert len(again.ids) == 37


def test_a_journal_that_cannot_be_written_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises((VideoHVError, OSError)):
        run(tmp_path, questions(3), Asked())


def test_jobs_are_taken_only_when_there_is_room() -> None:
    taken: list[str] = []

    def jobs() -> Iterator[Job]:
        for question in questions(20):
            taken.append(question.id)
            yield Job(question)

    results = ThreadWorkers(Asked(), 3).run(jobs())
    next(results)
    assert len(taken) <= 4
    results.close()  # type: ignore[attr-defined]
