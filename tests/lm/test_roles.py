from __future__ import annotations

import dspy
import pytest

from tests.support.engine import fake_lm
from videohv.errors import InputError
from videohv.lm import roles
from videohv.lm.roles import assignments, check_role, choices, declare_role, eyes, lm_for, looks, role_names, using


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "_known", dict(roles._known))


def lm(images: bool | None = None) -> dspy.LM:
    return fake_lm(supports_images=images)[0]


def test_a_step_uses_its_own_then_its_role_then_its_family_then_what_is_given_then_the_general_one() -> None:
    own, exact, family, given, general = (lm() for _ in range(5))
    assert lm_for("verifier.check") is None
    with using(general):
        assert lm_for("verifier.check") is general
        assert lm_for("verifier.check", given=given) is given
        with using(None, roles={"verifier": family}):
            assert lm_for("verifier.check", given=given) is family
            with using(None, roles={"verifier.check": exact}):
                assert lm_for("verifier.check", given=given) is exact
                assert lm_for("verifier.check", own, given) is own
                assert lm_for("verifier.locate") is family
                assert lm_for("verifiers") is general
                assert lm_for("judge") is general
            assert lm_for("verifier.check") is family


def test_any_dotted_name_has_its_families() -> None:
    near, far = lm(), lm()
    with using(lm(), roles={"a": far, "a.b": near}):
        assert lm_for("a.b.c") is near
        assert lm_for("a.x.c") is far


def test_what_is_set_for_one_block_is_seen_in_no_other() -> None:
    mine = lm()
    with using(mine, mine, {"judge": mine}, {"judge": "here"}):
        assert lm_for("judge") is mine
    assert lm_for("judge") is None
    assert eyes(None) is None


def test_who_looks_is_the_same_model_that_is_then_asked() -> None:
    """`ask` is given what `eyes` chose; both must come to the same model."""
    seeing, blind, unknown, vision = lm(True), lm(False), lm(), lm()
    for family in (seeing, blind, unknown, None):
        for exact in (seeing, unknown, None):
            for own in (seeing, None):
                chosen = {"verifier": family, "verifier.look": exact}
                with using(seeing, vision, {name: value for name, value in chosen.items() if value is not None}):
                    looking = eyes(own, "verifier.look")
                    assert looking is not None
                    assert lm_for("verifier.look", own, looking) is looking


def test_a_family_that_sees_nothing_leaves_the_looking_to_the_vision_model() -> None:
    blind, vision = lm(False), lm()
    with using(blind, vision, {"verifier": blind}):
        assert eyes(None, "verifier.look") is vision
        assert eyes(None, "captioner") is vision
        assert lm_for("verifier.check") is blind
    with using(vision, vision, {"verifier.look": blind}):
        assert eyes(None, "verifier.look") is None, "named for the very step: the step goes without"


def test_each_choice_says_who_made_it() -> None:
    general, judge, vision = lm(False), lm(), lm(True)
    with dspy.context(lm=general):
        assert {choice.origin for choice in choices() if choice.lm} == {"dspy.configure"}
        with using(None, vision, {"judge": judge}, {"judge": "--role judge", "vision_lm": "lab.toml, vision_lm"}):
            found = {choice.role: choice for choice in choices()}
            with dspy.context(lm=lm()):
                assert next(c for c in choices(["summary"])).origin == "dspy.configure"
    assert found["judge"].origin == "--role judge"
    assert found["verifier.look"].origin == found["captioner"].origin == "lab.toml, vision_lm"
    assert found["summary"].origin == "dspy.configure"
    assert "fake/model" in found["answer"].lm


def test_an_origin_does_not_outlive_its_model() -> None:
    with using(lm(), origins={"lm": "--lm"}):
        assert choices(["answer"])[0].origin == "--lm"
        with dspy.context(lm=lm()):
            assert choices(["answer"])[0].origin == "dspy.configure"


def test_without_any_model_a_choice_is_empty() -> None:
    for choice, model in assignments(["judge", "verifier.look"]):
        assert (choice.lm, choice.origin, model) == ("", "", None)


def test_steps_are_known_when_they_are_declared(registry: None) -> None:
    with pytest.raises(InputError, match=r"here: no role is called 'rival.answer'; known: answer, captioner, .*judge"):
        check_role("rival.answer", "here")
    assert declare_role("rival.answer", looks=True) == "rival.answer"
    assert check_role("rival.answer", "here")
    assert check_role("rival", "here"), "its family too"
    assert "rival.answer" in role_names()
    assert looks("rival.answer")
    seeing = lm(True)
    with using(seeing):
        assert eyes(None, "rival.answer") is seeing


def test_every_step_of_every_method_is_known_and_looks_if_it_is_shown_frames() -> None:
    from videohv.modules import make_method, method_names

    for name in method_names():
        for agent, predictor in make_method(name).named_predictors():
            step = agent.removesuffix(".predict")
            assert step in role_names(), (name, step)
            assert looks(step) == ("frames" in predictor.signature.input_fields), step
