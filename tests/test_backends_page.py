"""docs/backends.md says only what is so: its code runs, its commands resolve, its profiles are read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import dspy
import pytest

from videohv.cli import run
from videohv.lm import backends
from videohv.lm.backends import backend_names
from videohv.lm.roles import role_names
from videohv.lm.spec import Options

PAGE = (Path(__file__).parent.parent / "docs" / "backends.md").read_text(encoding="utf-8")


class Block(NamedTuple):
    kind: str
    text: str

    @property
    def name(self) -> str:
        return self.text.strip().splitlines()[0][:60]


BLOCKS = [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def of(kind: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind == kind]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the profiles of the page, and no configuration left behind."""
    monkeypatch.chdir(tmp_path)
    for block in of("toml"):
        name = re.fullmatch(r"# (\w+\.toml)", block.text.splitlines()[0])
        if name:
            (tmp_path / name.group(1)).write_text(block.text, encoding="utf-8")
    backend_names()
    monkeypatch.setattr(backends, "_backends", dict(backends._backends))
    names = ("lm", "videohv_vision_lm", "videohv_role_lms", "videohv_lm_origins")
    before = {name: dspy.settings.get(name) for name in names}
    yield tmp_path
    dspy.configure(**before)


@pytest.mark.parametrize("block", of("python"), ids=lambda block: block.name)
def test_the_code_runs(block: Block, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-0123456789")
    exec(block.text, {"__name__": "page"})  # The page is what is tested.


@pytest.mark.parametrize("block", of("sh"), ids=lambda block: block.name)
def test_the_commands_do_what_they_say(
    block: Block, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words and (words[0] == "export" or re.match(r"[A-Z_]+=", words[0])):
            name, equals, value = words.pop(0).partition("=")
            if equals:
                monkeypatch.setenv(name, value.replace("…", "planted-0123456789"))
        if not words:
            continue
        assert words[0] == "videohv"
        if "--offline" in words:
            assert run(words[1:]) == 0, capsys.readouterr()
            assert "planted" not in "".join(capsys.readouterr())
        else:
            assert run([words[1], "--help"]) == 0
            shown = capsys.readouterr().out
            assert all(option in shown for option in words if option.startswith("-")), words


def test_the_judge_of_the_profile_stays_when_only_lm_is_given(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LAB_KEY"):
        monkeypatch.setenv(name, "planted-0123456789")
    assert run(["doctor", "--offline", "--profile", "lab.toml#mixed", "--lm", "ollama/qwen3"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")}
    assert "anthropic/claude" in lines["judge"]
    assert lines["answer"].endswith("--lm")


def test_the_tables_are_complete() -> None:
    said = set(re.findall(r"`([\w.]+)`", "".join(re.findall(r"^\| `.*$", PAGE, re.MULTILINE))))
    assert set(role_names()) <= said
    assert set(Options.model_fields) <= said
    assert all(
        f"`{name}/" in PAGE or f" {name}/" in PAGE or f'"{name}/' in PAGE or name == "embedded"
        for name in backend_names()
    )


def test_what_could_not_be_tried_says_so() -> None:
    for name in ("OpenAI", "Anthropic", "Gemini", "vLLM", "SGLang", "Ollama", "llama.cpp's server"):
        assert re.search(rf"^### {re.escape(name)} \(not tried here\)$", PAGE, re.MULTILINE), name
