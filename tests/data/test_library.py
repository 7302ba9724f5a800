from __future__ import annotations

import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.published import put
from videohv.data import CaptionLibrary, caption_index, read_captions
from videohv.errors import InputError
from videohv.types import Caption

TWO = (Caption(time=0, text="C sits"), Caption(time=1, text="a dog"))
LIST = ["#C C sits", "a dog"]
SECONDS = {"1": "a dog", "0": "#C C sits"}
RECORDS = [{"time": 1, "text": "a dog"}, {"start": 0.0, "text": "#C C sits"}]
LINES = [{"video": name, **record} for record in RECORDS for name in ("v", "w")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.json", {"v": LIST, "w": LIST}),
        ("c.json", {"v": SECONDS, "w": SECONDS}),
        ("c.json", {"v": RECORDS, "w": LIST}),
        ("c.json", list(LINES)),
        ("c.json", "\ufeff" + json.dumps({"v": LIST, "w": SECONDS}, indent=4)),
        ("c.json", "".join(json.dumps(line) + "\n" for line in LINES)),
        ("c.jsonl", LINES),
        ("c.jsonl", sorted(LINES, key=lambda line: line["video"])),
        ("c.ndjson", "\n\n" + "\r\n".join(json.dumps(line) for line in LINES)),
    ],
)
def test_published_forms(tmp_path: Path, name: str, content: Any) -> None:
    library = CaptionLibrary.open(put(tmp_path / name, content))
    assert sorted(library.videos) == ["v", "w"]
    assert len(library) == 2
    assert library.captions("v") == library.captions("w") == TWO
    assert library.captions("x") is None
    assert library.captions("v") == read_captions(tmp_path / name, "v")


@pytest.mark.parametrize("value", [LIST, SECONDS, RECORDS, {"v": LIST}])
def test_a_folder_has_a_file_a_video(tmp_path: Path, value: Any) -> None:
    put(tmp_path / "v.json", value)
    put(tmp_path / "deep/w.jsonl", RECORDS)
    put(tmp_path / ".hidden.json", "nonsense")
    put(tmp_path / "README.md", "nonsense")
    library = CaptionLibrary.open(tmp_path)
    assert library.videos == ("v", "w")
    assert library.captions("v.mp4") == library.captions("w") == TWO


def test_exact_name_goes_before_the_stem(tmp_path: Path) -> None:
    library = CaptionLibrary.open(put(tmp_path / "c.json", {"clip": ["stem"], "clip.mp4": ["exact"], "v1.5": ["dot"]}))
    assert [library.find(name) for name in ("clip.mp4", "a/clip.webm", "b\\v1.5.mkv", "clap")] == [
        "clip.mp4",
        "clip",
        "v1.5",
        None,
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.json", LIST, "name no video"),
        ("c.json", SECONDS, "name no video"),
        ("c.jsonl", [*LINES, RECORDS[0]], "name no video"),
        ("c.json", '{"v": [], "v": []}', "has the video 'v' twice"),
        ("c.json", '{"v": ["a"] "w": []}', "',' or '}' was expected at byte 12"),
        ("c.json", '{"v": ["a"', "what begins at byte 6 does not end"),
        ("c.json", '{"v": ["a}', "what begins at byte 6 does not end"),
        ("c.json", '{"v"', "a name and ':' were expected"),
        ("c.json", '{"v": ]}', "what begins at byte 6 does not end"),
        ("c.json", "{v: []}", "a name and ':' were expected"),
        ("c.json", "", "is empty or not JSON"),
        ("c.jsonl", '{"video": "v"\n', "line 1 is not JSON"),
        ("c.jsonl", '\n{"video": 3}\n', "line 2: 'video' is a number"),
    ],
)
def test_files_that_are_no_library(tmp_path: Path, name: str, content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CaptionLibrary.open(put(tmp_path / name, content))


def test_folders_that_are_no_library(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no captions"):
        CaptionLibrary.open(tmp_path)
    put(tmp_path / "a/v.json", LIST)
    put(tmp_path / "b/v.jsonl", RECORDS)
    with pytest.raises(InputError, match=r"two files of captions for 'v': .*v\.json and .*v\.jsonl"):
        CaptionLibrary.open(tmp_path)
    (tmp_path / "b/v.jsonl").unlink()
    put(tmp_path / "w.json", {"x": LIST, "y": LIST})
    with pytest.raises(InputError, match="holds 2 videos: in a folder each file is about one"):
        CaptionLibrary.open(tmp_path).captions("w")
    with pytest.raises(InputError, match="No such file"):
        CaptionLibrary.open(tmp_path / "none.json")


def test_a_wrong_entry_is_reported_when_its_video_is_asked_for(tmp_path: Path) -> None:
    library = CaptionLibrary.open(
        put(tmp_path / "c.json", '{"v": ["a", 7], "w": ["b"], "x": [nonsense], "y": {"soon": "a"}}')
    )
    assert library.captions("w") is not None
    for name, message in (("v", "'v', item 1 is a number"), ("x", "is not JSON"), ("y", "key 'soon'")):
        with pytest.raises(InputError, match=message) as caught:
            library.captions(name)
        assert str(tmp_path / "c.json") in str(caught.value)


def test_records_keep_the_number_of_their_line_or_item(tmp_path: Path) -> None:
    lines = [*LINES, {"video": "w", "time": 5}, {"video": "v", "time": 6}]
    for name, place in (("c.jsonl", "line 6"), ("c.json", "item 5")):
        with pytest.raises(InputError, match=f"{place} has no text"):
            CaptionLibrary.open(put(tmp_path / name, lines)).captions("v")


def test_each_video_is_read_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for all videos parses each once: the work grows with the file, not with file times videos."""
    count = 50
    library = CaptionLibrary.open(put(tmp_path / "c.json", {f"v{i}": [f"text {i}"] * 20 for i in range(count)}))
    size = (tmp_path / "c.json").stat().st_size
    parsed: list[int] = []

    class Counting:
        JSONDecodeError = json.JSONDecodeError

        @staticmethod
        def loads(text: str) -> Any:
            parsed.append(len(text))
            return json.loads(text)

    monkeypatch.setattr(caption_index, "json", Counting)
    for i in range(count):
        captions = library.captions(f"v{i}")
        assert captions is not None
        assert captions[0].text == f"text {i}"
    assert len(parsed) == count
    assert sum(parsed) < size


def test_a_file_that_changes_is_not_misread(tmp_path: Path) -> None:
    path = put(tmp_path / "c.json", {"v": LIST, "w": LIST})
    library = CaptionLibrary.open(path)
    put(tmp_path / "new.json", {"other": ["x"], "v": LIST}).replace(path)
    with pytest.raises(InputError, match="changed while it was in use"):
        library.captions("v")


def test_the_digest_names_the_content(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        put(tmp_path / folder / "c.json", {"v": LIST})
        put(tmp_path / folder / "many/v.json", LIST)
    put(tmp_path / "c/many/v.json", ["other"])
    a, b = CaptionLibrary.open(tmp_path / "a/c.json"), CaptionLibrary.open(tmp_path / "b/c.json")
    assert a.digest == b.digest
    folders = [CaptionLibrary.open(tmp_path / name / "many").digest for name in "abc"]
    assert folders[0] == folders[1] != folders[2]
    assert len({a.digest, *folders}) == 3


def test_threads_and_other_processes_may_use_one(tmp_path: Path) -> None:
    path = put(tmp_path / "c.json", {f"v{i}": [f"text {i}"] for i in range(40)})
    library = pickle.loads(pickle.dumps(CaptionLibrary.open(path)))
    wrong: list[str] = []

    def read(offset: int) -> None:
        for i in range(40):
            name = f"v{(i + offset) % 40}"
            if library.captions(name) != (Caption(time=0, text=f"text {name[1:]}"),):
                wrong.append(name)

    threads = [threading.Thread(target=read, args=(5 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(os.listdir(tmp_path)) == 1  # noqa: PTH208


_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
_texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(
    content=st.dictionaries(_names, _texts, min_size=1, max_size=5),
    indent=st.sampled_from([None, 2]),
    plain=st.booleans(),
)
def test_any_names_and_texts(tmp_path: Path, content: dict[str, list[str]], indent: int | None, plain: bool) -> None:
    path = put(tmp_path / "c.json", json.dumps(content, indent=indent, ensure_ascii=plain))
    library = CaptionLibrary.open(path)
    assert library.videos == tuple(content)
    for name, texts in content.items():
        assert [raw.text for raw in library.raw(name)] == texts
        assert library.captions(name) == read_captions(path, name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(content=st.text(st.sampled_from('{}[]",:\\ v1\n'), max_size=30), suffix=st.sampled_from([".json", ".jsonl"]))
def test_any_file_is_a_library_or_an_input_error(tmp_path: Path, content: str, suffix: str) -> None:
    try:
        library = CaptionLibrary.open(put(tmp_path / f"c{suffix}", content))
        for name in library.videos:
            library.captions(name)
    except InputError:
        pass
