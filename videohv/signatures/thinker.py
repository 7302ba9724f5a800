"""Thinker: what would have to be visible in the video for each option to hold."""

from __future__ import annotations

from typing import Literal

import dspy

from videohv.signatures.fields import Likelihood, Shape


class StatedHypothesis(Shape):
    """A hypothesis for one option, named by its letter."""

    option: str
    statement: str
    plausibility: Likelihood = 0.5


class Hypothesize(dspy.Signature):
    """Before anybody looks closely at the video, say what must be visible in it for each option to be the right answer.

    Give one hypothesis for every option, in the order of the options. State it so that a person who watches the video
    can see whether it holds: the people and objects, what they do, in which order, what leads to what. Where an
    option speaks of an intention, a reason or a mood, name the visible signs by which one would recognise it.
    Plausibility is how well the summary alone speaks for it, from 0 (contradicted) to 1 (certain); the summary may
    have missed things, so stay above 0 unless it clearly contradicts.

    The mode says why you are asked. initial: for the first time. specificity: the evidence could not decide between
    your earlier hypotheses; the feedback says what was looked for and seen; make each one narrower, naming places,
    objects, order and moments to look at. discriminability: the earlier hypotheses overlap; the feedback says where;
    state for each what only it predicts.
    """

    question: str = dspy.InputField()
    options: str = dspy.InputField(desc="one option a line, each with its letter")
    summary: str = dspy.InputField(desc="what is known of the video, with times in seconds")
    mode: Literal["initial", "specificity", "discriminability"] = dspy.InputField()
    feedback: str = dspy.InputField(desc="why earlier hypotheses did not serve, or none")
    hypotheses: list[StatedHypothesis] = dspy.OutputField(
        desc="one for each option: its letter, statement, plausibility"
    )
