"""Captioner: one short text per sampled frame, for locating things later."""

from __future__ import annotations

import dspy

from videohv.signatures.verifier import Sight


class Describe(dspy.Signature):
    """Caption each frame of a video in one sentence.

    Name the people and objects, where they are, what they do, and any readable text. Describe what can be seen, not
    what it might mean. Captions are used to find moments again, so prefer nouns and verbs to adjectives.
    """

    times: str = dspy.InputField(desc="the time of each frame in seconds, in order")
    frames: list[dspy.Image] = dspy.InputField(desc="at most five frames, in order of time")
    captions: list[Sight] = dspy.OutputField(desc="for each frame its time and one sentence")
