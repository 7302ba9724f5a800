"""Whatever a file or the Hub holds: questions, reported rows, or an InputError; never another error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.published import HUB, hub_of, put, put_all
from videohv.data import benchmark_cards, load_questions
from videohv.errors import InputError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["A", "0", "4", "@", "[", "\ud800", "1_2", "short", "(A) a\n(B) b", "A. x", "00:01-00:00"])
)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=4), v, max_size=3), max_leaves=6
)
HUBS = sorted(HUB)


def changed(rows: list[dict[str, Any]]) -> st.SearchStrategy[list[Any]]:
    """Rows of which some columns hold something else, are gone, or that are something else altogether."""
    row = st.sampled_from(rows)
    names = sorted({name for row in rows for name in row})
    edits = st.dictionaries(st.sampled_from(names), VALUES, max_size=3)
    gone = st.sets(st.sampled_from(names), max_size=2)
    one = st.builds(lambda r, e, g: {k: v for k, v in (r | e).items() if k not in g}, row, edits, gone)
    return st.lists(one | VALUES, min_size=1, max_size=4)


def check(name: str, **options: Any) -> None:
    try:
        data = load_questions(name, **options)
    except InputError as error:
        str(error).encode("utf-8", "backslashreplace")
        return
    ids = [question.id for question in data.questions]
    assert len(ids) == len(set(ids))
    assert all(question.text and len(question.options) >= 2 for question in data.questions)
    assert all("\\n" not in text for question in data.questions for text in (question.text, *question.options))
    for problem in data.problems:
        assert problem.why
        str(problem).encode()
    data.model_dump_json()


@pytest.mark.parametrize("where", HUBS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_rows_of_the_hub(where: str, data: st.DataObject) -> None:
    rows = data.draw(changed(HUB[where]))
    for card in benchmark_cards():
        for split in card.splits:
            if str(split.hub) == where and not split.subtitles:
                check(f"{card.name}:{split.name}", hub=True, loader=hub_of({where: rows}))


FILES = [
    ("egoschema", "egoschema/subset_anno.json"),
    ("egoschema", "egoschema/uid_to_ego4d.json"),
    ("egoschema:full", "egoschema/subset_answers.json"),
    ("egoschema:full", "egoschema/questions.json"),
    ("nextqa", "nextqa/map_vid_vidorID.json"),
    ("nextgqa", "nextgqa/gsub_val.json"),
    ("videomme:all", "videomme/videomme_annotations.json"),
    ("longvideobench", "longvideobench/lvb_val.json"),
    ("mlvu", "mlvu/4_count.json"),
]


def nested(value: Any) -> st.SearchStrategy[Any]:
    """The value with something else in one place."""
    if isinstance(value, dict) and value:
        return st.sampled_from(sorted(value)).flatmap(
            lambda key: (nested(value[key]) | VALUES).map(lambda new: value | {key: new})
        )
    if isinstance(value, list) and value:
        return st.integers(0, len(value) - 1).flatmap(
            lambda i: (nested(value[i]) | VALUES).map(lambda new: [*value[:i], new, *value[i + 1 :]])
        )
    return VALUES


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put_all(tmp_path_factory.mktemp("root"))


@pytest.mark.parametrize(("name", "file"), FILES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_json_files(root: Path, name: str, file: str, data: st.DataObject) -> None:
    path = root / file
    good = path.read_text()
    try:
        put(path, json.dumps(data.draw(nested(json.loads(good)) | VALUES)))
        check(name, data_root=root)
    finally:
        put(path, good)


CELLS = st.text(alphabet=st.sampled_from('ab0,"\n\r\\@\x00é '), max_size=12)


@pytest.mark.parametrize(("name", "file"), [("nextqa", "nextqa/val.csv"), ("nextgqa", "nextgqa/val.csv")])
@settings(max_examples=40)
@given(cells=st.lists(CELLS, min_size=1, max_size=6))
def test_csv_files(root: Path, name: str, file: str, cells: list[str]) -> None:
    path = root / file
    good = path.read_text()
    try:
        first, *rest = good.splitlines()
        put(path, "\n".join([first, ",".join(cells), *rest]))
        check(name, data_root=root)
    finally:
        put(path, good)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                name: VALUES | st.just("a") | st.lists(st.text(max_size=3), max_size=4)
                for name in (
                    "question",
                    "options",
                    "answer",
                    "answer_index",
                    "id",
                    "video",
                    "spans",
                    "A",
                    "B",
                    "a0",
                    "x",
                )
            },
        )
        | VALUES,
        min_size=1,
        max_size=4,
    ),
    suffix=st.sampled_from([".jsonl", ".json"]),
)
def test_questions_of_ones_own(tmp_path: Path, rows: list[Any], suffix: str) -> None:
    text = json.dumps(rows) if suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows)
    check(f"custom:{put(tmp_path / f'own{suffix}', text)}")
