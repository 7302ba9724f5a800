from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.rows import a_failure, a_row, a_run
from videohv.errors import InputError
from videohv.evaluate.export import Answers, export_format, export_formats, export_run, save
from videohv.evaluate.export import formats as registry
from videohv.evaluate.export.egoschema import QUESTIONS
from videohv.evaluate.row import Row
from videohv.types import Outcome

IDS = tuple(f"uid-{i:04d}" for i in range(QUESTIONS))


@pytest.fixture(scope="module")
def full_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Row | None]], Path]:
    """A run of the full set, every question answered with its number modulo 5 unless told otherwise."""

    def make(changes: dict[str, Row | None]) -> Path:
        # Appending 5,031 synced lines would take long; what an export reads is the journal's lines.
        folder = a_run(tmp_path_factory.mktemp("run"), [], question_ids=IDS)
        rows = {uid: a_row(uid, None, answer_index=i % 5) for i, uid in enumerate(IDS)} | changes
        lines = [f'{{"row":{row.model_dump_json()},"trace":{{}}}}\n' for row in rows.values() if row is not None]
        (folder / "results.jsonl").write_text("".join(lines))
        return folder

    return make


def test_the_egoschema_submission_has_every_question_as_a_number(full_run: Callable[..., Path], tmp_path: Path) -> None:
    made = export_run(full_run({}), "egoschema")
    assert save(made, tmp_path / "out.json") is None
    written = json.loads((tmp_path / "out.json").read_text())
    assert written == {uid: i % 5 for i, uid in enumerate(IDS)}
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert (made.questions, made.without, made.fill) == (QUESTIONS, (), None)


def test_the_kaggle_submission_is_the_same_as_csv(full_run: Callable[..., Path]) -> None:
    lines = list(csv.reader(export_run(full_run({}), "kaggle").text.splitlines()))
    assert lines[0] == ["q_uid", "answer"]
    assert lines[1:] == [[uid, str(i % 5)] for i, uid in enumerate(IDS)]


def test_missing_answers_are_counted_named_and_refused(full_run: Callable[..., Path]) -> None:
    run = full_run(
        {
            IDS[3]: None,
            IDS[8]: a_failure(IDS[8], Outcome.LM_FAILED),
            IDS[9]: a_failure(IDS[9], Outcome.ABSTAINED),
            IDS[10]: a_failure(IDS[10], Outcome.LM_FAILED),
        }
    )
    for name in ("egoschema", "kaggle"):
        with pytest.raises(InputError) as caught:
            export_run(run, name)
        assert "4 questions have no answer (2 lm_failed, 1 not finished, 1 abstained)" in str(caught.value)
        assert ", ".join((IDS[3], IDS[8], IDS[9], IDS[10])) in str(caught.value)


def test_made_up_answers_are_asked_for_and_written_down(full_run: Callable[..., Path], tmp_path: Path) -> None:
    run = full_run({IDS[3]: None, IDS[8]: a_failure(IDS[8])})
    made = export_run(run, "egoschema", fill=2)
    record = save(made, tmp_path / "out.json")
    assert record == tmp_path / "out.json.filled.json"
    written = json.loads((tmp_path / "out.json").read_text())
    assert (written[IDS[3]], written[IDS[8]], written[IDS[4]], len(written)) == (2, 2, 4, QUESTIONS)
    assert json.loads(record.read_text()) == {
        "fill": 2,
        "questions": {IDS[3]: "not finished", IDS[8]: "parse_failed"},
    }
    # A later file without made-up answers must not be taken for one with them.
    assert save(export_run(full_run({}), "egoschema", fill=2), tmp_path / "out.json") is None
    assert not record.exists()


def test_a_fill_that_is_no_option_is_refused(full_run: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="none of the options 0 to 4"):
        export_run(full_run({IDS[3]: None}), "egoschema", fill=5)


def test_a_part_of_the_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"asks 2 questions and a submission needs all 5,031: run egoschema:full"):
        export_run(a_run(tmp_path, [a_row("a"), a_row("b")]), "egoschema")


def test_the_benchmarks_own_order_counts(full_run: Callable[..., Path]) -> None:
    run = full_run({IDS[0]: a_row(IDS[0], None, answer_index=3, shown_index=1)})
    with (run / "results.jsonl").open("a") as file:
        turned = a_row(IDS[0], None, order=1, permutation=(1, 2, 3, 4, 0), answer_index=4, shown_index=3)
        file.write(f'{{"row":{turned.model_dump_json()},"trace":{{}}}}\n')
    assert json.loads(export_run(run, "egoschema").text)[IDS[0]] == 3


def test_a_run_of_another_benchmark_and_an_unknown_format_are_refused(tmp_path: Path) -> None:
    run = a_run(tmp_path, [a_row()], benchmark="nextqa", split="val")
    with pytest.raises(InputError, match=r"egoschema is for egoschema, and .* is a run of nextqa:val"):
        export_run(run, "egoschema")
    with pytest.raises(InputError, match="'excel'; known: egoschema, kaggle, videomme"):
        export_run(run, "excel")


def video(number: str, *questions: str, **more: Any) -> dict[str, Any]:
    asked = [
        {"question_id": f"{number}-{q}", "task_type": "OCR", "options": ["A. x", "B. y"], "answer": "A"}
        for q in questions
    ]
    return {"video_id": number, "duration": "long", "domain": "Künste", **more, "questions": asked}


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    path = tmp_path / "videomme.json"
    path.write_text(json.dumps([video("001", "1", "2", url="u"), video("002", "1")]), encoding="utf-8")
    return path


def videomme(folder: Path, *rows: Row, **manifest: Any) -> Path:
    return a_run(folder, rows, benchmark="videomme", split="long", **manifest)


def test_videomme_gets_its_own_file_back_with_letters(tmp_path: Path, annotations: Path) -> None:
    run = videomme(tmp_path / "run", a_row("001-1", answer_index=1), a_failure("001-2"))
    made = export_run(run, "videomme", annotations=annotations)
    (only,) = json.loads(made.text)
    assert (only["video_id"], only["domain"], only["url"]) == ("001", "Künste", "u")
    assert [(q["question_id"], q["answer"], q["response"]) for q in only["questions"]] == [
        ("001-1", "A", "B"),
        ("001-2", "A", ""),
    ]
    assert made.without == (("001-2", "parse_failed"),)


@pytest.mark.parametrize(
    ("rows", "manifest", "message"),
    [
        ([a_row("001-1")], {}, "question 001-2 of video 001 was not asked"),
        ([a_row("003-1")], {}, "1 questions of the run are not in"),
        ([a_row("002-1")], {"question_ids": ("002-1", "001-1")}, "1 questions are not finished, such as 001-1"),
    ],
)
def test_videomme_refuses_what_its_script_would_stumble_over(
    tmp_path: Path, annotations: Path, rows: list[Row], manifest: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        export_run(videomme(tmp_path / "run", *rows, **manifest), "videomme", annotations=annotations)


@pytest.mark.parametrize("content", ["{}", "[1]", '[{"questions": [{}]}]', "nonsense", '[{"questions": 3}]'])
def test_videomme_says_what_is_wrong_with_the_annotations(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    run = videomme(tmp_path / "run", a_row("001-1"))
    with pytest.raises(InputError, match=r"bad\.json"):
        export_run(run, "videomme", annotations=path)
    with pytest.raises(InputError, match="give it as --annotations"):
        export_run(run, "videomme")
    with pytest.raises(InputError, match="leave --fill out"):
        export_run(run, "videomme", annotations=path, fill=0)


def test_a_format_of_ones_own_is_registered_like_the_built_in_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_formats()
    monkeypatch.setattr(registry, "_FORMATS", dict(registry._FORMATS))

    @export_format("lines", benchmark="mine", suffix=".txt", about="one a line", complete=False)
    def lines(answers: Answers) -> str:
        return "".join(f"{name} {answers.given.get(name)}\n" for name in answers.ids)

    made = export_run(a_run(tmp_path, [a_row("a"), a_failure("b")], benchmark="mine"), "lines")
    assert (made.text, made.suffix) == ("a 0\nb None\n", ".txt")
