"""The pages under docs say only what is so; docs/backends.md has tests of its own beside the backends."""

from __future__ import annotations

import re
from pathlib import Path

import dspy
import pytest

from tests.support.benchmark import make_benchmark
from tests.support.compiling import taught_lm, teachable
from tests.support.engine import fake_lm
from tests.support.pages import absent, commands, options_of
from tests.support.server import FakeServer
from videohv.cli import run
from videohv.data import benchmark_cards
from videohv.evaluate.export import export_formats
from videohv.modules.methods import method_names
from videohv.optimize import metric_names, optimizer_names
from videohv.types import Outcome

ROOT = Path(__file__).parent.parent
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
BENCHMARKS = PAGES["benchmarks.md"]
COMPILING = PAGES["compiling.md"]


def test_the_benchmark_example_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, captions = make_benchmark(tmp_path / "DATA", 3)
    captions.rename(root / "egoschema" / "lavila_subset.json")
    code = re.search(r"```python\n(.*?)```", BENCHMARKS, re.DOTALL)
    assert code
    monkeypatch.chdir(tmp_path)
    lm, _ = fake_lm()
    with dspy.context(lm=lm):
        exec(code.group(1), {})  # The example is what is tested.
    assert "1 of 3" in capsys.readouterr().out


def test_the_compiling_example_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, captions = make_benchmark(tmp_path / "DATA", 24, moments=6)
    captions.rename(root / "egoschema" / "lavila_subset.json")
    code = re.search(r"```python\n(.*?)```", COMPILING, re.DOTALL)
    assert code
    monkeypatch.chdir(tmp_path)
    with dspy.context(lm=taught_lm()[0]):
        exec(code.group(1), {})  # The example is what is tested.
    assert "not shown to be better best" in capsys.readouterr().out


@pytest.mark.slow
def test_the_compiling_command_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, captions = make_benchmark(tmp_path / "DATA", 24, moments=6)
    captions.rename(root / "egoschema" / "lavila_subset.json")
    command = next(words for words in commands(COMPILING) if words[1] == "compile")
    monkeypatch.chdir(tmp_path)
    with FakeServer(teachable) as server:
        asked = [server.spec() if word == "openai/gpt-4o-mini" else word for word in command[1:]]
        assert run([*asked, "--concurrency", "4"]) in (0, 4)
    assert list(tmp_path.glob("best*.json"))


def test_every_optimizer_and_metric_is_on_the_compiling_page() -> None:
    for name in {*optimizer_names(), *metric_names()} - {"planned"}:
        assert f"`{name}`" in COMPILING or f"--metric {name}`" in COMPILING, name


def test_every_option_named_on_the_compiling_page_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", "--help"]) == 0
    assert absent(set(re.findall(r"`(--[a-z-]+)", COMPILING)), capsys.readouterr().out) == set()


@pytest.mark.parametrize("command", [*commands(BENCHMARKS), *commands(COMPILING)], ids=" ".join)
def test_every_command_and_option_exists(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command[1], "--help"]) == 0
    assert absent(options_of(command), capsys.readouterr().out) == set()


def test_every_option_named_in_the_text_exists(capsys: pytest.CaptureFixture[str]) -> None:
    shown = ""
    for command in ("eval", "results", "compare", "export", "submit"):
        assert run([command, "--help"]) == 0
        shown += capsys.readouterr().out
    named = set(re.findall(r"`(--[a-z-]+)", BENCHMARKS))
    assert named
    assert absent(named, shown) == set()


def test_names_that_are_listed_are_all_there_are() -> None:
    for card in benchmark_cards():
        assert f"`{card.name}" in BENCHMARKS, card.name
    for name in (*method_names(), *Outcome, *(made.name for made in export_formats())):
        assert re.search(rf"\b{name}\b", BENCHMARKS), name


@pytest.mark.parametrize("page", PAGES)
def test_every_linked_file_exists(page: str) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", PAGES[page]):
        assert (ROOT / "docs" / target).exists(), target
