"""`videohv frames`: frames as picture files, named by their own time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import simplejpeg

from tests.support.clips import make_clip, number_in
from videohv.cli import run


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "clip.mp4", frames=60, fps=10.0)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "pictures/of it"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def number(path: Path) -> int:
    return number_in(simplejpeg.decode_jpeg(path.read_bytes()))


def test_frames_at_some_times(clip: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frames", str(clip), "--at", "4.25, 0:01.5,1.51", "--out", str(out)]) == 0
    assert names(out) == ["000001.500.jpg", "000004.200.jpg"]
    assert (number(out / "000001.500.jpg"), number(out / "000004.200.jpg")) == (15, 42)
    printed = capsys.readouterr().out.splitlines()
    size = (out / "000004.200.jpg").stat().st_size
    assert printed[0] == f"at 4.250 s: the frame of 4.200 s, {out}/000004.200.jpg, 128x96, {size} bytes"
    assert [line.split(":")[0] for line in printed] == ["at 4.250 s", "at 1.500 s", "at 1.510 s"]


def test_a_window_and_a_rate(clip: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frames", str(clip), "--window", "1-3", "-n", "4", "--out", str(out), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["wanted"] for row in rows] == pytest.approx([1.25, 1.75, 2.25, 2.75])
    assert [row["time"] for row in rows] == pytest.approx([1.2, 1.7, 2.2, 2.7])
    assert all(Path(row["file"]).stat().st_size == row["bytes"] for row in rows)
    assert run(["frames", str(clip), "--window", "5-90", "-n", "2", "--out", str(out / "end")]) == 0
    assert names(out / "end") == ["000005.200.jpg", "000005.700.jpg"]
    assert run(["frames", str(clip), "--fps", "1", "--out", str(out / "all"), "--short-side", "48"]) == 0
    assert names(out / "all") == [f"{second:010.3f}.jpg" for second in range(6)]
    assert simplejpeg.decode_jpeg_header((out / "all/000003.000.jpg").read_bytes())[:2] == (48, 64)


def test_a_file_of_other_content_is_not_replaced_unasked(
    clip: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["frames", str(clip), "--at", "1", "--out", str(out)]
    assert run(command) == 0
    file = out / "000001.000.jpg"
    before = file.read_bytes()
    assert run(command) == 0, "the same picture is no other content"
    file.write_bytes(b"a picture of mine")
    assert run(command) == 2
    assert "is there with another content; give --force" in " ".join(capsys.readouterr().err.split())
    assert file.read_bytes() == b"a picture of mine"
    assert run([*command, "--force"]) == 0
    assert file.read_bytes() == before
    assert names(out) == ["000001.000.jpg"], "no drafts are left"


def test_times_without_a_frame(clip: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frames", str(clip), "--at", "1,80", "--out", str(out)]) == 1
    assert "no frame at 80 s (it ends before)" in " ".join(capsys.readouterr().err.split())
    assert names(out) == ["000001.000.jpg"]
    assert run(["frames", str(clip), "--window", "70-80", "--out", str(out)]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give one of --at, --window and --fps"),
        (["--at", "1", "--fps", "1"], "give one of --at, --window and --fps"),
        (["--at", "soon"], "--at soon: expected a time in seconds"),
        (["--at", "-1"], "--at -1: expected a time in seconds"),
        (["--at", "nan"], "--at nan: expected a time in seconds"),
        (["--at", ","], "--at: expected times"),
        (["--at", "1:2:3:4"], "--at 1:2:3:4: expected a time"),
        (["--window", "20-10"], "--window 20-10: it ends before it starts"),
        (["--window", "20"], "expected two times with a dash"),
        (["--at", "1", "--decoder", "nobody"], "no decoder named 'nobody'"),
    ],
)
def test_what_is_no_order_is_a_usage_error(
    options: list[str], message: str, clip: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["frames", str(clip), "--out", str(out), *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_no_video_and_no_folder(clip: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frames", str(clip) + ".none", "--at", "1", "--out", str(out)]) == 1
    assert "there is no such file" in capsys.readouterr().err
    assert run(["frames", str(clip), "--at", "1", "--out", str(clip)]) == 2
    assert "the folder cannot be made" in " ".join(capsys.readouterr().err.split())
