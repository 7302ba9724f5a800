"""Seed and compiled program on the held-out part, each as a run of its own that `videohv compare` can read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from videohv.data.dataset import Dataset
from videohv.errors import VideoHVError
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.compare import Comparison, compare
from videohv.evaluate.describe import manifest_of
from videohv.evaluate.jobs import Job
from videohv.evaluate.journal import read_rows, read_traces
from videohv.evaluate.paired import difference_interval, sign_flip
from videohv.evaluate.runner import Progress, Run
from videohv.evaluate.statistics import by_cluster, estimate
from videohv.evaluate.threads import ThreadWorkers
from videohv.lm.budget import OverBudget
from videohv.optimize.guard import Reason
from videohv.optimize.metrics.metric import Metric
from videohv.types import Estimate, Outcome, Question, Trace, Value


class Incomplete(VideoHVError):
    """A scoring ended before all questions were asked; those that were are on disk.

    Attributes:
        reason: Why it did.
    """

    def __init__(self, reason: Reason, why: str) -> None:
        super().__init__(why)
        self.reason = reason


class Proof(Value):
    """How the compiled program compares with the seed, on questions that no optimizer saw.

    Args:
        metric: What it was compiled for.
        seed: Mean of the metric over the test part.
        compiled: The same of the compiled program.
        difference: compiled - seed, paired, with its 95 % interval by resampling whole recordings.
        p: Two-sided, that there is none, by flipping the sign of whole recordings.
        accuracy: Accuracies, tests and costs beside each other, as `videohv compare` shows them.
    """

    metric: str
    seed: Estimate
    compiled: Estimate
    difference: Estimate
    p: float
    accuracy: Comparison

    @property
    def is_worse(self) -> bool:
        """Whether the compiled program did worse."""
        return self.difference.value < 0

    @property
    def is_equal(self) -> bool:
        """Whether they did the same."""
        return self.difference.value == 0


def score(
    answerer: Answerer,
    dataset: Dataset,
    questions: tuple[Question, ...],
    folder: Path,
    *,
    name: str,
    threads: int,
    failures: float,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Ask a program the questions of the held-out part, or go on where an earlier sitting stopped.

    What failed in an earlier sitting is asked again: a fault that has passed must not count against a program. Replies
    that could not be used come out of the response cache as they were.

    Args:
        answerer: Asks the program.
        dataset: Of the questions.
        questions: Of the test part.
        folder: The run's directory.
        name: What the program is called in the run's manifest.
        threads: Questions at once.
        failures: Share of questions that may fail for want of a model.
        on_progress: Called after each question.

    Raises:
        Incomplete: Not all questions could be asked, or more failed than may.
        InputError, VideoHVError: As `Run.go`.
    """
    manifest = manifest_of(dataset, questions, answerer, program_name=name, concurrency=threads)

    def answer(job: Job) -> Trace:
        trace = answerer(job)
        if trace.outcome is Outcome.OVER_BUDGET:
            # Not a result of the program: the question stays unasked, for a sitting that has more to spend.
            raise OverBudget(trace.error)
        return trace

    ending = Run(
        folder,
        manifest,
        dataset,
        questions,
        ThreadWorkers(answer, min(threads, len(questions))),
        retry_failed=True,
        on_begin=answerer.inputs.ready,
        on_progress=on_progress,
    ).go()
    missing = ending.progress.total - ending.progress.done
    if missing or ending.stopped:
        last = ending.crashes[-1][1] if ending.crashes else ""
        reason = Reason.BUDGET if last.startswith(OverBudget.__name__) else Reason.OUTAGE
        why = last or ending.stopped or "it was interrupted"
        raise Incomplete(reason, f"{missing} of {ending.progress.total} test questions are not asked yet: {why}")
    lost = [row for row in ending.rows if row.outcome is Outcome.LM_FAILED]
    if len(lost) > failures * len(ending.rows):
        raise Incomplete(
            Reason.OUTAGE,
            f"{len(lost)} of {len(ending.rows)} test questions failed for want of a model, the last with: "
            f"{lost[-1].error}",
        )


def prove(seed: Path, compiled: Path, metric: Metric, questions: tuple[Question, ...]) -> Proof:
    """The paired comparison of two finished runs.

    Args:
        seed: Run directory of the seed.
        compiled: Of the compiled program.
        metric: What is compared.
        questions: Of the test part.

    Raises:
        InputError: A run is missing or damaged, or the metric cannot score the questions.
    """
    first, second = _values(seed, metric, questions), _values(compiled, metric, questions)
    recordings = [question.recording for question in questions]
    a, b = (np.array([of[q.id] for q in questions], dtype=np.float64) for of in (first, second))
    sizes, totals = by_cluster(b - a, recordings)
    value = float(totals.sum() / len(questions))
    low, high = difference_interval(sizes, totals)
    mean_a, mean_b = estimate(a, recordings), estimate(b, recordings)
    assert mean_a is not None
    assert mean_b is not None
    return Proof(
        metric=metric.name,
        seed=mean_a,
        compiled=mean_b,
        difference=Estimate(
            value=value, low=min(low, value), high=max(high, value), n=len(questions), clusters=len(sizes)
        ),
        p=sign_flip(totals),
        accuracy=compare(read_rows(seed), read_rows(compiled)),
    )


def _values(folder: Path, metric: Metric, questions: tuple[Question, ...]) -> dict[str, float]:
    known = {question.id: question for question in questions}
    return {row.id: metric(known[row.id], trace).value for row, trace in read_traces(folder) if row.id in known}
