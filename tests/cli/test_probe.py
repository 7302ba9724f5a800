"""`videohv probe`: what a video is, how it is read, and what is wrong with it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from tests.support.clips import make_clip
from tests.support.published import put
from tests.support.subtitled import Track, make_subtitled
from videohv.cli import run
from videohv.video import content_hash


def lines(out: str) -> dict[str, str]:
    return {line[2:14].strip(): line[14:] for line in out.splitlines()[1:]}


def test_everything_about_a_video(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_subtitled(tmp_path / "party.mkv", Track([(1.0, 2.0, "hello")]), frames=90, fps=30)
    assert run(["probe", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == str(path)
    said = lines(out)
    assert said["content"] == f"sha256 {content_hash(path)}"
    assert said["picture"] == "128x96, h264, 30 frames a second"
    assert said["duration"] == "0:03 (3.000 s, 90 frames)"
    assert said["key frames"] == "at most 1 s apart"
    assert said["read by"] == "pyav: the default for every file"
    assert said["how"].startswith("exact frames; what lies between")
    assert said["stream 0"] == "video, h264, 128x96 (read)"
    assert said["stream 1"] == "subtitle, srt, eng"
    assert said["subtitles"] == "1 from subtitle stream 1 (eng, srt) of the video"
    assert said["trouble"] == "none"


def test_json_has_an_object_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turned = make_clip(tmp_path / "a.mp4", frames=30, size=(96, 128), rotation=90, audio=True)
    untimed = make_clip(tmp_path / "b.avi", frames=30, codec="mpeg4")
    put(tmp_path / "c.mp4", "not a video")
    assert run(["probe", str(tmp_path), "--json"]) == 1
    out, err = capsys.readouterr()
    first, second, third = map(json.loads, out.splitlines())
    assert not err
    assert first["info"]["path"] == str(turned)
    assert (first["info"]["width"], first["info"]["height"]) == (96, 128)
    assert [stream["kind"] for stream in first["streams"]] == ["video", "audio"]
    assert (first["bytes"], first["frames"], first["trouble"]) == (turned.stat().st_size, 30, [])
    assert (second["info"]["path"], second["info"]["largest_gop"]) == (str(untimed), None)
    assert "decoded from its start" in second["mode"]
    assert second["timeline"] == ["packets without presentation times"]
    assert third["path"] == str(tmp_path / "c.mp4")
    assert "is not a video file that can be opened" in third["error"]


def test_trouble_is_said_and_a_file_that_cannot_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_clip(tmp_path / "a.mp4", frames=30)
    put(tmp_path / "a.srt", "once upon a time")
    assert run(["probe", str(tmp_path / "none.mp4"), str(path)]) == 1
    out, err = capsys.readouterr()
    assert "none.mp4: there is no such file" in err
    assert "a.srt has no subtitles in it" in lines(out)["trouble"]
    assert run(["probe", str(path), "--decoder", "nobody"]) == 2
    assert "no decoder named 'nobody'" in capsys.readouterr().err
    assert run(["probe"]) == 2


# Only looked for: imported into this process, decord's C++ library takes the place of others'.
@pytest.mark.skipif(importlib.util.find_spec("decord") is None, reason="decord is not installed")
def test_why_another_decoder_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_clip(tmp_path / "a.avi", frames=30, codec="mpeg4")
    assert run(["probe", str(path), "--decoder", "decord"]) == 0
    said = lines(capsys.readouterr().out)
    assert said["read by"].startswith("pyav: PyAV reads this file, because decord finds wrong frames in avi")
    assert "decord finds wrong frames" in said["trouble"]
