"""What DSPy sees of a program, and what comes back."""

from __future__ import annotations

from pathlib import Path

import dspy
import pytest

from tests.support.engine import fake_lm
from tests.support.learning import an_example, asked
from videohv.compiled.fingerprint import program_hash
from videohv.errors import InputError
from videohv.lm.roles import using
from videohv.modules.methods import make_method
from videohv.modules.videohv import VideoHV
from videohv.optimize.learner.student import Student, alike

ROLES = ("judge.predict", "answer.predict")


def a_student() -> Student:
    return Student(VideoHV(workers=1), ROLES)


def test_it_shows_the_chosen_agents_by_the_programs_names() -> None:
    student = a_student()
    assert [name for name, _ in student.named_predictors()] == list(ROLES)
    assert [name for name, _ in student.named_parameters()] == list(ROLES)
    assert len(student.predictors()) == 2
    assert set(student.dump_state()) == set(ROLES)


def test_the_order_is_the_programs_and_each_name_counts_once() -> None:
    student = Student(VideoHV(), ["answer.predict", "judge.predict", "judge.predict"])
    assert [name for name, _ in student.named_predictors()] == list(ROLES)


@pytest.mark.parametrize("roles", [(), ("judge",), ("judge.predict", "nobody")])
def test_agents_that_are_not_there_are_refused_by_name(roles: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"judge\.predict"):
        Student(VideoHV(), roles)


def test_the_program_itself_is_never_changed() -> None:
    program = VideoHV()
    before = program_hash(program)
    student = Student(program, ROLES)
    for predictor in student.predictors():
        predictor.signature = predictor.signature.with_instructions("Do better.")
        predictor.demos = [dspy.Example(clue="x")]
    assert program_hash(program) == before


def test_copies_are_independent_and_under_one_guard() -> None:
    student = a_student()
    copy = student.deepcopy()
    copy.predictors()[0].demos = [{"clue": "x"}]
    assert student.predictors()[0].demos == []
    assert copy.guard is student.guard
    assert [name for name, _ in copy.named_predictors()] == list(ROLES)


def test_a_reset_forgets_the_demonstrations_of_the_chosen_only() -> None:
    program = VideoHV()
    for predictor in program.predictors():
        predictor.demos = [{"x": 1}]
    fresh = Student(program, ROLES).reset_copy()
    kept = {name for name, predictor in fresh.program.named_predictors() if predictor.demos}
    assert kept == {name for name, _ in program.named_predictors()} - set(ROLES)
    assert fresh._compiled is False


def test_models_are_shared_kept_and_not_given_back() -> None:
    program = VideoHV(workers=1)
    own, engine = fake_lm()
    program.judge.predict.lm = own
    student = Student(program, ROLES).deepcopy().reset_copy()
    assert dict(student.named_predictors())["judge.predict"].lm is own
    with asked() as general:
        student(**an_example(0).inputs())
    assert engine.roles == ["judge"]
    assert "judge" not in general.roles
    assert all(predictor.lm is None for predictor in student.give_back().predictors())
    assert program.judge.predict.lm is own


def test_models_of_roles_are_used_whatever_the_optimizer_sets() -> None:
    judge, engine = fake_lm()
    student = a_student()
    with asked() as general, using(None, roles={"judge": judge}):
        # As SIMBA does: one model for all, drawn anew.
        student.set_lm(student.get_lm().copy(rollout_id=7, temperature=1.0))
        student(**an_example(0).inputs())
    assert engine.roles == ["judge"]
    assert engine.requests[0].temperature == 1.0
    assert {seen.temperature for seen in general.of("answer")} == {1.0}
    assert {seen.temperature for seen in general.of("thinker")} == {None}
    assert all(predictor.config == {} for predictor in student.give_back().predictors())


def test_it_answers_as_the_program_does() -> None:
    program = make_method("captions")
    with asked():
        direct = program(**an_example(3).inputs())
        through = Student(program, ["captions.answer"])(**an_example(3).inputs())
    assert through.trace.answer == direct.trace.answer
    assert through.answer == "cooks"


def test_saved_and_loaded_state_is_of_the_chosen(tmp_path: Path) -> None:
    student = a_student()
    student.predictors()[0].signature = student.predictors()[0].signature.with_instructions("Do better.")
    student.save(str(tmp_path / "candidate.json"))
    other = a_student()
    other.load(str(tmp_path / "candidate.json"))
    assert program_hash(other.give_back()) == program_hash(student.give_back())


def test_a_compiled_student_gives_back_a_program_that_can_be_optimised_again() -> None:
    student = a_student()
    student._compiled = True
    again = Student(student.give_back(), ROLES)
    assert again._compiled is False
    assert len(again.predictors()) == 2
    assert len(again.give_back().predictors()) == len(VideoHV().predictors())


def test_agents_with_equal_prompts_are_found() -> None:
    class Twins(VideoHV):
        def __init__(self) -> None:
            super().__init__()
            self.second = dspy.Predict(self.judge.predict.signature)

    assert alike(VideoHV(), ROLES) == ()
    assert alike(Twins(), ["judge.predict"]) == (("judge.predict", "second"),)
    assert alike(Twins(), ["answer.predict"]) == ()
