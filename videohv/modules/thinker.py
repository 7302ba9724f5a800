"""Thinker: a hypothesis for every option, made anew when the evidence or the Judge asks for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import dspy

from videohv import signatures
from videohv.modules.ask import Unusable, ask
from videohv.modules.render import MOST_ITEMS, options_text, read_letter, summary_text, tidy
from videohv.signatures.thinker import StatedHypothesis
from videohv.types import Hypothesis, Mode, Question, Segment

STEP = "thinker"


class Thinker(dspy.Module):
    """Turns each option into what would have to be visible for it to hold (h_i of the paper)."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.Hypothesize)

    def forward(
        self,
        question: Question,
        summary: Sequence[Segment],
        mode: Mode = Mode.INITIAL,
        feedback: str = "",
        prune_below: float = 0.0,
    ) -> tuple[Hypothesis, ...]:
        """Think.

        Args:
            question: With its options.
            summary: The only view of the video that the Thinker gets.
            mode: Why it is asked.
            feedback: Why earlier hypotheses did not serve.
            prune_below: Hypotheses less plausible than this are marked as pruned, which keeps them out of the check
                but not
                out of the answer. When fewer than two would be left to compare, none is marked.

        Returns:
            One hypothesis for every option, in their order. An option for which the model gave none gets its own text.

        Raises:
            StepFailed: If no usable hypothesis came.
        """
        stated = ask(
            STEP,
            self.predict,
            lambda p: _read(p.hypotheses, question),
            question=question.text,
            options=options_text(question),
            summary=summary_text(summary),
            mode=mode.value,
            feedback=feedback or "none",
        )
        pruned = {i for i, h in stated.items() if h.plausibility < prune_below}
        if len(question.options) - len(pruned) < 2:
            pruned = set()
        hypotheses = {i: h.model_copy(update={"pruned": i in pruned}) for i, h in stated.items()}
        return tuple(hypotheses.get(i) or own_text(question, i) for i in range(len(question.options)))


def own_text(question: Question, option_index: int) -> Hypothesis:
    """The option's own text, standing in for a hypothesis that nobody stated."""
    return Hypothesis(option_index=option_index, statement=question.options[option_index], stated=False)


def _read(stated: Sequence[StatedHypothesis], question: Question) -> dict[int, Hypothesis]:
    read: dict[int, Hypothesis] = {}
    problems = []
    for item in stated[:MOST_ITEMS]:
        try:
            index = read_letter(item.option, question)
        except Unusable as problem:
            problems.append(str(problem))
            continue
        if index not in read and item.statement.strip():
            plausibility = item.plausibility if math.isfinite(item.plausibility) else 0.5
            read[index] = Hypothesis(
                option_index=index,
                statement=tidy(item.statement),
                plausibility=min(1.0, max(0.0, plausibility)),
            )
    if not read:
        raise Unusable(problems[0] if problems else "no hypothesis was given")
    return read
