from __future__ import annotations

import dspy
import pytest

from tests.support.engine import ROLES
from videohv import signatures
from videohv.types import REPLY_ITEMS

SIGNATURES = [getattr(signatures, name) for name in signatures.__all__]


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda s: s.__name__)
def test_no_field_name_is_one_that_dspy_keeps_for_itself(signature: type[dspy.Signature]) -> None:
    assert not {"lm", "config", "demos", "prediction", "signature"} & set(signature.fields)


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda s: s.__name__)
def test_every_signature_has_instructions_and_a_role_in_the_fake_engine(signature: type[dspy.Signature]) -> None:
    assert len(signature.instructions) > 100
    assert frozenset(signature.output_fields) in ROLES.values()


def test_every_limit_belongs_to_a_list_that_a_model_is_asked_for() -> None:
    lists = {n for s in SIGNATURES for n, f in s.output_fields.items() if str(f.annotation).startswith("list")}
    assert set(REPLY_ITEMS) <= lists


def test_captions_reach_only_summary_locate_the_proposer_and_the_rival_that_answers_from_them() -> None:
    with_captions = {s.__name__ for s in SIGNATURES if "captions" in s.input_fields}
    assert with_captions == {"Summarize", "Locate", "ProposeOptions", "AnswerFromCaptions"}


def test_the_summary_reaches_thinker_judge_and_answer_alone() -> None:
    assert {s.__name__ for s in SIGNATURES if "summary" in s.input_fields} == {"Hypothesize", "Judge", "Decide"}


def test_frames_reach_only_look_captioner_and_the_rival_that_answers_from_them() -> None:
    with_frames = {s.__name__ for s in SIGNATURES if "frames" in s.input_fields}
    assert with_frames == {"Look", "Describe", "AnswerFromFrames"}


def test_the_rivals_are_told_nothing_of_hypotheses() -> None:
    for signature in (signatures.AnswerFromCaptions, signatures.AnswerFromFrames, signatures.AnswerFromMoments):
        told = " ".join([signature.instructions, *(str(f.json_schema_extra) for f in signature.fields.values())])
        assert "clue" not in told.lower()
        assert "hypothes" not in told.lower()


def test_the_looking_agent_is_not_told_what_to_expect() -> None:
    assert not {"hypotheses", "options", "question", "summary"} & set(signatures.Look.input_fields)


def test_what_is_stable_across_questions_comes_first() -> None:
    assert next(iter(signatures.Summarize.input_fields)) == "captions"
    assert next(iter(signatures.Locate.input_fields)) == "captions"
    assert next(iter(signatures.AnswerFromCaptions.input_fields)) == "captions"
