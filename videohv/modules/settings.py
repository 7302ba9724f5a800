"""The loop's own settings, in one frozen value that every trace records."""

from __future__ import annotations

from pydantic import Field

from videohv.types import Share, Value

MAX_FRAMES_A_LOOK = 5
"""Frames in one vision call, as in the paper (Section on the Verifier); never exceeded."""


class LoopSettings(Value):
    """How far the hypothesis–verification loop goes.

    Args:
        rounds: Outer passes at most (T of the paper; 3 there).
        looks: Evidence collections a round at most (K of the paper).
        windows: Windows a look at most; they are looked at side by side.
        frames: Frames a window, at most 5.
        fps: Caption sampling, frames a second.
        stretches: Into how many stretches a video is cut for its summary; short videos into fewer, long ones into more.
        prune_below: Hypotheses that the Thinker finds less plausible than this are left out of the check. Advice only:
            their options stay answerable.
        regenerations: How often overlapping hypotheses are made anew within a round.
        may_abstain: Whether Answer may decline.
        caption_tokens: Tokens of captions that one prompt may hold; None takes it from the model's context.
        workers: Inner calls side by side.
        seed: Names the fresh samples that a retry asks for.
    """

    rounds: int = Field(default=3, ge=1, le=20)
    looks: int = Field(default=2, ge=1, le=20)
    windows: int = Field(default=3, ge=1, le=20)
    frames: int = Field(default=MAX_FRAMES_A_LOOK, ge=1, le=MAX_FRAMES_A_LOOK)
    fps: float = Field(default=1.0, gt=0.0, le=60.0)
    stretches: int = Field(default=4, ge=1, le=64)
    prune_below: Share = 0.1
    regenerations: int = Field(default=1, ge=0, le=5)
    may_abstain: bool = False
    caption_tokens: int | None = Field(default=None, ge=200)
    workers: int = Field(default=4, ge=1, le=64)
    seed: int = 0
