from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.published import put
from videohv.data.videos import VideoFolder
from videohv.errors import InputError


def test_a_video_is_found_by_its_name_at_any_depth(tmp_path: Path) -> None:
    for name in ("0101/2909445186.mp4", "tube.WEBM", "deep/er/v1.5.mkv"):
        put(tmp_path / name, "x")
    put(tmp_path / "2909445186.json", "x")
    put(tmp_path / ".tube.mp4", "x")
    folder = VideoFolder(tmp_path)
    assert len(folder) == 3
    assert sorted(path.name for path in folder) == ["2909445186.mp4", "tube.WEBM", "v1.5.mkv"]
    assert folder.find("2909445186") == tmp_path / "0101/2909445186.mp4"
    assert folder.find("elsewhere/2909445186.avi") == tmp_path / "0101/2909445186.mp4"
    assert folder.find("v1.5") == tmp_path / "deep/er/v1.5.mkv"
    assert folder.find("601", "tube") == tmp_path / "tube.WEBM"
    assert folder.find("601") is None
    assert folder.find("") is None
    assert folder.find() is None


def test_one_name_for_two_files_is_an_error_that_names_both(tmp_path: Path) -> None:
    put(tmp_path / "a/clip.mp4", "x")
    put(tmp_path / "b/clip.webm", "x")
    put(tmp_path / "other.mp4", "x")
    folder = VideoFolder(tmp_path)
    assert folder.find("other") is not None
    with pytest.raises(InputError, match=r"'clip': .*clip\.mp4 and .*clip\.webm"):
        folder.find("clip")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    put(tmp_path / "a.mp4", "x")
    with pytest.raises(InputError, match=r"no video file is called '601' or 'tube' in .*, which has 1 videos"):
        VideoFolder(tmp_path).need("601", "tube")
    with pytest.raises(InputError, match="is not a folder"):
        VideoFolder(tmp_path / "none")
