"""Summary: the question-conditioned digest, the only view of the video that Thinker, Judge and Answer get."""

from __future__ import annotations

import dspy


class Summarize(dspy.Signature):
    """Condense the timed captions of one stretch of a video into one to three sentences that help with the question.

    Say who and what is there, what they do, in which order, and what changes; keep what bears on the question and quote
    any text that is shown. Captions are made one moment at a time and can be wrong: trust what repeats. Do not answer
    the question and do not add what no caption says.
    """

    captions: str = dspy.InputField(desc="one line a moment: [seconds] what was seen")
    question: str = dspy.InputField()
    summary: str = dspy.OutputField(desc="one to three sentences about the whole stretch")
