"""Answer: the decision, weighed against the evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice

import dspy

from videohv import signatures
from videohv.modules.ask import Unusable, ask
from videohv.modules.render import (
    MOST_ITEMS,
    clue_text,
    evidence_text,
    options_text,
    read_letter,
    rounds_text,
    summary_text,
    tidy,
)
from videohv.signatures.fields import OptionVerdict
from videohv.types import Answer as Decision
from videohv.types import Evidence, Question, Round, Segment, Status, Support, Verdict

STEP = "answer"
ABSTAIN = "ABSTAIN"


class Answer(dspy.Module):
    """Weighs every option and chooses one, or abstains when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.Decide)

    def forward(
        self,
        question: Question,
        summary: Sequence[Segment],
        rounds: Sequence[Round],
        evidence: Sequence[Evidence],
        status: Status | None,
        may_abstain: bool = False,
    ) -> Decision:
        """Decide.

        Args:
            question: With all its options; pruned ones are as eligible as the others.
            summary: What is known of the video.
            rounds: What was supposed and tested; the last clue comes from here.
            evidence: All that was seen.
            status: Of the last check, None when there was none.
            may_abstain: Whether declining is a permitted answer.

        Raises:
            StepFailed: If no reply named an option.
        """
        return ask(
            STEP,
            self.predict,
            lambda p: _read(p, question, may_abstain),
            question=question.text,
            options=options_text(question),
            summary=summary_text(summary),
            clue=clue_text(rounds[-1].clue if rounds else None),
            evidence=evidence_text(evidence),
            status=status.value if status else "unknown",
            reasoning_trace=rounds_text(rounds),
            may_abstain=may_abstain,
        )


def read_verdicts(verdicts: Iterable[OptionVerdict], question: Question) -> tuple[Verdict, ...]:
    """The verdicts that name an option, the first for each, in the order of the options."""
    read: dict[int, Verdict] = {}
    for item in islice(verdicts, MOST_ITEMS):
        try:
            index = read_letter(item.option, question)
        except Unusable:
            continue  # a verdict on no option says nothing
        read.setdefault(index, Verdict(option_index=index, support=Support(item.support), why=tidy(item.why)))
    return tuple(read[i] for i in sorted(read))


def read_choice(said: str, question: Question, may_abstain: bool) -> int | None:
    """The option that a reply chose; None if it abstained.

    Raises:
        Unusable: It names no option, or abstained although it may not.
    """
    if said.strip(" .*\"'").upper() != ABSTAIN:
        return read_letter(said, question)
    if not may_abstain:
        raise Unusable("it abstained although it may not")
    return None


def read_decision(prediction: dspy.Prediction, question: Question, may_abstain: bool) -> Decision:
    """The fields that every answering signature has: `answer`, `confidence` and `reasoning`.

    Raises:
        Unusable: As `read_choice`.
    """
    confidence = prediction.confidence
    return Decision(
        option_index=read_choice(prediction.answer, question, may_abstain),
        confidence=min(1.0, max(0.0, confidence)) if math.isfinite(confidence) else None,
        reasoning=tidy(prediction.reasoning),
    )


def _read(prediction: dspy.Prediction, question: Question, may_abstain: bool) -> Decision:
    conflicts = tuple(text for conflict in prediction.conflicts[:MOST_ITEMS] if (text := tidy(conflict)))
    return read_decision(prediction, question, may_abstain).model_copy(
        update={"verdicts": read_verdicts(prediction.verdicts, question), "conflicts": conflicts}
    )
