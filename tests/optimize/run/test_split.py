"""Which questions go where, and what a compile has spent: what every sitting must find again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.benchmark import make_benchmark
from videohv.data.dataset import Dataset
from videohv.data.registry import load_questions
from videohv.errors import InputError
from videohv.lm.counter import Amount, Totals
from videohv.optimize.run.spent import KeptCounter
from videohv.optimize.run.split import Sizes, parts_of, roles_meant

AGENTS = ("summary.predict", "judge.predict", "verifier.locate", "verifier.look", "verifier.check", "answer.predict")


@pytest.fixture
def questions(tmp_path: Path) -> Dataset:
    return load_questions("egoschema:subset", data_root=make_benchmark(tmp_path, 40)[0])


def test_no_recording_is_on_two_sides(questions: Dataset) -> None:
    parts = parts_of(questions)
    recordings = [{q.recording for q in part} for part in (parts.train, parts.dev, parts.test)]
    assert all(recordings)
    assert sum(map(len, recordings)) == len(set().union(*recordings))
    assert len(parts.all) == 40


def test_the_test_part_is_the_one_that_eval_asks(questions: Dataset, tmp_path: Path) -> None:
    asked = load_questions("egoschema:subset/test", data_root=tmp_path).questions
    assert {q.id for q in parts_of(questions).test} == {q.id for q in asked}


def test_limits_take_the_first_of_a_part(questions: Dataset) -> None:
    whole, some = parts_of(questions), parts_of(questions, Sizes(train=3, dev=2, test=1))
    assert (some.train, some.dev, some.test) == (whole.train[:3], whole.dev[:2], whole.test[:1])
    assert whole.split.partition == some.split.partition
    assert whole.split.hash != some.split.hash


def test_a_part_of_a_split_is_refused(questions: Dataset) -> None:
    with pytest.raises(InputError, match="is the test part alone"):
        parts_of(questions.model_copy(update={"part": "test"}))


def test_unlabelled_questions_are_of_no_use(questions: Dataset) -> None:
    parts = parts_of(questions)
    lost = parts.dev[0].id
    blank = tuple(q.model_copy(update={"answer_index": None}) if q.id == lost else q for q in questions.questions)
    assert lost not in parts_of(questions.model_copy(update={"questions": blank})).split.dev
    none = tuple(q.model_copy(update={"answer_index": None}) for q in questions.questions)
    with pytest.raises(InputError, match="0 with a known answer, none is in the part train and dev and test"):
        parts_of(questions.model_copy(update={"questions": none}))


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        (["judge", "answer"], ("judge.predict", "answer.predict")),
        (["verifier"], ("verifier.locate", "verifier.look", "verifier.check")),
        (["answer", "verifier.look"], ("verifier.look", "answer.predict")),
        ([], AGENTS),
    ],
)
def test_roles_are_agents_or_families(wanted: list[str], meant: tuple[str, ...]) -> None:
    assert roles_meant(wanted, AGENTS) == meant


def test_an_unknown_role_is_named() -> None:
    with pytest.raises(InputError, match=r"no agent is called 'jugde'; known: answer, judge, summary, verifier, verif"):
        roles_meant(["jugde"], AGENTS)


def test_what_was_spent_outlives_the_process(tmp_path: Path) -> None:
    first = KeptCounter(tmp_path / "spent")
    first.update(lambda t: Totals(t.spent + Amount(3, 1234567890, 0.125), t.held + Amount(1, 1, 1)))
    # Never closed: as if it were killed.
    again = KeptCounter(tmp_path / "spent")
    assert again.totals() == Totals(Amount(3, 1234567890, 0.125), Amount())
    again.update(lambda t: Totals(t.spent + Amount(1, 10, 0), t.held))
    again.close()
    assert KeptCounter(tmp_path / "spent").totals().spent == Amount(4, 1234567900, 0.125)


def test_a_damaged_sum_is_not_taken_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "spent").write_text("[1, 2")
    with pytest.raises(InputError, match="does not say what was spent"):
        KeptCounter(tmp_path / "spent")
