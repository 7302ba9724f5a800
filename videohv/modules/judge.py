"""Judge: the clue that tells the hypotheses apart, and whether they differ enough to have one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import dspy

from videohv import signatures
from videohv.modules.ask import Unusable, ask
from videohv.modules.render import clue_text, hypotheses_text, read_letter, summary_text, tidy
from videohv.signatures.judge import ExpectedSight
from videohv.types import Clue, Hypothesis, Prediction, Quality, Question, Segment

STEP = "judge"


class Judgement(NamedTuple):
    """What the Judge made of a set of hypotheses."""

    clue: Clue
    quality: Quality
    critique: str


class Judge(dspy.Module):
    """Finds the smallest discriminating observation (the clue κ of the paper)."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.Judge)

    def forward(
        self,
        question: Question,
        hypotheses: Sequence[Hypothesis],
        summary: Sequence[Segment],
        earlier: Clue | None = None,
    ) -> Judgement:
        """Judge.

        Args:
            question: What is asked.
            hypotheses: Those to tell apart.
            summary: The only view of the video that the Judge gets.
            earlier: A clue that did not serve; a different one is wanted.

        Raises:
            StepFailed: If no clue came.
        """
        return ask(
            STEP,
            self.predict,
            lambda p: _read(p, question, hypotheses),
            question=question.text,
            hypotheses=hypotheses_text(hypotheses, question),
            summary=summary_text(summary),
            earlier_clue=clue_text(earlier),
        )


def _read(prediction: dspy.Prediction, question: Question, hypotheses: Sequence[Hypothesis]) -> Judgement:
    observation = tidy(prediction.clue)
    if not observation:
        raise Unusable("the clue is empty")
    tested = {h.option_index for h in hypotheses}
    predictions = tuple(p for p in _predictions(prediction.predictions, question) if p.option_index in tested)
    clue = Clue(observation=observation, predictions=predictions)
    return Judgement(clue, Quality(prediction.quality), tidy(prediction.comparison))


def _predictions(expected: Iterable[ExpectedSight], question: Question) -> Iterable[Prediction]:
    done: set[int] = set()
    for item in expected:
        try:
            index = read_letter(item.option, question)
        except Unusable:
            continue  # a prediction for no option says nothing; the clue stands without it
        if index not in done and item.expectation.strip():
            done.add(index)
            yield Prediction(option_index=index, expectation=tidy(item.expectation))
