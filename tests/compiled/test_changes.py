from __future__ import annotations

import pytest

from tests.support.artifacts import a_compiled_program, judged
from videohv import VideoHV
from videohv.compiled.agents import agents_of
from videohv.compiled.changes import Texts, changes
from videohv.errors import ProgramError
from videohv.modules import make_method


def test_a_program_does_not_differ_from_itself() -> None:
    agents = agents_of(a_compiled_program())
    assert changes(agents, agents) == ()


def test_what_was_changed_and_nothing_else_is_named() -> None:
    seed, compiled = agents_of(VideoHV()), agents_of(a_compiled_program())
    (change,) = changes(seed, compiled)
    assert change.agent == "judge.predict"
    assert change.instructions is not None
    assert change.instructions.after == "Find the clue.\nName one thing that a few frames show."
    assert [demo.question for demo in change.added] == ["q0001", ""]
    assert (change.removed, change.fields, change.reordered) == ((), (), False)
    (back,) = changes(compiled, seed)
    assert (back.removed, back.added) == (change.added, ())


def test_demonstrations_count_as_often_as_they_are_there() -> None:
    a, b = VideoHV(), VideoHV()
    one, other = judged(clue="one"), judged(clue="other")
    a.judge.predict.demos = [one, one, other]
    b.judge.predict.demos = [other, one]
    (change,) = changes(agents_of(a), agents_of(b))
    assert [demo.values["clue"] for demo in change.removed] == ["one"]
    assert (change.added, change.kept, change.reordered) == ((), 2, True)


def test_a_prefix_and_a_description_are_told_apart() -> None:
    program = VideoHV()
    signature = program.judge.predict.signature
    program.judge.predict.signature = signature.with_updated_fields("clue", prefix="Look for:")
    program.answer.predict.signature = program.answer.predict.signature.with_updated_fields("question", desc="asked")
    judge, answer = changes(agents_of(VideoHV()), agents_of(program))
    assert (judge.fields[0].name, judge.fields[0].prefix, judge.fields[0].description) == (
        "clue",
        Texts(before="Clue:", after="Look for:"),
        None,
    )
    assert answer.fields[0].description is not None


def test_programs_of_other_agents_are_not_compared() -> None:
    with pytest.raises(ProgramError, match=r"differ in their agents: .*captions\.answer"):
        changes(agents_of(VideoHV()), agents_of(make_method("captions")))
