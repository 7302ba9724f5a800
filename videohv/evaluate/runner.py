"""A run: every question of a benchmark asked once, each on disk before the next is counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from videohv.data.dataset import Dataset
from videohv.errors import InputError
from videohv.evaluate.jobs import Done, Job, Workers
from videohv.evaluate.journal import Journal
from videohv.evaluate.manifest import Manifest, open_manifest
from videohv.evaluate.orders import permutation
from videohv.evaluate.row import Row
from videohv.lm.budget import Budget
from videohv.lm.counter import Amount, Totals
from videohv.types import Outcome, Question, Value

FAILURES_IN_A_ROW = 20
"""So many questions that end in `lm_failed` one after the other mean that the model is gone, and the run stops."""

CRASHES = 10
"""So many questions that crash the program mean that it is broken, and the run stops."""


class Progress(Value):
    """How far a run has come.

    Args:
        total: Questions (times option orders) of the run.
        done: Of them on disk, from earlier sittings too.
        scored: Of those done, how many have a known right answer.
        right: Of those scored.
        failed: Of those done, ended without an answer and without having declined one.
        crashed: Asked in this sitting, not on disk.
        calls: LM calls of the whole run, repeated questions included.
        tokens: Likewise, prompt and reply.
        cost: Likewise, US dollars as far as prices are known.
        seconds: Of this sitting.
        left: Seconds that are probably left; None before anything is known.
    """

    total: int
    done: int = 0
    scored: int = 0
    right: int = 0
    failed: int = 0
    crashed: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    left: float | None = None


class Ending(Value):
    """How a sitting ended.

    Args:
        rows: The latest row of every question on disk, in the order in which the questions are asked.
        progress: At the end.
        asked: Questions asked in this sitting.
        crashes: (question id, exception) of those that crashed the program. They are not on disk and will be asked
            again.
        stopped: Why it stopped before the end, or empty.
    """

    rows: tuple[Row, ...]
    progress: Progress
    asked: int
    crashes: tuple[tuple[str, str], ...] = ()
    stopped: str = ""


@dataclass
class Run:
    """A run and what it needs.

    Args:
        folder: The run's directory.
        manifest: What makes it what it is; compared with the one that is there.
        dataset: What the questions are of; it knows other names of their videos and what is said in them.
        questions: Those that are asked, in that order.
        workers: Who asks them.
        retry_failed: Ask those again that failed in an earlier sitting.
        budget: Of the run; what earlier sittings spent is put on it first. No question is begun once it is used up.
        on_begin: Called before the first question is asked, if there is one to ask; what it raises ends the run.
        on_progress: Called when it begins and after each question.
    """

    folder: Path
    manifest: Manifest
    dataset: Dataset
    questions: Sequence[Question]
    workers: Workers
    retry_failed: bool = False
    budget: Budget | None = None
    on_begin: Callable[[], object] = lambda: None
    on_progress: Callable[[Progress], None] = lambda progress: None
    _stopped: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if tuple(question.id for question in self.questions) != self.manifest.question_ids:
            raise InputError("the questions are not those of the manifest")

    def go(self) -> Ending:
        """Ask what has not been asked yet.

        Raises:
            InputError: If the directory is in use, holds another run, or its journal is damaged.
            VideoHVError: If the journal can't be written, or a worker process died.
        """
        with Journal(self.folder) as journal:
            open_manifest(self.folder, self.manifest)
            if self.budget is not None:
                before = Amount(*map(float, journal.spent))
                self.budget.counter.update(lambda totals: Totals(totals.spent + before, totals.held))
            tally = _Tally(self._total, journal)
            self.on_progress(tally.progress)
            crashes: list[tuple[str, str]] = []
            lost_in_a_row = 0
            results = self.workers.run(self._jobs(journal))
            try:
                for done in results:
                    if done.row is None:
                        crashes.append((done.job.question.id, done.crash))
                    else:
                        journal.append(done.row, done.trace_json)
                        lost_in_a_row = lost_in_a_row + 1 if done.row.outcome is Outcome.LM_FAILED else 0
                    tally.add(done)
                    self.on_progress(tally.progress)
                    if lost_in_a_row >= FAILURES_IN_A_ROW:
                        self._stopped = f"{lost_in_a_row} questions in a row failed, the last with: {_error(done)}"
                    elif len(crashes) >= CRASHES:
                        self._stopped = f"{len(crashes)} questions crashed, the last with: {done.crash}"
            finally:
                close = getattr(results, "close", None)
                if close is not None:
                    close()
            order = {key: i for i, key in enumerate(self._keys())}
            rows = sorted((e.row for k, e in journal.entries.items() if k in order), key=lambda row: order[row.key])
            return Ending(
                rows=tuple(rows),
                progress=tally.progress,
                asked=tally.asked,
                crashes=tuple(crashes),
                stopped=self._stopped,
            )

    @property
    def _total(self) -> int:
        return len(self.questions) * self.manifest.orders

    def _keys(self) -> Iterator[tuple[str, int]]:
        return ((question.id, order) for order in range(self.manifest.orders) for question in self.questions)

    def _jobs(self, journal: Journal) -> Iterator[Job]:
        """What is still to be asked, decided when there is room for it."""
        standing = {key: entry.row.failed for key, entry in journal.entries.items()}
        begun = False
        for order in range(self.manifest.orders):
            for question in self.questions:
                failed = standing.get((question.id, order))
                if failed is False or (failed and not self.retry_failed):
                    continue
                if self.budget is not None and self.budget.is_used_up():
                    self._stopped = self._stopped or "the budget of the run is used up"
                if self._stopped:
                    return
                if not begun:
                    begun = True
                    self.on_begin()
                yield Job(
                    question,
                    order,
                    permutation(question, order, self.manifest.seed),
                    self.dataset.names_of(question)[1:],
                    self.dataset.extra_captions(question),
                )


class _Tally:
    """The figures of `Progress`, kept up to date without going through all rows each time."""

    def __init__(self, total: int, journal: Journal) -> None:
        self._journal, self._total = journal, total
        self._began = time.monotonic()
        self._standing = {key: entry.row for key, entry in journal.entries.items()}
        rows = self._standing.values()
        self._scored = sum(row.right is not None for row in rows)
        self._right = sum(row.right is True for row in rows)
        self._failed = sum(row.failed for row in rows)
        self._crashed = 0
        self.asked = 0

    def add(self, done: Done) -> None:
        self.asked += 1
        row = done.row
        if row is None:
            self._crashed += 1
            return
        for sign, one in ((-1, self._standing.get(row.key)), (1, row)):
            if one is not None:
                self._scored += sign * (one.right is not None)
                self._right += sign * (one.right is True)
                self._failed += sign * one.failed
        self._standing[row.key] = row

    @property
    def progress(self) -> Progress:
        seconds = time.monotonic() - self._began
        done = len(self._standing)
        spent = self._journal.spent
        return Progress(
            total=self._total,
            done=done,
            scored=self._scored,
            right=self._right,
            failed=self._failed,
            crashed=self._crashed,
            calls=spent.calls,
            tokens=spent.tokens,
            cost=spent.cost,
            seconds=seconds,
            left=seconds / self.asked * (self._total - done) if self.asked else None,
        )


def _error(done: Done) -> str:
    return done.row.error if done.row is not None else done.crash
