"""`videohv program`: what is shipped, what a program is told, and what an optimizer changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.artifacts import a_compiled_program, an_artifact, judged
from videohv import VideoHV
from videohv.cli import run
from videohv.compiled import read_artifact, shipped, write_artifact
from videohv.compiled.artifact import Artifact


@pytest.fixture
def file(tmp_path: Path) -> str:
    write_artifact(tmp_path / "best.json", an_artifact(name="best"))
    return str(tmp_path / "best.json")


def test_what_is_shipped_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("videohv.compiled.resources.files", lambda _: tmp_path)
    assert run(["program", "list"]) == 0
    said = capsys.readouterr()
    assert (said.out, "videohv compile" in said.err) == ("", True)
    write_artifact(tmp_path / "best.json", an_artifact(name="best"))
    (tmp_path / "torn.json").write_text("{")
    (tmp_path / "best.md").write_text("# best\n")
    assert run(["program", "list"]) == 0
    said = capsys.readouterr()
    head, best, torn = said.out.splitlines()
    assert head.split()[:4] == ["name", "method", "optimizer", "model"]
    assert best.split()[:5] == ["best", "videohv", "bootstrap", "embedded/tiny", "accuracy"]
    assert "50.0 % (35.0 to 65.0 %)" in best
    assert "+10.0 points (-5.0 to +25.0)" in best
    assert torn.split() == ["torn", *["–"] * 7]
    assert "torn" in said.err
    assert run(["program", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == ["best", "torn"]
    assert listed[0]["scores"][0]["compiled"]["value"] == 0.5


def test_the_present_list_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["program", "list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == list(shipped())


def test_a_program_is_shown_with_its_card_on_top(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["program", "show", file]) == 0
    out = capsys.readouterr().out
    top, told = out.split("judge.predict\n")
    assert top.startswith("best\nPrompts of the method videohv, made by bootstrap")
    assert "accuracy 50.0 % (35.0 to 65.0 %), the seed 40.0 %: +10.0 points" in top
    assert "held-out questions tell apart" in top
    assert "  Name one thing that a few frames show." in told
    assert "  1. of question q0001, from a trace" in told
    assert "  2. from a trace" in told
    assert "Answer the question" not in told
    assert "as the package has them (--full shows them too): captioner.predict, summary.predict" in told


def test_in_full_nothing_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = a_compiled_program()
    program.judge.predict.demos = [judged(summary="word " * 100 + "the end")]
    write_artifact(tmp_path / "p.json", an_artifact(program))
    assert run(["program", "show", str(tmp_path / "p.json")]) == 0
    assert "the end" not in capsys.readouterr().out
    assert run(["program", "show", str(tmp_path / "p.json"), "--full"]) == 0
    out = capsys.readouterr().out
    assert "the end" in out
    assert "B. reads: a book is open" in out
    assert "(clue: output str) what to look for, in one sentence" in out
    assert all(f"\n{name}\n" in out for name, _ in program.named_predictors())


def test_as_json_it_is_all_there(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["program", "show", file, "--json"]) == 0
    assert Artifact.model_validate(json.loads(capsys.readouterr().out)) == read_artifact(file)


def test_what_dspy_saved_is_shown_without_a_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_compiled_program("captions").save(tmp_path / "saved.json")
    assert run(["program", "show", str(tmp_path / "saved.json")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("saved.json\nA program of the method captions as DSPy saves it")
    assert "Answer as captions.answer should." in out


def test_a_program_that_does_not_fit_is_shown_and_said_not_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from videohv.compiled.agents import agents_hash

    artifact = an_artifact()
    agents = tuple(
        agent.model_copy(update={"fields": tuple(f.model_copy(update={"kind": "input int"}) for f in agent.fields)})
        for agent in artifact.agents
    )
    changed = artifact.model_copy(update={"agents": agents, "program_hash": agents_hash(agents)})
    write_artifact(tmp_path / "p.json", changed)
    assert run(["program", "show", str(tmp_path / "p.json")]) == 0
    said = capsys.readouterr()
    assert "does not fit" in said.err
    assert "answer.predict" in said.out


def test_the_difference_to_the_seed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["program", "diff", "seed", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "A: seed"
    assert lines[1].startswith("B: best; accuracy 50.0 %")
    assert "  - Find the one observation in the video that best tells the hypotheses apart." in lines
    assert "  + Name one thing that a few frames show." in lines
    assert "  + demonstration of question q0001, from a trace" in lines
    assert lines[-1].startswith("the same in both: captioner.predict")
    assert run(["program", "diff", file, "seed"]) == 0
    assert "  - demonstration of question q0001, from a trace" in capsys.readouterr().out


def test_a_changed_word_is_shown_in_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for number, word in enumerate(("small", "tiny")):
        program = VideoHV()
        rest = "\n".join(f"Rule {i}." for i in range(9))
        told = f"Find the {word} thing that matters most.\n{rest}"
        program.judge.predict.signature = program.judge.predict.signature.with_instructions(told)
        files.append(tmp_path / f"{number}.json")
        write_artifact(files[-1], an_artifact(program))
    assert run(["program", "diff", *map(str, files)]) == 0
    out = capsys.readouterr().out
    assert "  ~ Find the [-small-] {+tiny+} thing that matters most." in out
    assert "    Rule 1.\n    … 7 lines that are the same" in out
    assert run(["program", "diff", *map(str, files), "--full"]) == 0
    assert "    Rule 8." in capsys.readouterr().out
    assert run(["program", "diff", *map(str, files), "--json"]) == 0
    (change,) = json.loads(capsys.readouterr().out)
    assert change["agent"] == "judge.predict"
    assert change["instructions"]["after"].startswith("Find the tiny thing")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["show", "nobody"], 1, "neither a file nor one of the shipped names"),
        (["diff", "seed", "seed"], 2, "both are the seed"),
        (["diff", "seed", "nobody"], 1, "no program 'nobody'"),
    ],
)
def test_what_cannot_be_shown_is_said(
    arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["program", *arguments]) == code
    assert told in capsys.readouterr().err


def test_programs_of_other_methods_are_not_compared(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_artifact(tmp_path / "rival.json", an_artifact(a_compiled_program("captions")))
    assert run(["program", "diff", file, str(tmp_path / "rival.json")]) == 2
    assert "'videohv'" in capsys.readouterr().err


def test_texts_steer_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = VideoHV()
    told = program.judge.predict.signature.with_instructions("Judge.\x1b[31m [bold]Well[/bold]")
    program.judge.predict.signature = told
    program.judge.predict.demos = [judged(clue="red\x1b[2J")]
    write_artifact(tmp_path / "p.json", an_artifact(program))
    for command in (["show"], ["show", "--full"], ["diff", "seed"]):
        assert run(["program", *command, str(tmp_path / "p.json")]) == 0
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "[bold]Well[/bold]" in out
