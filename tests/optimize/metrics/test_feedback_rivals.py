"""What is said of the agents of the other methods."""

from __future__ import annotations

import pytest

from tests.support.traces import (
    a_look,
    a_question,
    a_trace,
    evidence,
    window,
)
from videohv.modules.methods import make_method
from videohv.optimize.metrics.case import Case
from videohv.optimize.metrics.feedback import Critique, critique
from videohv.types import (
    Answer,
    Degradation,
    Look,
    Question,
    Round,
    Trace,
)

WRONG = 0


def of(trace: Trace, question: Question | None = None) -> Critique:
    return critique(Case.of(question or a_question(), trace))


def test_the_captions_rival() -> None:
    trace = a_trace(WRONG, method="captions", rounds=())
    said = of(trace)
    assert said.agents == {
        "captions.answer": (
            0,
            'It answered A ("a red ball") because "at 12 s it is in the hand"; B ("a blue cube") is right.',
        )
    }


def test_the_direct_rival_is_half_blamed_where_no_frame_showed_the_moment() -> None:
    look = a_look(seen=(evidence(observations=()),))
    trace = a_trace(WRONG, Round(drafts=(), looks=(look,)), method="direct")
    assert of(trace).agents["direct.answer"][0] == 0
    missed = of(trace, a_question(spans=[{"start": 40, "end": 50}]))
    assert missed.agents["direct.answer"][0] == 0.5
    assert "None of the 1 frames" in missed.text


def test_the_retrieving_rival() -> None:
    first = Round(drafts=(), looks=(a_look(windows=(window(0, 60),)),))
    sure = Answer(option_index=WRONG, confidence=1.0)
    said = of(a_trace(WRONG, first, method="retrieval", answer=sure))
    assert set(said.agents) == {"retrieval.answer"}
    assert "as certain as can be" in said.text
    more = Round(drafts=(), looks=(Look(windows=(window(10, 15),), evidence=(evidence(),)),))
    said = of(a_trace(WRONG, first, more, method="retrieval"), a_question(spans=[{"start": 40, "end": 50}]))
    assert said.agents["retrieval.seek"][0] == 0


@pytest.mark.parametrize("method", ["videohv", "captions", "direct", "retrieval"])
def test_only_agents_that_the_method_has_are_named(method: str) -> None:
    known = {name for name, _ in make_method(method).named_predictors()}
    degraded = tuple(Degradation(step=name.removesuffix(".predict"), why="it was cut off") for name in sorted(known))
    said = of(a_trace(WRONG, method=method, degraded=degraded), a_question(spans=[{"start": 40, "end": 50}]))
    assert set(said.agents) == known
