"""`videohv captions`: published captions into the store and out of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.published import put
from videohv.cli import run
from videohv.data import CaptionStore, Key
from videohv.video import content_hash


def test_in_and_out_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = {"v": ["#C C sits", "a dog "], "w": ["x"]}
    path = put(tmp_path / "in.json", published)
    assert run(["captions", "import", str(path), "--captioner", "lavila"]) == 0
    assert capsys.readouterr().out == "3 new captions of 2 videos, as lavila\n"
    assert run(["captions", "list"]) == 0
    assert capsys.readouterr().out.split() == ["lavila", "1", "fps", "2", "videos"]
    assert run(["captions", "export", str(tmp_path / "out.json"), "--captioner", "lavila"]) == 0
    assert json.loads((tmp_path / "out.json").read_text()) == published
    assert (
        run(["captions", "export", str(tmp_path / "out"), "--captioner", "lavila", "--form", "folder", "--plain"]) == 0
    )
    assert json.loads((tmp_path / "out/v.json").read_text()) == {"0": "C sits", "1": "a dog"}


def test_captions_of_video_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path / "in.json", {"v": ["#C C sits"], "w": ["x"]})
    video = put(tmp_path / "videos/v.mp4", "content")
    store = tmp_path / "store.sqlite3"
    common = ["--captioner", "lavila", "--videos", str(video.parent), "--store", str(store)]
    assert run(["captions", "import", str(path), *common]) == 0
    printed = capsys.readouterr()
    assert "left out: 1 videos that have no file (w)" in printed.err
    assert printed.out == "1 new captions of 1 videos, as lavila\n"
    assert CaptionStore(store).read(Key(content_hash(video), "lavila", 1.0))[0].text == "C sits"
    assert run(["captions", "export", str(tmp_path / "out.json"), *common]) == 0
    assert json.loads((tmp_path / "out.json").read_text()) == {"v": ["#C C sits"]}


def test_failures_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path / "in.json", ["a"])
    assert run(["captions", "import", str(path), "--captioner", "x"]) == 2
    assert "name no video" in capsys.readouterr().err
    assert run(["captions", "export", str(tmp_path / "out.json"), "--captioner", "x"]) == 2
    assert "it has: none at all" in capsys.readouterr().err
    assert run(["captions", "import", str(path)]) == 2
