from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
