"""Verifier: find where the clue could be seen, look there closely, and check the hypotheses against what was seen."""

from __future__ import annotations

from typing import Literal

import dspy

from videohv.signatures.fields import OptionVerdict, Shape, Span, Time


class Sight(Shape):
    """What one frame shows."""

    time: Time
    seen: str


class Locate(dspy.Signature):
    """Choose the time spans of the video in which the clue could be seen.

    Read the captions and pick up to three short spans, best first, where looking closely would show the clue or show
    that it is absent. Prefer several short spans (2 to 20 seconds) to a long one. Use only times that the captions
    have. If no caption speaks of the clue, give the spans where it is most likely to be seen.
    """

    captions: str = dspy.InputField(desc="one line a moment: [seconds] what was seen")
    clue: str = dspy.InputField(desc="what to look for, and what each hypothesis predicts")
    windows: list[Span] = dspy.OutputField(desc="start and end in seconds, best first")


class Look(dspy.Signature):
    """Describe what the frames show as far as the clue is concerned.

    Go through the frames in order and say for each what is visible that bears on the clue: who, what, where, doing
    what, and what changed since the frame before. If the clue is not visible in a frame, say so and say what is there
    instead. Report only what can be seen; do not guess what happens between the frames.
    """

    clue: str = dspy.InputField(desc="what to look for")
    times: str = dspy.InputField(desc="the time of each frame in seconds, in order")
    frames: list[dspy.Image] = dspy.InputField(desc="at most five frames, in order of time")
    sights: list[Sight] = dspy.OutputField(desc="for each frame its time and what is seen")


class Check(dspy.Signature):
    """Check every hypothesis against the evidence, and say how far the clue is settled.

    Give first the rationale: which observation, at which second, with which people, objects and relations, speaks for
    or against which hypothesis. Then a verdict for each hypothesis: supported or refuted only if an observation says
    so, otherwise unclear. Then the status: VERIFIED if the evidence supports one hypothesis and speaks against the
    others; PARTIAL if it points somewhere but something named is still missing; NOT_VERIFIED if it does not tell the
    hypotheses apart. With PARTIAL, name up to two further time spans where the missing thing could be seen; otherwise
    none.
    """

    clue: str = dspy.InputField(desc="what was looked for, and what each hypothesis predicts")
    hypotheses: str = dspy.InputField(desc="one a line: letter, option, what must be visible for it")
    evidence: str = dspy.InputField(desc="what was seen, one line a moment with its time in seconds")
    video_seconds: float = dspy.InputField(desc="length of the video")
    rationale: str = dspy.OutputField(desc="observations with their seconds, and what each means; a few sentences")
    verdicts: list[OptionVerdict] = dspy.OutputField(desc="for each hypothesis its letter, why, and how it stands")
    status: Literal["VERIFIED", "PARTIAL", "NOT_VERIFIED"] = dspy.OutputField()
    wanted: list[Span] = dspy.OutputField(desc="further spans to look at, in seconds; empty unless PARTIAL")
