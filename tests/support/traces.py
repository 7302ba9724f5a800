"""Traces made by hand: a question about three things, and a run of the loop in which everything went well."""

from __future__ import annotations

from typing import Any

from videohv.types import (
    Answer,
    Check,
    Clue,
    Draft,
    Evidence,
    Hypothesis,
    Look,
    Mode,
    Observation,
    Outcome,
    Prediction,
    Quality,
    Question,
    Round,
    Source,
    Status,
    Support,
    Trace,
    Verdict,
    Window,
)

OPTIONS = ("a red ball", "a blue cube", "a green cone")
RIGHT = 1
"""The blue cube, B."""


def a_question(**changes: Any) -> Question:
    """What is picked up? The blue cube."""
    made = {"text": "What is picked up?", "options": OPTIONS, "id": "q1", "video": "v1", "answer_index": RIGHT}
    return Question.model_validate({**made, **changes})


def window(start: float, end: float) -> Window:
    """A window in seconds."""
    return Window(start=start, end=end)


def hypotheses(**of_right: Any) -> tuple[Hypothesis, ...]:
    """One for each option; changes are for the right one."""
    return tuple(
        Hypothesis(option_index=i, statement=f"{text} in the hand", **(of_right if i == RIGHT else {}))
        for i, text in enumerate(OPTIONS)
    )


def a_clue(*expectations: str) -> Clue:
    """A clue that predicts these texts for A, B, C; an empty text is no prediction."""
    given = expectations or ("something red", "something blue", "something green")
    predictions = tuple(Prediction(option_index=i, expectation=text) for i, text in enumerate(given) if text)
    return Clue(observation="the colour of the thing in the hand", predictions=predictions)


def a_draft(**changes: Any) -> Draft:
    """A draft with hypotheses and a clue."""
    made = {"mode": Mode.INITIAL, "hypotheses": hypotheses(), "clue": a_clue(), "quality": Quality.DISTINCT}
    return Draft.model_validate({**made, **changes})


def verdicts(said: str) -> tuple[Verdict, ...]:
    """`+-?` is supported, refuted, unclear for A, B, C; a space is no verdict."""
    kinds = {"+": Support.SUPPORTED, "-": Support.REFUTED, "?": Support.UNCLEAR}
    return tuple(
        Verdict(option_index=i, support=kinds[sign], why=f"as seen of {OPTIONS[i]}")
        for i, sign in enumerate(said)
        if sign in kinds
    )


def a_check(said: str = "-+-", status: Status = Status.VERIFIED) -> Check:
    """A check with these verdicts."""
    return Check(status=status, rationale="at 12 s the hand holds something", verdicts=verdicts(said))


def evidence(start: float = 10.0, end: float = 15.0, **changes: Any) -> Evidence:
    """What was seen in a window."""
    seen = (Observation(time=start + 1, text="a hand takes something"),)
    made = {"window": window(start, end), "times": (start + 1,), "observations": seen, "source": Source.FRAMES}
    return Evidence.model_validate({**made, **changes})


def a_look(check: Check | None = None, seen: tuple[Evidence, ...] | None = None, **changes: Any) -> Look:
    """One look at 10 to 15 s."""
    found = (evidence(),) if seen is None else seen
    made = {"windows": (window(10, 15),), "evidence": found, "check": check}
    return Look.model_validate({**made, **changes})


def a_round(look: Look | None = None, **draft: Any) -> Round:
    """A draft and one look."""
    return Round(drafts=(a_draft(**draft),), looks=(look if look is not None else a_look(a_check()),))


def a_trace(chosen: int | None = RIGHT, *rounds: Round, **changes: Any) -> Trace:
    """A trace of the loop that ended with this option; None declined. Without rounds there is one that went well."""
    outcome = changes.get("outcome", Outcome.ANSWERED if chosen is not None else Outcome.ABSTAINED)
    failed = outcome not in (Outcome.ANSWERED, Outcome.ABSTAINED)
    made = {
        "question": a_question(),
        "outcome": outcome,
        "answer": None if failed else Answer(option_index=chosen, reasoning="at 12 s it is in the hand"),
        "rounds": rounds or (a_round(),),
    }
    return Trace.model_validate({**made, **changes})
