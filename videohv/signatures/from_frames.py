"""The rival that shows a vision model frames of the whole video and asks for the answer."""

from __future__ import annotations

import dspy

from videohv.signatures.fields import Confidence, Letter


class AnswerFromFrames(dspy.Signature):
    """Answer the question about the video from frames that were taken out of it at even distances.

    First say what in the frames bears on the question, at which seconds, and which option that speaks for. Much happens
    between the frames: say what is inferred and what is seen. Then choose the option that is best supported and give
    its letter alone. Write ABSTAIN instead of a letter only if abstaining is allowed and the frames do not decide.
    """

    times: str = dspy.InputField(desc="the time of each frame in seconds, in order")
    frames: list[dspy.Image] = dspy.InputField(desc="from the whole video, in order of time")
    question: str = dspy.InputField()
    options: str = dspy.InputField(desc="one option a line, each with its letter")
    may_abstain: bool = dspy.InputField()
    reasoning: str = dspy.OutputField(desc="what the frames show of it and what follows, in a few sentences")
    answer: Letter = dspy.OutputField(desc="the letter of the chosen option, or ABSTAIN if allowed")
    confidence: Confidence = dspy.OutputField(desc="from 0 to 1")
