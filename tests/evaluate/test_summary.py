from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.rows import a_failure, a_row
from videohv.errors import InputError
from videohv.evaluate.row import Row
from videohv.evaluate.summary import RunSummary, summarise
from videohv.types import Outcome, Status

GROUPS = (("causal", ("CW", "CH")), ("temporal", ("TN", "TC", "TP")))

ROWS = [
    a_row("1", type="CW", facets=(("duration", "long"),), status=Status.VERIFIED, prompt_tokens=30),
    a_row("2", right=False, type="CH", facets=(("duration", "long"),), status=Status.VERIFIED),
    a_row("3", type="TN", facets=(("duration", "short"),), status=Status.PARTIAL, degraded=("look", "look", "judge")),
    a_row("4", right=None, type="TN", cached_prompt_tokens=8, prompt_tokens=10),
    a_failure("5", Outcome.ABSTAINED, type="XX", status=Status.NOT_VERIFIED),
    a_failure("6", error="no letter\nin the reply", type="CW", degraded=("look",)),
    a_failure("7", error="no letter\nelsewhere"),
    a_failure("8", Outcome.LM_FAILED, error="no server"),
]


def accuracy(summary: RunSummary, policy: str = "strict") -> float:
    made = next(a.estimate for a in summary.accuracy if a.policy == policy)
    assert made is not None
    return made.value


def test_counts_outcomes_and_accuracies() -> None:
    made = summarise(ROWS, expected=10)
    assert (made.n, made.expected, made.questions, made.recordings, made.labelled) == (8, 10, 8, 8, 7)
    counts = {count.name: count.count for count in made.outcomes}
    assert counts == {"answered": 4, "abstained": 1, "parse_failed": 2, "lm_failed": 1}
    assert made.failed is not None
    assert made.failed.value == 3 / 8
    assert made.abstained is not None
    assert made.abstained.value == 1 / 8
    assert accuracy(made) == pytest.approx(2 / 7)
    assert accuracy(made, "answered") == pytest.approx(2 / 3)
    assert accuracy(made, "chance") == pytest.approx((2 + 4 * 0.2) / 7)
    assert made.cached_prompt_share == 0.2


def test_parts_by_type_group_and_facet() -> None:
    made = summarise(ROWS, groups=GROUPS)
    found = [(p.by, p.name, p.n, p.labelled, p.failed) for p in made.parts]
    assert found == [
        ("group", "causal", 3, 3, 1),
        ("group", "temporal", 2, 1, 0),
        ("type", "CW", 2, 2, 1),
        ("type", "CH", 1, 1, 0),
        ("type", "TN", 2, 1, 0),
        ("type", "XX", 1, 1, 0),
        ("duration", "long", 2, 2, 0),
        ("duration", "short", 1, 1, 0),
    ]
    causal = made.parts[0].accuracy
    assert [a.estimate.value if a.estimate else None for a in causal] == pytest.approx([1 / 3, 1 / 2, 1.2 / 3])


def test_groups_may_share_types_and_unasked_ones_are_not_shown() -> None:
    made = summarise(ROWS[:1], groups=(("all", ("CW", "CH")), ("why", ("CW",)), ("none", ("DO",))))
    assert [(p.by, p.name) for p in made.parts] == [
        ("group", "all"),
        ("group", "why"),
        ("type", "CW"),
        ("duration", "long"),
    ]


def test_parts_and_policies_can_be_chosen() -> None:
    made = summarise(ROWS, groups=GROUPS, by=("duration",), policy=("chance",))
    assert {p.by for p in made.parts} == {"duration"}
    assert [a.policy for a in made.accuracy] == ["chance"]
    with pytest.raises(InputError, match="broken down by 'domain'; there is: group, type, duration"):
        summarise(ROWS, groups=GROUPS, by=("domain",))


def test_a_facet_that_repeats_the_type_is_shown_when_it_is_asked_for() -> None:
    rows = [a_row("1", type="OCR", facets=(("task", "OCR"),)), a_row("2", type="Count", facets=(("task", "Count"),))]
    assert {p.by for p in summarise(rows).parts} == {"type"}
    assert {p.by for p in summarise(rows, by=("task",)).parts} == {"task"}


def test_status_against_correctness() -> None:
    found = {row.status: row for row in summarise(ROWS).statuses}
    verified = found[Status.VERIFIED]
    assert (verified.right, verified.wrong, verified.abstained, verified.failed, verified.unscored) == (1, 1, 0, 0, 0)
    assert verified.accuracy is not None
    assert verified.accuracy.value == 0.5
    assert found[Status.NOT_VERIFIED].abstained == 1
    assert found[Status.NOT_VERIFIED].accuracy is None
    assert (found[None].failed, found[None].unscored) == (3, 1)


def test_failures_are_gathered_by_the_first_line_of_their_error() -> None:
    first, second = summarise(ROWS).failures
    assert (first.outcome, first.error, first.count, first.examples) == ("parse_failed", "no letter", 2, ("6", "7"))
    assert (second.outcome, second.error, second.count) == ("lm_failed", "no server", 1)


def test_a_step_counts_once_a_question() -> None:
    made = summarise(ROWS)
    assert [(c.name, c.count) for c in made.degraded] == [("look", 2), ("judge", 1)]
    assert made.degraded_questions == 2


def test_unlabelled_questions_are_unscored_and_never_wrong() -> None:
    made = summarise([a_row(str(i), right=None) for i in range(5)])
    assert made.labelled == 0
    assert all(a.estimate is None for a in made.accuracy)
    assert made.statuses[0].wrong == 0


def test_nothing_finished_yet() -> None:
    made = summarise([], expected=5)
    assert (made.n, made.expected, made.failed, made.parts, made.spending) == (0, 5, None, (), ())


def random_rows(seed: int, count: int) -> list[Row]:
    dice = random.Random(seed)
    rows = []
    for i in range(count):
        facts = {
            "recording": f"r{dice.randrange(count // 2 + 1)}",
            "type": dice.choice(["CW", "CH", "TN", ""]),
            "facets": (("duration", dice.choice(["long", "short"])),),
            "seconds": dice.expovariate(0.1),
            "calls": dice.randrange(20),
            "cost": dice.choice([None, dice.random()]),
            "stages": (("thinker", dice.random()),),
            "iou": dice.random(),
            "iop": dice.random(),
        }
        if dice.random() < 0.1:
            rows.append(a_failure(f"q{i}", dice.choice(list(Outcome)[1:]), error=f"error {dice.randrange(3)}", **facts))
        else:
            right = dice.choice([True, False, None])
            rows.append(a_row(f"q{i}", right, confidence=dice.random(), status=dice.choice([*Status, None]), **facts))
    return rows


@given(st.integers(0, 100), st.integers(1, 60))
def test_the_order_of_the_rows_changes_nothing(seed: int, count: int) -> None:
    rows = random_rows(seed, count)
    made = summarise(rows, groups=GROUPS)
    random.Random(seed + 1).shuffle(rows)
    assert summarise(rows, groups=GROUPS) == made
    assert RunSummary.model_validate_json(made.model_dump_json()) == made


def test_a_full_benchmark_is_summarised() -> None:
    made = summarise(random_rows(0, 5031), groups=GROUPS)
    assert made.n == sum(part.n for part in made.parts if part.by == "duration") == 5031
