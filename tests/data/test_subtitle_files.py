from __future__ import annotations

from pathlib import Path

import pytest

from videohv.data.subtitle_files import subtitles_beside


def beside(folder: Path, *names: str, video: str = "party.mp4") -> list[str]:
    for name in names:
        (folder / name).touch()
    return [path.name for path in subtitles_beside(folder / video)]


def test_the_files_of_a_video_with_the_best_first(tmp_path: Path) -> None:
    names = ["party.fr.srt", "party.en.srt", "party.srt", "party.vtt", "party.forced.srt", "party.en-US.ass"]
    assert beside(tmp_path, *names) == [
        "party.srt",
        "party.vtt",
        "party.en.srt",
        "party.en-US.ass",
        "party.fr.srt",
        "party.forced.srt",
    ]


@pytest.mark.parametrize("name", ["party2.srt", "party2.en.srt", "my party.srt", "party.txt", "party.mp4", "partysrt"])
def test_other_files_are_not_its_own(tmp_path: Path, name: str) -> None:
    assert beside(tmp_path, name) == []


def test_odd_names_and_places(tmp_path: Path) -> None:
    assert beside(tmp_path, "a [x] %03d*.SRT", video="a [x] %03d*.mkv") == ["a [x] %03d*.SRT"]
    (tmp_path / "b.srt").mkdir()
    assert beside(tmp_path, video="b.mp4") == []
    assert subtitles_beside(tmp_path / "nowhere/c.mp4") == ()
    assert subtitles_beside(Path("\0")) == ()


def test_paths_are_relative_if_the_video_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v.srt").touch()
    monkeypatch.chdir(tmp_path)
    assert subtitles_beside(Path("v.mp4")) == (Path("v.srt"),)
