"""Summary: the question-conditioned digest, the only view of the video that Thinker, Judge and Answer get."""

from __future__ import annotations

import dspy

from videohv.signatures.fields import Shape, Time


class Passage(Shape):
    """One stretch of the video and what happens in it."""

    start: Time
    end: Time
    text: str


class Summarize(dspy.Signature):
    """Condense the timed captions of a video into a few passages that help to answer the question.

    Keep what bears on the question: who and what is there, what they do, in which order, what changes. Leave out the
    rest, but let no long stretch go unmentioned. Captions are made one moment at a time and can be wrong: trust what
    repeats. Do not answer the question and do not add what no caption says. Write at most eight passages, each one
    short sentence, in the order of time.
    """

    captions: str = dspy.InputField(desc="one line a moment: [seconds] what was seen")
    question: str = dspy.InputField()
    passages: list[Passage] = dspy.OutputField(desc="start and end in seconds, and one sentence")
