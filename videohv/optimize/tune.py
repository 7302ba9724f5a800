"""A method's own settings searched for those that nothing beats in accuracy and tokens.

Each trial is a run as `videohv eval` makes it, in a directory of its own that is named by its settings. A search that
was killed goes on with the trial that was under way, in the run in which it stood; nothing is asked twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from videohv.data.dataset import Dataset
from videohv.data.taken import take
from videohv.data.whole import write_whole
from videohv.errors import InputError, VideoHVError
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.describe import manifest_of
from videohv.evaluate.journal import Journal
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.parts import accuracies
from videohv.evaluate.policies import STRICT, policies
from videohv.evaluate.runner import Ending, Progress, Run
from videohv.evaluate.setup import Setup
from videohv.evaluate.threads import ThreadWorkers
from videohv.lm.counter import Amount, Totals
from videohv.optimize.tuning.front import Tried
from videohv.optimize.tuning.plot import front_svg
from videohv.optimize.tuning.space import STRIDE, Scalar, Space
from videohv.optimize.tuning.study import Study
from videohv.types import Outcome, Question, Value

FAILURES = 0.5
"""Share of questions that may fail before a trial says nothing about its settings."""

FAILED_IN_A_ROW = 3
"""So many trials that fail one after the other mean that it is not their settings."""

STUDY, WHAT, PICTURE, TRIALS = "study.sqlite3", "tune.json", "front.svg", "trials"

_OUTSIDE = (Outcome.LM_FAILED, Outcome.OVER_BUDGET)
"""Failures that no settings are to blame for."""


class TuneStopped(VideoHVError):
    """A search ended before its end. What was tried is kept; the message says how to go on."""


class Tuning(Value):
    """What makes a search what it is.

    Args:
        run: As of a run with nothing changed.
        space: The dimensions, as the command line has them.
        seed: Of the suggestions.
    """

    schema_version: int = 1
    run: Manifest
    space: tuple[str, ...]
    seed: int

    def differences(self, other: Tuning) -> list[str]:
        """A line for everything that counts and is not the same in `other`."""
        lines = self.run.differences(other.run)
        if self.space != other.space:
            lines.append(f"space: {' '.join(self.space)} then, {' '.join(other.space)} now")
        if self.seed != other.seed:
            lines.append(f"seed of the search: {self.seed} then, {other.seed} now")
        return lines


class Tuned(NamedTuple):
    """What a search came to.

    Args:
        tried: All settings, in the order in which they were tried.
        picture: The SVG file.
    """

    tried: tuple[Tried, ...]
    picture: Path


def tune(
    setup: Setup,
    dataset: Dataset,
    questions: Sequence[Question],
    out: Path,
    *,
    space: Space,
    trials: int,
    threads: int = 1,
    failures: float = FAILURES,
    on_begin: Callable[[Answerer], object] = lambda answerer: None,
    on_trial: Callable[[Tried], object] = lambda tried: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Tuned:
    """Search settings. Called again with the same arguments it goes on where it stopped.

    Args:
        setup: How questions are answered; its settings are fixed, but for those in the space. Its seed is that of the
            suggestions too.
        dataset: Of the questions.
        questions: That every trial asks.
        out: The directory of the search.
        space: What is searched.
        trials: How many different settings are to be tried in all, earlier sittings included.
        threads: Questions at once.
        failures: Share of questions that may fail before a trial counts as failed; a failed one has no accuracy.
        on_begin: Called before the first question of this sitting is asked.
        on_trial: Called with each trial that has ended, those of earlier sittings first.
        on_progress: Told how far the run of a trial has come.

    Raises:
        MissingExtra: Optuna is not installed.
        InputError: The directory holds another search or is in use, or the right option of no question is known.
        TuneStopped: The model is gone, the budget is used up, or trial after trial fails.
    """
    if not any(question.answer_index is not None for question in questions):
        raise InputError("the right option is known of none of the questions: nothing can be tuned on them")
    with _only_one(out), setup.open() as answerer:
        manifest = manifest_of(dataset, questions, answerer, program_name=setup.program, concurrency=threads)
        _same_search(out / WHAT, Tuning(run=manifest, space=tuple(map(str, space)), seed=setup.seed))
        usual = {**answerer.program.settings.model_dump(mode="json"), STRIDE: setup.stride}
        study = Study(out / STUDY, space, setup.seed, usual)
        for one in study.tried:
            on_trial(one)
            _count_spent(setup, out / TRIALS / run_name(one.settings))
        if len(study.tried) < trials:
            on_begin(answerer)
        search = _Search(setup, answerer, dataset, questions, out, study, threads, failures, on_progress)
        try:
            for one in search.go(trials):
                on_trial(one)
        finally:
            title = f"{setup.method} on {manifest.title}, {len(questions)} questions"
            write_whole(out / PICTURE, front_svg(study.tried, title))
        return Tuned(tuple(study.tried), out / PICTURE)


class _Search:
    def __init__(
        self,
        setup: Setup,
        answerer: Answerer,
        dataset: Dataset,
        questions: Sequence[Question],
        out: Path,
        study: Study,
        threads: int,
        failures: float,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._setup, self._answerer, self._dataset, self._questions = setup, answerer, dataset, questions
        self._out, self._study, self._threads = out, study, threads
        self._failures, self._on_progress = failures, on_progress

    def go(self, trials: int) -> Iterator[Tried]:
        """Try settings until there are so many."""
        failed_in_a_row = 0
        while len(self._study.tried) < trials and (asked := self._study.ask()) is not None:
            folder = self._out / TRIALS / run_name(asked.settings)
            ending = self._run(folder, asked.settings)
            if why := self._stopped(ending):
                self._study.postpone(asked)
                raise TuneStopped(f"{why}; run the same again to go on, nothing is asked twice")
            one = _result(len(self._study.tried) + 1, asked.settings, ending, self._failures)
            self._study.tell(asked, one)
            yield one
            failed_in_a_row = failed_in_a_row + 1 if one.why else 0
            if failed_in_a_row == FAILED_IN_A_ROW:
                raise TuneStopped(f"{failed_in_a_row} trials in a row failed, the last: {one.why}")

    def _run(self, folder: Path, settings: Mapping[str, Scalar]) -> Ending:
        own = {name: value for name, value in settings.items() if name != STRIDE}
        inputs = self._answerer.inputs.strided(int(settings.get(STRIDE, self._setup.stride)))
        answerer = Answerer(self._setup.make(**own), inputs, self._answerer.limits)
        manifest = manifest_of(
            self._dataset,
            self._questions,
            answerer,
            program_name=self._setup.program,
            concurrency=self._threads,
        )
        return Run(
            folder,
            manifest,
            self._dataset,
            self._questions,
            ThreadWorkers(answerer, min(self._threads, len(self._questions))),
            # Those that failed for want of a model in a sitting that ended by it. What could not be read is in the
            # response cache, and fails again for nothing.
            retry_failed=True,
            budget=self._setup.budget,
            on_progress=self._on_progress,
        ).go()

    def _stopped(self, ending: Ending) -> str:
        """Why nothing can be said of the settings yet, and will not be of others; empty if something can."""
        lost = [row for row in ending.rows if row.outcome in _OUTSIDE]
        if len(lost) > self._failures * len(ending.rows):
            return f"{len(lost)} of {len(ending.rows)} questions failed, the last with: {lost[-1].error}"
        unasked = ending.progress.total - ending.progress.done - len(ending.crashes)
        return (ending.stopped or "it was interrupted") if unasked > 0 and not ending.crashes else ""


def run_name(settings: Mapping[str, Scalar]) -> str:
    """The name of a trial's run directory: it says what was set, and ends in what makes it that."""
    said = "-".join(f"{name}{value}" for name, value in settings.items())
    legible = "".join(c if c.isalnum() or c in ".-_" else "_" for c in said)[:80]
    digest = hashlib.sha256(json.dumps(dict(sorted(settings.items()))).encode()).hexdigest()
    return f"{legible}-{digest[:8]}"


def _result(number: int, settings: Mapping[str, Scalar], ending: Ending, failures: float) -> Tried:
    """What a finished run says of its settings."""
    rows = ending.rows
    failed = [row for row in rows if row.failed]
    sent = sum(row.prompt_tokens + row.completion_tokens for row in rows)
    tokens = sent + sum(row.spared_tokens for row in rows)
    (strict,) = accuracies(list(rows), policies((STRICT,)))
    why = ""
    if ending.crashes:
        last, crash = ending.crashes[-1]
        why = f"{len(ending.crashes)} questions crashed, the last ({last}) with: {crash}"
    elif len(failed) > failures * len(rows):
        why = f"{len(failed)} of {len(rows)} questions failed, the last ({failed[-1].id}) with: {failed[-1].error}"
    elif tokens == 0:
        why = "it took no token, or the server counts none"
    return Tried(
        number=number,
        settings=dict(settings),
        accuracy=None if why else strict.estimate,
        tokens=None if why else tokens / len(rows),
        sent=sent,
        failed=len(failed),
        questions=ending.progress.total,
        why=why,
    )


def _count_spent(setup: Setup, folder: Path) -> None:
    """Put what a trial of an earlier sitting spent on the budget of this one."""
    if setup.budget is not None and folder.is_dir():
        with Journal(folder) as journal:
            before = Amount(*map(float, journal.spent))
        setup.budget.counter.update(lambda totals: Totals(totals.spent + before, totals.held))


@contextmanager
def _only_one(out: Path) -> Iterator[None]:
    try:
        lock = take(out)
    except OSError as error:
        raise InputError(f"the directory {out} cannot be used ({error.strerror})") from error
    try:
        yield
    finally:
        lock.release()


def _same_search(path: Path, wanted: Tuning) -> None:
    if not path.is_file():
        write_whole(path, wanted.model_dump_json(indent=1))
        return
    try:
        standing = Tuning.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(f"{path} is no record of a search that this version knows: name another --out") from error
    if differences := standing.differences(wanted):
        raise InputError(
            f"{path.parent} holds a search that was made differently; name another --out, or ask as it did:\n  "
            + "\n  ".join(differences)
        )
