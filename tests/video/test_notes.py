from __future__ import annotations

import os
from pathlib import Path

import pytest

from videohv.errors import NotVideo
from videohv.video import Video, notes
from videohv.video.notes import NOTES, Notes


def test_notes_belong_to_a_file_as_it_is(tmp_path: Path) -> None:
    path, other = tmp_path / "a.mp4", tmp_path / "b.mp4"
    path.write_bytes(b"1")
    other.write_bytes(b"1")
    kept = Notes()
    kept.add(path, "one")
    kept.add(path, "two")
    kept.add(path, "one")
    assert (kept.of(path), kept.of(other)) == (("one", "two"), ())
    os.utime(path, ns=(1, 1))
    assert kept.of(path) == ()
    path.unlink()
    assert kept.of(path) == ()
    with pytest.raises(NotVideo):
        kept.add(path, "gone")


def test_old_notes_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "_REMEMBERED", 2)
    kept = Notes()
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"1")
        kept.add(path, "seen")
    assert [kept.of(path) for path in paths] == [(), ("seen",), ("seen",)]


def test_a_video_shows_what_was_noted_since_it_was_probed(tmp_path: Path, plain: Path) -> None:
    path = tmp_path / "own.mp4"
    path.write_bytes(plain.read_bytes())
    video = Video(path)
    NOTES.add(path, "something turned up")
    assert video.info.warnings == ()
    assert video.warnings == ("something turned up",)
