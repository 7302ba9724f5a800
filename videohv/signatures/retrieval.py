"""The rival that retrieves: answer from what was seen so far, and say what is missing and where it could be seen."""

from __future__ import annotations

from typing import Any

import dspy
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from videohv.signatures.fields import Letter, Span

MOST_CERTAIN = 3


def read_certainty(value: object) -> int:
    """1, 2 or 3 out of `2`, `"3"` or `"3/3"`; 0 where a model wrote something else.

    How sure a model is decorates its reply: a reply is not thrown away because this part of it cannot be read.
    """
    if isinstance(value, str):
        value = value.strip()[:1]
        value = int(value) if value.isdecimal() and value.isascii() else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if value in range(1, MOST_CERTAIN + 1) else 0


class Certainty(int):
    """How well what was seen supports an answer, from 1 to 3; 0 when that cannot be read."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Any value, read by `read_certainty`."""
        return core_schema.no_info_before_validator_function(read_certainty, core_schema.int_schema())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """One of three numbers to every schema."""
        return {"type": "integer", "enum": list(range(1, MOST_CERTAIN + 1))}


class AnswerFromMoments(dspy.Signature):
    """Answer the question about the video from the few moments of it that have been seen so far.

    First say what these moments tell about the question and what they leave open. Then choose the option that is best
    supported and give its letter alone. Last, say how sure that is: 3 if what was seen settles the question, 2 if it
    points to the answer but something is missing, 1 if the answer is little more than a guess. Write ABSTAIN instead
    of a letter only if abstaining is allowed and what was seen does not decide.
    """

    question: str = dspy.InputField()
    options: str = dspy.InputField(desc="one option a line, each with its letter")
    seen: str = dspy.InputField(desc="one line a moment: [seconds] what was seen")
    video_seconds: float = dspy.InputField(desc="length of the video")
    may_abstain: bool = dspy.InputField()
    reasoning: str = dspy.OutputField(desc="what was seen of it, and what is still open, in a few sentences")
    answer: Letter = dspy.OutputField(desc="the letter of the chosen option, or ABSTAIN if allowed")
    certainty: Certainty = dspy.OutputField(desc="1, 2 or 3")


class Seek(dspy.Signature):
    """Say what more would have to be seen of the video to answer the question, and where.

    The moments seen so far did not settle the question. Name the one thing that is missing, as something that can be
    looked for in a few frames. Then choose up to three short spans, best first, in which it is likely to be seen: think
    of what happens before, between and after the moments that were seen, and do not choose what was seen already.
    """

    question: str = dspy.InputField()
    options: str = dspy.InputField(desc="one option a line, each with its letter")
    seen: str = dspy.InputField(desc="one line a moment: [seconds] what was seen")
    video_seconds: float = dspy.InputField(desc="length of the video")
    thought: str = dspy.InputField(desc="what was made of it so far")
    missing: str = dspy.OutputField(desc="what to look for, in one sentence")
    windows: list[Span] = dspy.OutputField(desc="start and end in seconds, best first")
