"""Judge: the smallest observation that tells the hypotheses apart, and whether it does."""

from __future__ import annotations

from typing import Literal

import dspy

from videohv.signatures.fields import Shape


class ExpectedSight(Shape):
    """What one hypothesis, named by its letter, says the clue will show."""

    option: str
    expectation: str


class Judge(dspy.Signature):
    """Find the one observation in the video that best tells the hypotheses apart.

    First compare the hypotheses: what would look the same under all of them, and in which visible thing do they differ
    most? Then name the clue: the smallest thing to look for, visible in a few frames, that comes out differently under
    different hypotheses. Say what to look at, not what to conclude. Then say for each hypothesis what the clue will
    show if it holds. Last, say whether the clue tells them apart. If an earlier clue is given it did not serve: make
    a different one.
    """

    question: str = dspy.InputField()
    hypotheses: str = dspy.InputField(desc="one a line: letter, option, what must be visible for it")
    summary: str = dspy.InputField(desc="what is known of the video, with times in seconds")
    earlier_clue: str = dspy.InputField(desc="a clue that did not serve, or none")
    comparison: str = dspy.OutputField(desc="what is alike, and in which visible thing they differ most, in a sentence")
    clue: str = dspy.OutputField(desc="what to look for, in one sentence")
    predictions: list[ExpectedSight] = dspy.OutputField(
        desc="for each hypothesis: its letter and what the clue will show"
    )
    quality: Literal["DISTINCT", "OVERLAPPING"] = dspy.OutputField(
        desc="OVERLAPPING if two or more hypotheses predict the same sight, else DISTINCT"
    )
