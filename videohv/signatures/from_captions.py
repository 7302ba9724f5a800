"""The rival that answers from captions: all of them, or their summary, in one prompt."""

from __future__ import annotations

import dspy

from videohv.signatures.fields import Confidence, Letter


class AnswerFromCaptions(dspy.Signature):
    """Answer the question about the video from its captions.

    The captions were made one moment at a time, or sum up a stretch of the video each. Single ones can be wrong: trust
    what repeats and what fits together. First say what in them bears on the question, at which seconds, and which
    option that speaks for. Then choose the option that is best supported and give its letter alone. Write ABSTAIN
    instead of a letter only if abstaining is allowed and the captions do not decide.
    """

    captions: str = dspy.InputField(desc="one line a moment or stretch: [seconds] what was seen")
    question: str = dspy.InputField()
    options: str = dspy.InputField(desc="one option a line, each with its letter")
    may_abstain: bool = dspy.InputField()
    reasoning: str = dspy.OutputField(desc="what the captions say about it and what follows, in a few sentences")
    answer: Letter = dspy.OutputField(desc="the letter of the chosen option, or ABSTAIN if allowed")
    confidence: Confidence = dspy.OutputField(desc="from 0 to 1")
