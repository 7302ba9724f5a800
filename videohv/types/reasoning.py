"""What the agents suppose, look for, see and conclude."""

from __future__ import annotations

from pydantic import Field

from videohv.types.base import MAX_OPTIONS, Mode, Quality, Seconds, Share, Source, Status, Support, Value
from videohv.types.video import Window


class Hypothesis(Value):
    """What must be visible in the video for one option to hold.

    Args:
        option_index: The option, counted from 0.
        statement: Entities, actions and order or cause, observably stated.
        plausibility: The Thinker's estimate from the summary alone.
        pruned: Set aside before checking. Advice only: the option stays answerable.
        stated: False when the Thinker gave none and the option's own text stands in.
    """

    option_index: int = Field(ge=0, lt=MAX_OPTIONS)
    statement: str
    plausibility: Share = 0.5
    pruned: bool = False
    stated: bool = True


class Prediction(Value):
    """What one hypothesis says the clue will show."""

    option_index: int = Field(ge=0, lt=MAX_OPTIONS)
    expectation: str


class Clue(Value):
    """The smallest observation that tells the hypotheses apart, with what each one predicts for it."""

    observation: str
    predictions: tuple[Prediction, ...] = ()


class Draft(Value):
    """One set of hypotheses with the clue that the Judge made for it."""

    mode: Mode
    hypotheses: tuple[Hypothesis, ...]
    clue: Clue | None = None
    quality: Quality | None = None
    critique: str = ""


class Observation(Value):
    """What was seen at one moment."""

    time: Seconds
    text: str


class Evidence(Value):
    """What one fine-grained look at a window saw.

    Args:
        window: Where it looked.
        times: Timestamps of the frames (at most 5 a look) or captions that were looked at.
        observations: What was seen, each with its own time.
        source: Frames seen by a vision LM, tags computed on frames, or captions where no frame could be had.
    """

    window: Window
    times: tuple[Seconds, ...]
    observations: tuple[Observation, ...]
    source: Source
    round: int = Field(default=1, ge=1)
    look: int = Field(default=1, ge=1)


class Verdict(Value):
    """How one hypothesis stands after a check."""

    option_index: int = Field(ge=0, lt=MAX_OPTIONS)
    support: Support
    why: str = ""


class Check(Value):
    """The Verifier's judgement of the evidence so far."""

    status: Status
    rationale: str
    verdicts: tuple[Verdict, ...] = ()
    wanted: tuple[Window, ...] = ()


class Answer(Value):
    """What the Answer agent decided. `option_index` is None when it abstained."""

    option_index: int | None
    confidence: Share | None = None
    reasoning: str = ""
    verdicts: tuple[Verdict, ...] = ()
    conflicts: tuple[str, ...] = ()
