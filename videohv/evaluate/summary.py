"""Everything that a run's rows say, in one frozen value: what tables show and `--json` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from videohv.evaluate.bias import Bias, option_bias
from videohv.evaluate.calibration import Calibration, calibration
from videohv.evaluate.grounding import Grounding, grounding
from videohv.evaluate.parts import Accuracy, Groups, Part, accuracies, parts_of
from videohv.evaluate.policies import policies
from videohv.evaluate.row import Row
from videohv.evaluate.spending import Spent, spending, stages
from videohv.evaluate.statistics import estimate
from videohv.types import Estimate, Outcome, Status, Value

_EXAMPLES = 3
_ERROR_CHARACTERS = 160


class StatusRow(Value):
    """How the questions ended whose last check came to a status; None is for those that no check was made of."""

    status: Status | None
    right: int
    wrong: int
    abstained: int
    failed: int
    unscored: int
    accuracy: Estimate | None


class Count(Value):
    """A name and how often it occurs."""

    name: str
    count: int


class Failure(Value):
    """Failures of one kind: their outcome, the first line of their error, how many, and the ids of a few."""

    outcome: Outcome
    error: str
    count: int
    examples: tuple[str, ...]


class RunSummary(Value):
    """A run in figures.

    Args:
        n: Finished questions, each option order counted.
        expected: How many there will be when the run is finished; None if not known.
        questions: Different questions among the finished.
        recordings: Different recordings among them.
        labelled: Finished questions whose right option is known. The others are unscored, never wrong.
        outcomes: How they ended, by outcome, all outcomes that occur.
        failed: Share of all that ended in a failure.
        abstained: Share of all that were declined.
        accuracy: Under every policy.
        parts: The same for the questions of each kind.
        statuses: Status of the last check against correctness.
        calibration: Confidence against correctness.
        spending: Calls, tokens, money and time a question.
        cached_prompt_share: Of the prompt tokens, read from the provider's prompt cache; None without tokens.
        stages: Seconds by role.
        failures: By kind, the most frequent first.
        degraded: Steps that questions had to do without, and how many questions.
        degraded_questions: Questions that had to do without at least one.
        grounding: Windows against annotated spans, where the benchmark has some.
        bias: Influence of the option order, where there are several.
    """

    n: int
    expected: int | None
    questions: int
    recordings: int
    labelled: int
    outcomes: tuple[Count, ...]
    failed: Estimate | None
    abstained: Estimate | None
    accuracy: tuple[Accuracy, ...]
    parts: tuple[Part, ...]
    statuses: tuple[StatusRow, ...]
    calibration: Calibration | None
    spending: tuple[Spent, ...]
    cached_prompt_share: float | None
    stages: tuple[Spent, ...]
    failures: tuple[Failure, ...]
    degraded: tuple[Count, ...]
    degraded_questions: int
    grounding: Grounding | None
    bias: Bias | None


def summarise(
    rows: Iterable[Row],
    *,
    groups: Groups = (),
    by: Sequence[str] | None = None,
    policy: Sequence[str] = (),
    expected: int | None = None,
) -> RunSummary:
    """Everything that the rows say; the order in which they come changes nothing.

    Args:
        rows: One a question and option order.
        groups: The benchmark's groups of types, in the order in which they are shown. Groups may share types.
        by: What to break down by: `type`, `group`, names of facets. None is all there are.
        policy: Names of the policies; none means all.
        expected: How many rows the finished run will have.

    Raises:
        InputError: If `by` or `policy` names something that there is not.
    """
    rows = sorted(rows, key=lambda row: row.key)
    chosen = policies(tuple(policy))
    recordings = [row.recording for row in rows]
    outcomes = Counter(row.outcome for row in rows)
    prompt_tokens = sum(row.prompt_tokens for row in rows)
    return RunSummary(
        n=len(rows),
        expected=expected,
        questions=len({row.id for row in rows}),
        recordings=len(set(recordings)),
        labelled=sum(row.right is not None for row in rows),
        outcomes=tuple(Count(name=outcome, count=outcomes[outcome]) for outcome in Outcome if outcomes[outcome]),
        failed=estimate([float(row.failed) for row in rows], recordings),
        abstained=estimate([float(row.outcome is Outcome.ABSTAINED) for row in rows], recordings),
        accuracy=accuracies(rows, chosen),
        parts=parts_of(rows, groups, by, chosen),
        statuses=_statuses(rows),
        calibration=calibration(rows),
        spending=spending(rows),
        cached_prompt_share=sum(row.cached_prompt_tokens for row in rows) / prompt_tokens if prompt_tokens else None,
        stages=stages(rows),
        failures=_failures(rows),
        degraded=_degraded(rows),
        degraded_questions=sum(bool(row.degraded) for row in rows),
        grounding=grounding(rows),
        bias=option_bias(rows),
    )


def _statuses(rows: list[Row]) -> tuple[StatusRow, ...]:
    made = []
    for status in (*Status, None):
        inside = [row for row in rows if row.status == status]
        judged = [row for row in inside if row.outcome is Outcome.ANSWERED and row.right is not None]
        right = sum(row.right is True for row in judged)
        if inside:
            made.append(
                StatusRow(
                    status=status,
                    right=right,
                    wrong=len(judged) - right,
                    abstained=sum(row.outcome is Outcome.ABSTAINED for row in inside),
                    failed=sum(row.failed for row in inside),
                    unscored=sum(row.outcome is Outcome.ANSWERED and row.right is None for row in inside),
                    accuracy=estimate([float(row.right is True) for row in judged], [row.recording for row in judged]),
                )
            )
    return tuple(made)


def _failures(rows: list[Row]) -> tuple[Failure, ...]:
    kinds: dict[tuple[Outcome, str], list[str]] = {}
    for row in rows:
        if row.failed:
            first = row.error.strip().partition("\n")[0][:_ERROR_CHARACTERS]
            kinds.setdefault((row.outcome, first), []).append(row.id)
    return tuple(
        Failure(outcome=outcome, error=error, count=len(ids), examples=tuple(dict.fromkeys(ids))[:_EXAMPLES])
        for (outcome, error), ids in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    )


def _degraded(rows: list[Row]) -> tuple[Count, ...]:
    steps = Counter(step for row in rows for step in sorted(set(row.degraded)))
    return tuple(
        Count(name=name, count=count) for name, count in sorted(steps.items(), key=lambda item: (-item[1], item))
    )
