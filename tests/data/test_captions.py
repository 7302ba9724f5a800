from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from videohv.data import normalise, read_captions, write_captions
from videohv.errors import InputError
from videohv.types import Caption


def put(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


TWO = (Caption(time=0, text="C sits"), Caption(time=1, text="a dog"))
RECORDS = [{"time": 1, "text": "a dog"}, {"start": 0.0, "end": 1.0, "text": "#C C sits"}]


@pytest.mark.parametrize(
    ("content", "video"),
    [
        ({"v": ["#C C sits", "a dog"], "w": ["x"]}, "v"),
        ({"v": {"1": "a dog", "0": "#C C sits"}, "w": {}}, "v"),
        ({"v": RECORDS, "w": []}, "v"),
        ({"v": ["#C C sits", "a dog"]}, None),
        (["#C C sits", "a dog"], None),
        (["#C C sits", "a dog"], "anything"),
        ({"0": "#C C sits", "1.0": "a dog"}, None),
        (RECORDS, None),
        ("\n".join(json.dumps(record) for record in RECORDS) + "\n\n", None),
        ("\ufeff" + json.dumps(["#C C sits", "a dog"]), None),
    ],
)
def test_published_forms(tmp_path: Path, content: Any, video: str | None) -> None:
    assert read_captions(put(tmp_path / "captions.json", content), video) == TWO


def test_json_lines_of_many_videos_by_their_field(tmp_path: Path) -> None:
    lines = [{"video": name, "time": 0, "text": f"in {name}"} for name in ("a.mp4", "b.mp4")]
    path = put(tmp_path / "captions.jsonl", "\n".join(map(json.dumps, lines)))
    assert read_captions(path, "b.mp4")[0].text == "in b.mp4"
    assert read_captions(path, "/films/a.mkv")[0].text == "in a.mp4"
    with pytest.raises(InputError, match=r"2 videos \('a.mp4', 'b.mp4'\)"):
        read_captions(path)
    with pytest.raises(InputError, match=r"no captions of 'c'.*'a.mp4', 'b.mp4'"):
        read_captions(path, "c")


def test_exact_name_goes_before_the_stem(tmp_path: Path) -> None:
    path = put(tmp_path / "c.json", {"clip": ["stem"], "clip.mp4": ["exact"], "v1.5": ["dotted"]})
    assert read_captions(path, "clip.mp4")[0].text == "exact"
    assert read_captions(path, "dir/clip.webm")[0].text == "stem"
    assert read_captions(path, "dir\\v1.5.mkv")[0].text == "dotted"


def test_a_missing_video_lists_a_few_names(tmp_path: Path) -> None:
    path = put(tmp_path / "c.json", {f"v{i}": [] for i in range(9)})
    with pytest.raises(InputError, match=r"no captions of 'x'; it has: 'v0', 'v1', 'v2', 'v3', 'v4', …"):
        read_captions(path, "x")
    with pytest.raises(InputError, match="9 videos"):
        read_captions(path)
    with pytest.raises(InputError, match="it has: nothing"):
        read_captions(put(path, {}), "x")


def test_empty_entries_are_left_out_and_keep_their_second(tmp_path: Path) -> None:
    assert read_captions(put(tmp_path / "c.json", ["", " \n", "#O", "a cat"])) == (Caption(time=3, text="a cat"),)
    assert read_captions(put(tmp_path / "c.json", [])) == ()
    assert read_captions(put(tmp_path / "c.jsonl", "")) == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"v": ["a", 7]}, r"c\.json: 'v', item 1 is a number, not a text"),
        ({"v": ["a", None]}, r"'v', item 1 is null"),
        ({"v": {"0": "a", "-1": "b"}}, r"'v', key '-1': '-1' is not a time"),
        ({"v": {"nan": "a"}}, r"key 'nan'"),
        ({"0": "a", "soon": "b"}, r"key 'soon'"),
        ({"0": "a", "1": ["b"]}, r"key '1' is a list"),
        ('[{"time": NaN, "text": "a"}]', r"item 0: nan is not a time"),
        ([{"time": 1e999, "text": "a"}], r"item 0: inf is not a time"),
        ([{"time": True, "text": "a"}], r"item 0: True is not a time"),
        ([{"time": 1, "text": "a"}, {"time": 2}], r"item 1 has no text; it has: time"),
        ([{"text": "a"}], r"item 0 has no time"),
        ([{"time": 1, "text": "a"}, "b"], r"item 1 is a text: an object"),
        ([{"time": 1, "text": "a", "video": 3}], r"'video' is a number"),
        ({"v": [], "w": "text"}, r"'w' is a text"),
        ("{", r"not JSON"),
        ('{"v": ["a"] "w": []}', r"',' or '}' was expected"),
        ('{"v" ["a"]}', r"':' were expected"),
        ('{"v": ["a", }', r"not JSON"),
        ('{"time": 0, "text": "a"}\nnonsense', r"line 2 is not JSON"),
        ("[" * 100_000, r"not JSON"),
        ("", r"empty or not JSON"),
        ("once upon a time", r"empty or not JSON"),
    ],
)
def test_wrong_entries_name_file_key_and_index(tmp_path: Path, content: Any, message: str) -> None:
    path = put(tmp_path / "c.json", content)
    video = ("w" if "w" in content else "v") if isinstance(content, dict) and "0" not in content else None
    with pytest.raises(InputError, match=message) as caught:
        read_captions(path, video)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_captions(tmp_path / "none.json")
    with pytest.raises(InputError, match="directory"):
        read_captions(tmp_path)
    (tmp_path / "b.json").write_bytes(b'["\xff"]')
    with pytest.raises(InputError, match="not UTF-8"):
        read_captions(tmp_path / "b.json")


def test_write_replaces_whole_files_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    assert write_captions(path, TWO, video="v") == 2

    def broken() -> Any:
        yield TWO[0]
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_captions(path, broken())
    assert read_captions(path, "v") == TWO
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]
    with pytest.raises(InputError, match="cannot be written"):
        write_captions(tmp_path / "no" / "out.jsonl", TWO)


_texts = st.text().map(normalise).filter(bool)
_times = st.floats(min_value=0, max_value=1e6, allow_nan=False)
_captions = st.lists(st.builds(Caption, time=_times, text=_texts), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(captions=_captions, video=st.sampled_from(["", "clip", "a b.mp4"]))
def test_what_is_written_is_read_back(tmp_path: Path, captions: list[Caption], video: str) -> None:
    path = tmp_path / "out.jsonl"
    assert write_captions(path, captions, video) == len(captions)
    assert read_captions(path, video or None) == tuple(sorted(captions, key=lambda c: c.time))


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["0", "v", "time", "text", "video"]), inner)
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    content=_json.map(json.dumps) | st.text(max_size=20),
    suffix=st.sampled_from([".json", ".jsonl"]),
    video=st.none() | st.just("v"),
)
def test_any_file_gives_captions_or_an_input_error(
    tmp_path: Path, content: str, suffix: str, video: str | None
) -> None:
    try:
        captions = read_captions(put(tmp_path / f"any{suffix}", content), video)
    except InputError:
        return
    assert list(captions) == sorted(captions, key=lambda c: c.time)
    assert all(caption.text for caption in captions)
