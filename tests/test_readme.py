"""The README says only what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.clips import make_clip
from tests.support.engine import fake_lm
from tests.support.pages import absent, commands, options_of
from videohv.cli import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_library_example_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = README[README.index("## As a library") :]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code
    make_clip(tmp_path / "party.mp4", frames=60, fps=10.0)
    monkeypatch.chdir(tmp_path)
    lm, _ = fake_lm()
    scope: dict[str, Any] = {}
    with dspy.context(lm=lm):
        exec(code.group(1), scope)  # The example is what is tested.
    assert scope["result"].answer == "the man in red"
    assert "answered" in capsys.readouterr().out


@pytest.mark.parametrize("command", commands(README), ids=" ".join)
def test_every_command_and_option_exists(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command[1], "--help"]) == 0
    assert absent(options_of(command), capsys.readouterr().out) == set()


def test_every_linked_file_exists() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^    make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
