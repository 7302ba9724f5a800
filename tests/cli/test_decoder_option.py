"""Which decoder is used, and what is said when it is not there."""

from __future__ import annotations

import importlib.util
import platform
import sys
from pathlib import Path

import pytest

from tests.support.benchmark import make_benchmark
from tests.support.clips import make_clip
from videohv.cli import run

ASKED = ("-q", "What?", "-o", "a", "-o", "b")


@pytest.fixture
def commands(tmp_path: Path) -> list[list[str]]:
    """Each command that reads videos."""
    (tmp_path / "videos").mkdir()
    clip = make_clip(tmp_path / "videos" / "clip.mp4", frames=20)
    root = tmp_path / "data"
    make_benchmark(root, 2)
    return [
        ["ask", str(clip), *ASKED],
        ["caption", str(clip)],
        ["eval", "egoschema:subset", "--data-root", str(root), "--videos", str(tmp_path / "videos")],
    ]


def test_an_unknown_decoder(commands: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands:
        assert run([*command, "--decoder", "cv2"]) == 2
        assert "no decoder named 'cv2'; known are auto, decord, pyav" in capsys.readouterr().err


def test_a_decoder_that_is_not_installed(
    commands: list[list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> object:
        return None if name == "decord" else there(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", found)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    for command in commands:
        assert run([*command, "--decoder", "decord"]) == 1
        assert "pip install 'videohv[decord]'" in capsys.readouterr().err
