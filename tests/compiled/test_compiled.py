from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.engine import fake_lm
from videohv import VideoHV, load_program
from videohv.errors import ProgramError


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    program = VideoHV()
    program.judge.predict.signature = program.judge.predict.signature.with_instructions("Judge well.")
    program.save(tmp_path / "program.json")
    return tmp_path / "program.json"


def edit(path: Path, change: Any) -> None:
    state = json.loads(path.read_text())
    change(state)
    path.write_text(json.dumps(state))


def test_a_saved_program_is_loaded_and_keeps_the_settings_of_the_target(saved: Path) -> None:
    program = load_program(saved, into=VideoHV(rounds=1))
    assert program.judge.predict.signature.instructions == "Judge well."
    assert program.settings.rounds == 1


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(ProgramError, match="neither a file nor one of the shipped names"):
        load_program("no-such-program")


@pytest.mark.parametrize(
    "content", ["", "[]", '{"judge.predict": 3}', "\x80garbage", '{"judge.predict": {"demos": []}}']
)
def test_a_file_that_is_no_program_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(ProgramError, match=r"x\.json: this is not a program"):
        load_program(path)


def test_a_missing_agent_is_named(saved: Path) -> None:
    edit(saved, lambda state: state.pop("verifier.look"))
    with pytest.raises(ProgramError, match=r"verifier\.look"):
        load_program(saved)


def test_a_renamed_field_is_named_rather_than_shifted(saved: Path) -> None:
    def rename(state: Any) -> None:
        state["judge.predict"]["signature"]["fields"][2]["prefix"] = "Digest:"

    edit(saved, rename)
    with pytest.raises(ProgramError, match=r"fields of judge\.predict differ .*Digest, Summary"):
        load_program(saved)


def test_a_failed_load_leaves_the_target_as_it_was(saved: Path) -> None:
    edit(saved, lambda state: state.pop("verifier.look"))
    program = VideoHV()
    with pytest.raises(ProgramError):
        load_program(saved, into=program)
    assert program.judge.predict.signature.instructions != "Judge well."


def test_a_model_saved_with_a_program_is_not_asked(tmp_path: Path) -> None:
    program = VideoHV()
    program.set_lm(dspy.LM("openai/gpt-4o"))
    program.save(tmp_path / "theirs.json")
    mine, _ = fake_lm()
    target = VideoHV()
    target.judge.predict.lm = mine
    load_program(tmp_path / "theirs.json", into=target)
    assert target.judge.predict.lm is mine
    assert target.answer.predict.lm is None


def test_a_prefix_that_an_optimizer_rewrote_is_loaded(saved: Path) -> None:
    def rewrite(state: Any) -> None:
        state["judge.predict"]["signature"]["fields"][-1]["prefix"] = "Verdict, after thinking twice:"

    edit(saved, rewrite)
    load_program(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda agent: agent.update(demos=5),
        lambda agent: agent.update(demos=[1]),
        lambda agent: agent["signature"].update(instructions=None),
        lambda agent: agent["signature"]["fields"][0].pop("prefix"),
        lambda agent: agent["signature"].update(fields="x"),
    ],
)
def test_a_broken_agent_is_refused_by_name(saved: Path, change: Any) -> None:
    edit(saved, lambda state: change(state["judge.predict"]))
    with pytest.raises(ProgramError, match=r"judge\.predict"):
        load_program(saved)


@pytest.mark.parametrize("name", ["x" * 400, "a\0b"])
def test_a_name_that_no_file_can_have_is_an_unknown_program(name: str) -> None:
    with pytest.raises(ProgramError):
        load_program(name)
