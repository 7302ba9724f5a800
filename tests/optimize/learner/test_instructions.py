"""What can be an instruction, and what is left of a student when an optimizer is done with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.modules.ask import plain
from videohv.modules.methods import make_method, method_names
from videohv.optimize.learner.instructions import LEAST, MOST, cleaned, given_back, instructions_of, or_old, usable
from videohv.optimize.learner.student import Student

OLD = "Find the one observation that tells the hypotheses apart."
NEW = "Name the smallest thing that looks different under each hypothesis."


@pytest.mark.parametrize("method", method_names())
def test_all_instructions_of_the_package_are_usable(method: str) -> None:
    assert all(map(usable, instructions_of(make_method(method)).values()))


@pytest.mark.parametrize(
    "text",
    [NEW, "证据必须支持所选的选项，否则请重新查看视频中的窗口 并 说明 理由 谢谢。", f"{NEW}\n\n- {OLD}\n- and 3 more"],
)
def test_usable(text: str) -> None:
    assert usable(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n ",
        "Be careful.",
        "word " * 30,
        "Do this and that now. " * 40,
        f"{NEW} " * 100,
        f"[[ ## clue ## ]] {NEW}",
        f"<<CUSTOM-TYPE-START-IDENTIFIER>> {NEW}",
        "{}[]()0123456789 !!!! {}[]()0123456789 one two three four ----------------",
        "a" * (MOST + 1),
    ],
)
def test_not_usable(text: str) -> None:
    assert not usable(text)
    assert or_old(text, OLD) == OLD


@pytest.mark.parametrize("proposed", [None, 3, ["a"], {}])
def test_what_is_no_text_is_the_old_one(proposed: object) -> None:
    assert or_old(proposed, OLD) == OLD


@pytest.mark.parametrize("around", ["{}", '"{}"', "```\n{}\n```", "```text\n{}\n```", "\n {} \n"])
def test_quotes_and_fences_are_taken_off(around: str) -> None:
    assert cleaned(around.format(NEW)) == NEW


@given(st.text())
def test_whatever_comes_back_is_usable_or_the_old_one(text: str) -> None:
    made = or_old(text, OLD)
    assert made == OLD or (usable(made) and LEAST <= len(made) <= MOST and "[[ ##" not in plain(made))


def test_only_instructions_and_demonstrations_of_the_roles_come_back() -> None:
    seed = make_method("videohv")
    student = Student(seed, ("judge.predict", "thinker.predict", "answer.predict"))
    agents = dict(student.named_predictors())
    for name, told in (("judge.predict", NEW), ("thinker.predict", "no"), ("answer.predict", NEW)):
        signature = agents[name].signature.with_instructions(told)
        last = list(signature.fields)[-1]
        agents[name].signature = signature.with_updated_fields(last, prefix="So:")
    made = given_back(student, seed, ("judge.predict", "thinker.predict"))
    before, after = instructions_of(seed), instructions_of(made)
    assert after["judge.predict"] == NEW
    assert {name for name in before if before[name] != after[name]} == {"judge.predict"}
    fields = made.judge.predict.signature.fields, seed.judge.predict.signature.fields
    assert [f.json_schema_extra for f in fields[0].values()] == [f.json_schema_extra for f in fields[1].values()]


def test_an_instruction_that_was_there_before_is_not_judged() -> None:
    seed = make_method("videohv")
    seed.judge.predict.signature = seed.judge.predict.signature.with_instructions("Judge.")
    made = given_back(Student(seed, ("judge.predict",)), seed, ("judge.predict",))
    assert made.judge.predict.signature.instructions == "Judge."
