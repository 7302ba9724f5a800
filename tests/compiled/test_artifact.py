from __future__ import annotations

import functools
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.artifacts import a_compiled_program, an_artifact, judged
from tests.support.engine import fake_lm
from videohv import VideoHV, load_program
from videohv.compiled import envelope, read_artifact
from videohv.compiled.agents import SOURCE, agents_hash, agents_of
from videohv.compiled.artifact import Agent, Artifact, Data, Step
from videohv.compiled.envelope import write_artifact
from videohv.compiled.fingerprint import content_sha256, field_kinds, program_hash
from videohv.errors import InputError, ProgramError
from videohv.modules import make_method, method_names
from videohv.types import Model


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.json"
    write_artifact(path, an_artifact())
    return path


def resealed(path: Path, change: Any) -> Path:
    """The same file with its program changed and its hashes made to fit, as only somebody who means it would do."""
    saved = json.loads(path.read_text())
    change(saved["program"])
    try:
        agents = [Agent.model_validate(agent) for agent in saved["program"]["agents"]]
        saved["program"]["program_hash"] = agents_hash(agents)
    except ValueError:
        pass
    saved["sha256"] = content_sha256(saved["program"])
    path.write_text(json.dumps(saved))
    return path


def agent_in(program: Any, name: str) -> Any:
    return next(agent for agent in program["agents"] if agent["name"] == name)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    artifact = an_artifact()
    assert write_artifact(tmp_path / "p.json", artifact) == artifact
    assert read_artifact(tmp_path / "p.json") == artifact
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]


@pytest.mark.parametrize("method", ["videohv", "captions", "retrieval", "direct"])
def test_a_loaded_program_is_told_exactly_the_same(tmp_path: Path, method: str) -> None:
    assert method in method_names()
    program = a_compiled_program(method)
    write_artifact(tmp_path / "p.json", an_artifact(program))
    loaded = load_program(tmp_path / "p.json")
    assert type(loaded) is type(program)
    assert program_hash(loaded) == program_hash(program) != program_hash(make_method(method))


def test_it_comes_with_the_settings_it_was_compiled_with_unless_there_are_others(file: Path) -> None:
    assert load_program(file).settings.model_dump()["rounds"] == 1
    assert load_program(file, into=VideoHV(rounds=2)).settings.rounds == 2


def test_prompts_are_the_same_byte_for_byte_in_a_fresh_process(file: Path) -> None:
    lm, engine = fake_lm()
    with dspy.context(lm=lm):
        load_program(file)(question="What?", options=["cooks", "reads"], captions=["a", "b", "c"])
    here = [(seen.role, seen.system, seen.inputs) for seen in engine.requests]
    code = (
        "import json, sys, dspy\n"
        "from tests.support.engine import fake_lm\n"
        "from videohv import load_program\n"
        "lm, engine = fake_lm()\n"
        "with dspy.context(lm=lm):\n"
        "    load_program(sys.argv[1])(question='What?', options=['cooks', 'reads'], captions=['a', 'b', 'c'])\n"
        "print(json.dumps([(s.role, s.system, s.inputs) for s in engine.requests]))\n"
    )
    root = str(Path(__file__).parent.parent.parent)
    ran = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [tuple(one) for one in json.loads(ran.stdout)] == here
    assert any("Name one thing" in system for _, system, _ in here)


def test_models_stay_as_they_were(file: Path) -> None:
    mine, _ = fake_lm()
    target = VideoHV()
    target.judge.predict.lm = mine
    load_program(file, into=target)
    assert target.judge.predict.lm is mine
    assert target.answer.predict.lm is None


def test_a_program_of_another_method_is_refused_by_its_name(tmp_path: Path) -> None:
    write_artifact(tmp_path / "p.json", an_artifact(a_compiled_program("captions")))
    with pytest.raises(ProgramError, match="compiled for method 'captions'; this one is 'videohv'"):
        load_program(tmp_path / "p.json", into=VideoHV())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda p: agent_in(p, "judge.predict")["fields"][5].update(name="observation"),
            "the field 'clue' of judge.predict is 'observation' there",
        ),
        (
            lambda p: agent_in(p, "judge.predict")["fields"][5].update(kind="input str"),
            "the field 'clue' of judge.predict is 'input str' there and 'output str' in this version",
        ),
        (
            lambda p: agent_in(p, "judge.predict")["fields"].pop(2),
            "the field 'summary' of judge.predict is missing there",
        ),
        (
            lambda p: agent_in(p, "judge.predict")["fields"].append(
                {"name": "mood", "kind": "output str", "prefix": "Mood:", "description": ""}
            ),
            "the field 'mood' of judge.predict is not in this version",
        ),
        (
            lambda p: agent_in(p, "judge.predict")["fields"].reverse(),
            "the fields of judge.predict are in another order there",
        ),
        (lambda p: p["agents"].pop(0), "it has no agent '"),
        (lambda p: agent_in(p, "judge.predict").update(name="referee"), "it has an agent 'referee'"),
        (lambda p: p["agents"].append(p["agents"][0]), "is there twice"),
        (
            lambda p: agent_in(p, "judge.predict")["demos"][1]["values"].update(mood="good"),
            "demonstration 2 of judge.predict has a field 'mood'",
        ),
        (lambda p: p["settings"].update(store="elsewhere.sqlite3"), "no setting 'store'"),
        (lambda p: p["settings"].update(rounds=0), "setting 'rounds'"),
        (lambda p: p.update(method="telepathy"), "no method is called 'telepathy'"),
    ],
)
def test_what_does_not_fit_is_named(file: Path, change: Any, told: str) -> None:
    with pytest.raises(ProgramError) as raised:
        load_program(resealed(file, change))
    assert told in str(raised.value)
    assert str(file) in str(raised.value)


def test_a_refused_program_leaves_the_target_as_it_was(file: Path) -> None:
    resealed(file, lambda p: agent_in(p, "answer.predict")["fields"][0].update(name="asked"))
    target = VideoHV()
    before = program_hash(target)
    with pytest.raises(ProgramError, match="asked"):
        load_program(file, into=target)
    assert program_hash(target) == before


def test_a_newer_version_is_said_to_be_one(file: Path) -> None:
    saved = json.loads(file.read_text())
    file.write_text(json.dumps({**saved, "schema_version": 7, "program": {"unknown": "form"}}))
    with pytest.raises(ProgramError, match="schema version 7 and this videohv knows them up to 1"):
        load_program(file)


@pytest.mark.parametrize("where", [("name",), ("seed",), ("agents", 0, "instructions"), ("scores", 0, "p")])
def test_a_change_of_any_part_is_noticed(file: Path, where: tuple[str | int, ...]) -> None:
    saved = json.loads(file.read_text())
    inside: Any = saved["program"]
    for key in where[:-1]:
        inside = inside[key]
    inside[where[-1]] = 1 if isinstance(inside[where[-1]], float) else "changed"
    file.write_text(json.dumps(saved))
    with pytest.raises(ProgramError, match="changed since it was written"):
        load_program(file)


def test_it_may_be_written_in_another_way(file: Path) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()), sort_keys=True, ensure_ascii=True))
    assert read_artifact(file) == an_artifact()


@given(st.data())
def test_a_damaged_file_is_refused_or_says_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(_written().encode())
    if data.draw(st.booleans()):
        whole = whole[: data.draw(st.integers(0, len(whole) - 2))]
    else:
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_bytes(whole)
    try:
        read = read_artifact(path)
    except ProgramError:
        return
    assert read == _artifact()


@functools.cache
def _artifact() -> Artifact:
    return an_artifact()


@functools.cache
def _written() -> str:
    program = _artifact().model_dump(mode="json")
    return json.dumps(
        {"format": "videohv-program", "schema_version": 1, "sha256": content_sha256(program), "program": program}
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["format", "program", "agents", "x"]), inner),
        max_leaves=20,
    )
)
def test_json_that_is_no_program_is_refused(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "foreign.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ProgramError):
        load_program(path)


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"format": "videohv-program", "a": ' + "[" * 60 + "]" * 60 + "}",
        '{"format": "videohv-program", "schema_version": NaN}',
        '{"format": "videohv-program", "schema_version": 1e999}',
        '{"format": "videohv-program", "schema_version": ' + "9" * 5000 + "}",
        '{"format": "videohv-program", "schema_version": true}',
        '{"format": "somebody-else", "schema_version": 1}',
        '{"format": "videohv-program", "schema_version": 1, "program": []}',
        "null",
    ],
    ids=range(10),
)
def test_hostile_json_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(content)
    with pytest.raises(ProgramError, match=r"p\.json"):
        load_program(path)


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.compiled.LARGEST", 1000)
    path = tmp_path / "p.json"
    write_artifact(path, an_artifact())
    with pytest.raises(ProgramError, match="more than 1,000 bytes"):
        load_program(path)


IMAGE = "data:image/jpeg;base64,/9j/4AAQ"
MARKER = '<<CUSTOM-TYPE-START-IDENTIFIER>>[{"type": "image_url"}]<<CUSTOM-TYPE-END-IDENTIFIER>>'


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (IMAGE, "holds an image"),
        ([{"url": IMAGE}], "holds an image"),
        (MARKER, "DSPy's own markers"),
        ({"deep": [MARKER]}, "DSPy's own markers"),
        ({MARKER: 1}, "DSPy's own markers"),
        ("[[ ## answer ## ]]", "DSPy's own markers"),
    ],
)
def test_hostile_demonstrations_in_a_sealed_file_are_refused(file: Path, value: Any, told: str) -> None:
    def plant(program: Any) -> None:
        agent_in(program, "judge.predict")["demos"][0]["values"]["clue"] = value

    with pytest.raises(ProgramError, match=told):
        load_program(resealed(file, plant))


def test_markers_in_a_program_are_broken_up_on_the_way_out() -> None:
    program = VideoHV()
    program.judge.predict.demos = [judged(clue=MARKER)]
    demo = next(agent for agent in agents_of(program) if agent.name == "judge.predict").demos[0]
    assert "<<CUSTOM" not in demo.values["clue"]
    assert demo.values["clue"].replace(" ", "") == MARKER.replace(" ", "")


def test_markers_in_what_dspy_saved_are_broken_up_too(tmp_path: Path) -> None:
    program = VideoHV()
    program.judge.predict.demos = [judged(clue=MARKER)]
    program.save(tmp_path / "saved.json")
    loaded = load_program(tmp_path / "saved.json", into=VideoHV())
    assert "<<CUSTOM" not in loaded.judge.predict.demos[0]["clue"]


@pytest.mark.parametrize("value", [IMAGE, math.nan, math.inf, {1: 2}, object(), b"x", {"a", "b"}])
def test_what_no_file_can_hold_is_refused_with_its_place(value: Any) -> None:
    program = VideoHV()
    program.judge.predict.demos = [judged(), judged(clue=value)]
    with pytest.raises(ProgramError, match=r"demonstration 2 of judge\.predict, field 'clue'"):
        agents_of(program)


def test_images_in_what_dspy_saved_are_refused(tmp_path: Path) -> None:
    program = VideoHV()
    program.verifier.look.demos = [dspy.Example(frames=[dspy.Image(IMAGE)], sights=[])]
    program.save(tmp_path / "saved.json")
    with pytest.raises(ProgramError, match=r"demonstration 1 of verifier\.look, field 'frames'.* image"):
        load_program(tmp_path / "saved.json")


def test_of_a_demonstration_only_what_its_agent_has_fields_for_is_kept() -> None:
    program = VideoHV()
    program.judge.predict.demos = [judged("q7", video=f"{HOME}/clip.mp4")]
    (demo,) = next(agent for agent in agents_of(program) if agent.name == "judge.predict").demos
    assert demo.question == "q7"
    assert "video" not in demo.values
    assert SOURCE not in demo.values


PLANTED_KEY = "planted-key-of-the-environment-4711"
HOST = "gpu7.lab.example"
HOME = "/".join(["", "home", "somebody", "work"])


def test_no_key_address_or_directory_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", PLANTED_KEY)
    program = a_compiled_program()
    program.answer.predict.signature = program.answer.predict.signature.with_instructions(f"Answer. {PLANTED_KEY}")
    program.judge.predict.demos.append(judged(comparison=f"sent with {PLANTED_KEY}"))
    program.set_lm(dspy.LM(f"openai/{HOST}", api_key=PLANTED_KEY, api_base=f"http://{HOST}:8000/v1"))
    artifact = an_artifact(
        program,
        name=f"{HOME}/best",
        optimizers=(Step(name="gepa", options={"log_dir": f"{HOME}/gepa", "server": f"http://{HOST}:8000/v1"}),),
        data=Data(benchmark="custom", source=f"{HOME}/q.jsonl", captions=f"{HOME}/captions.json", train=("a/b",)),
        models=(Model(role="judge", name="m", identity="lab-ab12/m", parameters={"base": "10.1.2.3:8000"}),),
        notes=(f"began on http://{HOST}:8000 with {PLANTED_KEY} in {HOME}/runs",),
    )
    written = write_artifact(tmp_path / "p.json", artifact)
    text = (tmp_path / "p.json").read_text()
    for planted in (PLANTED_KEY, f"{HOST}:8000", "10.1.2.3", "somebody", "http://"):
        assert planted not in text
    assert (written.name, written.data.captions, written.data.train) == ("best", "captions.json", ("a/b",))
    assert written.models[0].identity == "lab-ab12/m"
    assert program_hash(load_program(tmp_path / "p.json")) == written.program_hash


def test_a_hash_that_is_not_that_of_the_agents_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="program_hash"):
        write_artifact(tmp_path / "p.json", an_artifact(program_hash="0" * 16))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_leaves_the_old_one(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()

    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(InputError, match="No space left"):
        write_artifact(file, an_artifact(name="another"))
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("text", ["", "  indented\n    more\n", "\n\n   a\n b\n", "a\n\n    b\n\tc", "x\n\n"])
def test_any_instruction_comes_back_as_it_is_shown(tmp_path: Path, text: str) -> None:
    program = VideoHV()
    program.judge.predict.signature = program.judge.predict.signature.with_instructions(text)
    artifact = an_artifact(program)
    write_artifact(tmp_path / "p.json", artifact)
    assert program_hash(load_program(tmp_path / "p.json")) == artifact.program_hash


def test_the_words_for_types_do_not_depend_on_where_a_shape_lies() -> None:
    kinds = field_kinds(VideoHV().judge.predict.signature)
    assert kinds["predictions"] == "output list[ExpectedSight(option: str, expectation: str)]"
    assert kinds["quality"] == "output Literal['DISTINCT', 'OVERLAPPING']"
    assert field_kinds(VideoHV().verifier.look.signature)["frames"] == "input list[Image]"


def test_the_seal_covers_the_recorded_values(file: Path) -> None:
    saved = json.loads(file.read_text())
    assert saved["format"] == envelope.FORMAT
    assert Artifact.model_validate(saved["program"]) == an_artifact()
