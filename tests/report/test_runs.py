from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.hostile import PLANTED, a_hostile_trace
from tests.support.html import Read, dangers
from tests.support.reported import a_large_run, traces
from tests.support.rows import a_failure, a_row
from tests.support.traces import a_trace
from videohv.evaluate.journal import read_rows
from videohv.evaluate.manifest import Manifest, Recorded
from videohv.evaluate.row import Row
from videohv.report import report_run
from videohv.report.runs import run_html
from videohv.types import Model, Outcome, Window

MADE = Manifest(benchmark="egoschema", split="full")


def columns(read: Read) -> list[str]:
    return [column["label"] for column in read.data()["columns"]]


def column(read: Read, label: str) -> list[object]:
    at = columns(read).index(label)
    return [row[at] for row in read.data()["rows"]]


def values(read: Read, label: str) -> list[str]:
    found = read.data()["columns"][columns(read).index(label)]["values"]
    assert isinstance(found, list)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_large_run(tmp_path_factory.mktemp("large") / "run", 200)


@pytest.fixture(scope="module")
def read(run: Path) -> Read:
    return Read(report_run(run, run / "report.html").read_text(encoding="utf-8"))


def test_its_figures_are_those_of_the_summary(run: Path, read: Read) -> None:
    rows = read_rows(run)
    right = sum(row.right is True for row in rows)
    assert f"{100 * right / 200:.1f} %strict" in read.text
    for said in (
        "answered",
        "chance",
        "Expected calibration error",
        "95th percentile",
        "seconds in judge",
        "parse failed",
    ):
        assert said in read.text, said
    assert len(read.of("histogram")) == 4
    assert len(read.of("reliability")) == 1
    for kind in ("causal", "temporal", "descriptive", "long", "medium", "short"):
        assert kind in read.text


def test_every_question_is_listed_and_can_be_filtered(run: Path, read: Read) -> None:
    rows = read_rows(run)
    assert column(read, "Id") == [row.id for row in rows]
    assert column(read, "Right or wrong") == ["right" if row.right else "wrong" for row in rows]
    assert column(read, "Seconds") == [round(row.seconds, 2) for row in rows]
    assert values(read, "Right or wrong") == ["right", "wrong"]
    assert values(read, "Outcome") == ["abstained", "answered", "parse failed"]
    assert values(read, "Status") == ["not verified", "partial", "verified"]
    assert values(read, "Type") == ["causal", "descriptive", "temporal"]
    assert values(read, "duration") == ["long", "medium", "short"]


def test_details_of_every_question_are_in_its_place(read: Read) -> None:
    details, data = read.details(), read.data()
    for row, place in zip(data["rows"], data["places"], strict=True):
        fragment = Read(details[place[0]][place[1]])
        assert fragment.text.count(str(row[0])) == 1
        assert not dangers(fragment)
        ids = [e.attributes["id"] for e in fragment.elements if "id" in e.attributes]
        assert len(ids) == len(set(ids))
        assert all(link.attributes["href"][1:] in ids for link in fragment.all("a"))


def test_details_are_bounded_and_what_is_left_out_is_said(run: Path) -> None:
    made = report_run(run, run / "small.html", budget=20_000)
    read = Read(made.read_text(encoding="utf-8"))
    places = read.data()["places"]
    without = places.count(None)
    assert 0 < without < 200
    assert f"{without} of 200 are listed without details" in read.text
    assert all(place is not None for place in places[: 200 - without])
    nothing = Read(report_run(run, run / "none.html", budget=0).read_text(encoding="utf-8"))
    assert not nothing.details()
    assert len(nothing.data()["rows"]) == 200


def test_planted_text_is_text_in_figures_list_and_details() -> None:
    trace = a_hostile_trace()
    question = trace.question.model_copy(update={"id": "2" + PLANTED, "type": PLANTED})
    failed = trace.model_copy(update={"outcome": Outcome.LM_FAILED, "answer": None, "question": question})
    made = Manifest(
        benchmark="x" + PLANTED,
        split=PLANTED,
        source=PLANTED,
        method=PLANTED,
        program=PLANTED,
        settings={PLANTED: PLANTED},
        models=(Model(role=PLANTED, name=PLANTED),),
        captions=PLANTED,
        recorded=Recorded(created=PLANTED),
    )
    read = Read(run_html(made, [(Row.of(t), t) for t in (trace, failed)]))
    assert not dangers(read)
    assert [e.attributes.get("type") for e in read.all("script")] == [None, "application/json", "text/plain", None]
    assert column(read, "Question")[0] == trace.question.text
    for fragment in (Read(html) for chunk in read.details() for html in chunk):
        assert not dangers(fragment)
        assert not fragment.all("script")


def test_option_orders_show_the_place_of_options() -> None:
    pairs = []
    for order, permutation in ((0, ()), (1, (1, 2, 0))):
        for i in range(4):
            trace = a_trace(i % 3)
            trace = trace.model_copy(update={"question": trace.question.model_copy(update={"id": f"q{i}"})})
            pairs.append((Row.of(trace, order, permutation), trace))
    read = Read(run_html(MADE, pairs))
    assert "standard deviation by place" in read.text
    assert column(read, "Id") == ["q0", "q1", "q2", "q3", "q0#1", "q1#1", "q2#1", "q3#1"]
    assert "standard deviation" not in Read(run_html(MADE, pairs[:4])).text


def test_grounding_is_shown_where_spans_are_annotated() -> None:
    trace = a_trace(1)
    marked = trace.model_copy(
        update={"question": trace.question.model_copy(update={"spans": (Window(start=9, end=14),)})}
    )
    assert "Acc@GQA" in Read(run_html(MADE, [(Row.of(marked), marked)])).text
    assert "Acc@GQA" not in Read(run_html(MADE, [(Row.of(trace), trace)])).text


def test_a_run_that_has_only_begun() -> None:
    made = MADE.model_copy(update={"question_ids": ("a", "b")})
    read = Read(run_html(made, []))
    assert "0 of 2 finished" in read.text
    assert not read.of("explorer")


def test_rows_without_labels_confidence_or_cost() -> None:
    rows = [a_row("a", right=None), a_failure("b", error="gone")]
    read = Read(run_html(MADE, [(row, a_trace()) for row in rows]))
    assert column(read, "Right or wrong") == ["not known", "wrong"]
    assert "gone" in read.text
    assert not read.of("reliability")


def test_the_large_runs_of_the_tests_have_all_that_a_report_shows() -> None:
    made = list(traces(200))
    assert {t.outcome for t in made} == {"answered", "abstained", "parse_failed"}
    assert any(len(t.rounds) > 1 for t in made)
    assert any(t.degraded for t in made)
