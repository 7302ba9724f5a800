"""From a name to questions: what is asked for, what is there, and what is said when it is not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.published import HUB, ego_hub, ego_official, hub_of, next_rows, put, put_all, put_ego
from videohv.data import benchmark, load_questions, partition, registry
from videohv.data.card import Card, File, HubSet, Split
from videohv.data.row import Draft, Row, Wrong, answer_by_index
from videohv.data.source import Source, hub_rows
from videohv.errors import InputError, MissingExtra, VideoHVError


@pytest.mark.parametrize(
    ("name", "part", "full"),
    [
        ("egoschema", "", "egoschema:subset"),
        ("egoschema:full", "", "egoschema:full"),
        ("egoschema/dev", "", "egoschema:subset/dev"),
        ("egoschema:subset/test", "", "egoschema:subset/test"),
        ("egoschema", "test", "egoschema:subset/test"),
        ("egoschema:subset/test", "test", "egoschema:subset/test"),
    ],
)
def test_names(tmp_path: Path, name: str, part: str, full: str) -> None:
    rows = [row | {"q_uid": f"uid-{i}"} for i in range(40) for row in ego_official()[:1]]
    put(tmp_path / "egoschema/subset_anno.json", {row["q_uid"]: row for row in rows})
    put(tmp_path / "egoschema/questions.json", rows)
    assert load_questions(name, data_root=tmp_path, part=part).name == full


@pytest.mark.parametrize(
    ("name", "part", "message"),
    [
        ("egoscheme", "", "no benchmark is called 'egoscheme'; known benchmarks: custom, egoschema, intentqa"),
        ("", "", "no benchmark is called ''"),
        ("egoschema:val", "", "egoschema has no split 'val'; it has: subset, full"),
        ("egoschema:subset/train", "test", "names the part train and 'test' was asked for"),
        ("egoschema", "validation", "'validation' is no part of a split; they are train, dev, test"),
        ("custom", "", "custom needs a file: custom:FILE"),
        ("custom:nowhere.csv", "", "there is no file nowhere.csv"),
    ],
)
def test_names_that_mean_nothing(tmp_path: Path, name: str, part: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_questions(name, data_root=put_ego(tmp_path), part=part)


def test_parts_are_those_of_the_partition(tmp_path: Path) -> None:
    rows = [row | {"video": str(i)} for i in range(30) for row in next_rows()]
    put(tmp_path / "nextqa/val.csv", rows)
    whole = load_questions("nextqa", data_root=tmp_path)
    parts = {name: load_questions("nextqa", data_root=tmp_path, part=name) for name in ("train", "dev", "test")}
    made = partition(whole.questions)
    for name, data in parts.items():
        assert data.questions == made.select(name, whole.questions)  # type: ignore[arg-type]
        assert data.content_hash != whole.content_hash
    assert sum(len(data.questions) for data in parts.values()) == 90


def test_a_part_may_be_empty_and_that_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "nextqa/val.csv", next_rows()[:1])
    with pytest.raises(InputError, match="nextqa/dev: there is no question in it"):
        load_questions("nextqa/dev", data_root=tmp_path)


def test_missing_files_are_listed_with_where_they_come_from(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_questions("egoschema", data_root=tmp_path)
    message = str(caught.value)
    assert "egoschema/subset_anno.json or subset_anno.json" in message
    assert "egoschema/questions.json" in message
    assert str(tmp_path) in message
    assert "github.com/egoschema/EgoSchema" in message
    assert "the Hub has it as lmms-lab/egoschema [Subset] test (--hub)" in message
    put(tmp_path / "egoschema/questions.json", ego_official(answers=False))
    with pytest.raises(InputError, match=r"egoschema/subset_answers\.json"):
        load_questions("egoschema", data_root=tmp_path)
    put(tmp_path / "nextqa/val.csv", next_rows())
    with pytest.raises(InputError, match=r"atp-hard-ct4\.txt .*stanfordvl"):
        load_questions("nextqa:atp-hard", data_root=tmp_path)


def test_somewhere_to_read_from_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--data-root DIR.*--hub"):
        load_questions("egoschema")
    with pytest.raises(InputError, match="is not a folder"):
        load_questions("egoschema", data_root=tmp_path / "none")


def wrong_rows() -> list[dict[str, Any]]:
    good = next_rows()
    return [
        good[0],
        good[1] | {"answer": "@"},
        good[2] | {"answer": 5},
        good[2] | {"a3": ""},
        good[2] | {"question": " "},
        good[2] | {"question": "what\\nnow"},
        good[2] | {"a1": "stand\\nup"},
        good[2] | {"answer": ""},
        good[2] | {"video": ""},
        good[2] | {"type": "XX"},
        good[0] | {"question": "again"},
        good[2],
    ]


def test_wrong_rows_are_left_out_and_named(tmp_path: Path) -> None:
    put(tmp_path / "nextqa/val.csv", wrong_rows())
    data = load_questions("nextqa", data_root=tmp_path)
    assert [q.id for q in data.questions] == ["100_0", "100_2"]
    assert [str(problem) for problem in data.problems] == [
        "val.csv, line 3 (101_1): answer '@' is not the number of an option; they are 0 to 4",
        "val.csv, line 4 (100_2): answer '5' is not the number of an option; they are 0 to 4",
        "val.csv, line 5 (100_2): a3 is empty",
        "val.csv, line 6 (100_2): question is empty",
        "val.csv, line 7 (100_2): question has a line break that is spelled out: \\n",
        "val.csv, line 8 (100_2): options has a line break that is spelled out: \\n",
        "val.csv, line 9 (100_2): answer is missing",
        "val.csv, line 10 (2): video is empty",
        "val.csv, line 11 (100_2): type 'XX' is none of CW, CH, TN, TP, TC, DC, DL, DO",
        "val.csv, line 12 (100_0): id is the same as that of line 2",
    ]
    assert data.notes == ("12 rows; the published nextqa:val has 4996",)


def test_strict_raises_with_the_first_and_the_count(tmp_path: Path) -> None:
    put(tmp_path / "nextqa/val.csv", wrong_rows())
    with pytest.raises(InputError, match=r"nextqa: 10 rows cannot be used: val\.csv, line 3 .*; …$") as caught:
        load_questions("nextqa", data_root=tmp_path, strict=True)
    assert "line 8" not in str(caught.value)


def test_nothing_but_wrong_rows_is_an_error_of_its_own(tmp_path: Path) -> None:
    put(tmp_path / "nextqa/val.csv", wrong_rows()[1:4])
    with pytest.raises(InputError, match="3 rows cannot be used"):
        load_questions("nextqa", data_root=tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"val\.csv is empty"),
        ("video,question\n\x00\x00", "there is no question in it|not CSV|cannot be used"),
        ("video,qid\n1,2,3,4\n", "has more columns than the header"),
        ("video,qid,type,question,answer,a0,a1,a2,a3,a4\n1,2,CW,why\n", "a0 is missing"),
        ("q\n" + "x" * 200_000 + "\n", "not CSV: field larger"),
    ],
)
def test_files_of_another_form(tmp_path: Path, content: str, message: str) -> None:
    put(tmp_path / "nextqa/val.csv", content)
    with pytest.raises(InputError, match=message):
        load_questions("nextqa", data_root=tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("7", "neither a JSON list nor an object"),
        ('["x"]', r"item 0: is a text; an object was expected"),
        ("[]", "there is no question in it"),
    ],
)
def test_json_of_another_form(tmp_path: Path, content: str, message: str) -> None:
    put(tmp_path / "longvideobench/lvb_val.json", content)
    with pytest.raises(InputError, match=message):
        load_questions("longvideobench", data_root=tmp_path)


def test_text_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "nextqa").mkdir()
    (tmp_path / "nextqa/val.csv").write_bytes(b"video\n\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8 text"):
        load_questions("nextqa", data_root=tmp_path)


def test_the_hash_depends_on_the_questions_and_on_nothing_else(tmp_path: Path) -> None:
    rows = next_rows()
    put(tmp_path / "a/nextqa/val.csv", rows)
    put(tmp_path / "b/nextqa/val.csv", rows[::-1])
    put(tmp_path / "c/nextqa/val.csv", [*rows[:2], rows[2] | {"answer": 0}])
    a, b, c = (load_questions("nextqa", data_root=tmp_path / name).content_hash for name in "abc")
    assert a == b
    assert a != c


@pytest.fixture
def own() -> Iterator[type]:
    class Own:
        card = Card(
            name="own",
            title="Own",
            splits=(Split(name="test", hub=HubSet(repo="me/own")),),
            files=(File(role="questions", paths=("own.jsonl",), origin="me"),),
        )

        def rows(self, source: Source) -> Iterator[Row]:
            return source.rows()

        def draft(self, row: Row) -> Draft:
            options = row.texts("options")
            if row.get("skip"):
                raise Wrong("skip", "is set")
            return Draft(row.text("id"), "v", row.text("q"), options, answer_by_index(row.get("answer"), options))

    yield benchmark(Own)
    registry._benchmarks.pop("own")


@pytest.mark.usefixtures("own")
def test_a_benchmark_of_ones_own_is_registered_as_ours_are(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "q": "which?", "options": ["a", "b"], "answer": 1},
        {"id": "2", "q": "which?", "options": ["a", "b"], "answer": 1, "skip": True},
    ]
    put(tmp_path / "own.jsonl", rows)
    for data in (
        load_questions("own", data_root=tmp_path),
        load_questions("own:test", hub=True, loader=hub_of({"me/own test": rows})),
    ):
        assert [q.answer_index for q in data.questions] == [1]
        assert data.problems[0].why == "is set"


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"videohv\[hub\]"):
        load_questions("egoschema", hub=True)


def test_the_hub_is_asked_for_the_set_on_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def load_dataset(*args: Any, **kwargs: Any) -> Any:
        asked.append((args, kwargs))
        return ego_hub()

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert len(load_questions("egoschema", hub=True).questions) == 3
    list(hub_rows(HubSet(repo="a/b", split="train", files=("x.json",))))
    assert asked == [
        (("lmms-lab/egoschema", "Subset"), {"split": "test", "data_files": None}),
        (("a/b", None), {"split": "train", "data_files": ["x.json"]}),
    ]


def test_what_the_hub_says_becomes_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*args: Any, **kwargs: Any) -> Any:
        raise ConnectionError("no network\nand a long story")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    with pytest.raises(VideoHVError, match=r"cannot load lmms-lab/egoschema .*ConnectionError: no network\)$"):
        load_questions("egoschema", hub=True)


def test_loading_needs_neither_dspy_nor_datasets(tmp_path: Path) -> None:
    put_all(tmp_path)
    code = (
        "import sys; from pathlib import Path; from videohv.data import load_questions; "
        f"load_questions('egoschema', data_root=Path({str(tmp_path)!r})); "
        "print(sorted({'dspy', 'datasets', 'pyarrow', 'pysubs2', 'litellm', 'numpy', 'av'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_hub_rows_of_the_wrong_kind_are_reported_like_others() -> None:
    rows = [*HUB["lmms-lab/egoschema [Subset] test"], {"video_idx": 3, "question": "q", "option": "no list"}, ["x"]]
    data = load_questions("egoschema", hub=True, loader=lambda where: rows)  # type: ignore[arg-type,return-value]
    assert [str(problem) for problem in data.problems] == [
        "lmms-lab/egoschema, row 3 (3): option is a text, not a list of texts",
        "lmms-lab/egoschema, row 4: is a list; an object was expected",
    ]
