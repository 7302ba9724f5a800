"""How far a method goes, in one frozen value that every trace records, and the parts that an ablation switches off."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, field_validator

from videohv.types import Share, Value

MAX_FRAMES_A_LOOK = 5
"""Frames in one vision call, as in the paper (Section on the Verifier); never exceeded."""


class Part(StrEnum):
    """A part of the hypothesis–verification loop that can be switched off, as in the paper's ablation.

    * `hypotheses`: no Thinker; the options' own texts stand in, and nothing is made anew.
    * `clue`: no Judge; the question itself is what is looked for.
    * `status`: no check; evidence is collected once and goes to Answer without status and verdicts.
    * `refinement`: one round, one look, no hypotheses made anew.
    * `frames`: the captions of the windows are the evidence although there is a video.
    """

    HYPOTHESES = "hypotheses"
    CLUE = "clue"
    STATUS = "status"
    REFINEMENT = "refinement"
    FRAMES = "frames"


class MethodSettings(Value):
    """What every method has. A method with settings of its own adds them in a subclass.

    Args:
        fps: Caption sampling, frames a second.
        may_abstain: Whether the answer may be declined.
        caption_tokens: Tokens of captions that one prompt may hold; None takes it from the model's context.
        workers: Inner calls side by side.
        seed: Names the fresh samples that a retry asks for.
    """

    fps: float = Field(default=1.0, gt=0.0, le=60.0)
    may_abstain: bool = False
    caption_tokens: int | None = Field(default=None, ge=200)
    workers: int = Field(default=4, ge=1, le=64)
    seed: int = 0


class SummarySettings(MethodSettings):
    """Of methods that summarise captions.

    Args:
        stretches: Into how many stretches a video is cut for its summary; short videos into fewer, long ones into more.
    """

    stretches: int = Field(default=4, ge=1, le=64)


class LoopSettings(SummarySettings):
    """How far the hypothesis–verification loop goes.

    Args:
        rounds: Outer passes at most (T of the paper; 3 there).
        looks: Evidence collections a round at most (K of the paper).
        windows: Windows a look at most; they are looked at side by side.
        frames: Frames a window, at most 5.
        prune_below: Hypotheses that the Thinker finds less plausible than this are left out of the check. Advice only:
            their options stay answerable.
        regenerations: How often overlapping hypotheses are made anew within a round.
        without: Parts that are switched off, for ablations. Kept in the order of `Part`, each once.
    """

    rounds: int = Field(default=3, ge=1, le=20)
    looks: int = Field(default=2, ge=1, le=20)
    windows: int = Field(default=3, ge=1, le=20)
    frames: int = Field(default=MAX_FRAMES_A_LOOK, ge=1, le=MAX_FRAMES_A_LOOK)
    prune_below: Share = 0.1
    regenerations: int = Field(default=1, ge=0, le=5)
    without: tuple[Part, ...] = ()

    @field_validator("without")
    @classmethod
    def _each_once(cls, without: tuple[Part, ...]) -> tuple[Part, ...]:
        return tuple(part for part in Part if part in without)

    def has(self, part: Part) -> bool:
        """Whether a part is switched on."""
        return part not in self.without
