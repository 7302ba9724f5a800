"""The values that travel between the parts of videohv: frozen, validated, and the same in memory as in JSON.

Times and durations are seconds from the first shown frame of the video. Options are counted from 0; letters (`A`, `B`, …)
are only how they are shown to a model. Nothing here does more than validate and format.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

MIN_OPTIONS, MAX_OPTIONS = 2, 26

Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Value(BaseModel):
    """Base of every value: frozen, refuses unknown fields, survives a JSON round trip unchanged."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Status(StrEnum):
    """What a check of the evidence against the hypotheses came to."""

    VERIFIED = "VERIFIED"
    PARTIAL = "PARTIAL"
    NOT_VERIFIED = "NOT_VERIFIED"


class Outcome(StrEnum):
    """How a question ended. Only `answered` carries an answer; a failure never becomes one."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    PARSE_FAILED = "parse_failed"
    CONTENT_FILTERED = "content_filtered"
    LM_FAILED = "lm_failed"
    MISSING_INPUT = "missing_input"
    OVER_BUDGET = "over_budget"


class Mode(StrEnum):
    """Why the Thinker is asked: at first, for sharper hypotheses, or for ones that differ more."""

    INITIAL = "initial"
    SPECIFICITY = "specificity"
    DISCRIMINABILITY = "discriminability"


class Quality(StrEnum):
    """The Judge's verdict on a set of hypotheses."""

    DISTINCT = "DISTINCT"
    OVERLAPPING = "OVERLAPPING"


class Support(StrEnum):
    """What the evidence says about one hypothesis."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    UNCLEAR = "unclear"


class Source(StrEnum):
    """What an observation was made from."""

    FRAMES = "frames"
    TAGS = "tags"
    CAPTIONS = "captions"


class Question(Value):
    """A multiple-choice question about one video.

    Args:
        text: The question itself.
        options: 2 to 26 answer texts, none empty. Equal options are legal (benchmarks have them) and flagged by
            `duplicates`; answering either is right.
        id: Name of the question in its benchmark, or empty.
        video: Name of the video in its benchmark, or empty.
        answer_index: The right option counted from 0, when known.
        type: The benchmark's name for this kind of question, or empty.
    """

    text: str
    options: tuple[str, ...]
    id: str = ""
    video: str = ""
    answer_index: int | None = None
    type: str = ""

    @field_validator("text")
    @classmethod
    def _text_is_there(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("the question is empty")
        return text.strip()

    @field_validator("options")
    @classmethod
    def _options_are_usable(cls, options: tuple[str, ...]) -> tuple[str, ...]:
        if not MIN_OPTIONS <= len(options) <= MAX_OPTIONS:
            raise ValueError(f"{len(options)} options given; {MIN_OPTIONS} to {MAX_OPTIONS} are possible")
        for i, option in enumerate(options):
            if not option.strip():
                raise ValueError(f"option {letter(i)} is empty")
        return tuple(option.strip() for option in options)

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> Self:
        if self.answer_index is not None and not 0 <= self.answer_index < len(self.options):
            raise ValueError(f"answer_index {self.answer_index} is not one of the {len(self.options)} options")
        return self

    @property
    def duplicates(self) -> tuple[tuple[int, ...], ...]:
        """Groups of option indices whose texts are equal but for case and spacing."""
        groups: dict[str, list[int]] = {}
        for i, option in enumerate(self.options):
            groups.setdefault(" ".join(option.lower().split()), []).append(i)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)


class Caption(Value):
    """What one sampled moment of a video shows, in one short text."""

    time: Seconds
    text: str

    @field_validator("text")
    @classmethod
    def _one_line(cls, text: str) -> str:
        return " ".join(text.split())


class Window(Value):
    """A time span `[start, end]` in seconds."""

    start: Seconds
    end: Seconds

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"window ends ({self.end}) before it starts ({self.start})")
        return self

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.end - self.start

    def overlap(self, other: Window) -> float:
        """Seconds that both windows cover."""
        return max(0.0, min(self.end, other.end) - max(self.start, other.start))

    def __str__(self) -> str:
        return f"{clock(self.start)}–{clock(self.end)}"


class Segment(Value):
    """One stretch of the summary: what happens in a window, as far as the question cares."""

    window: Window
    text: str


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


class Clue(Value):
    """The smallest observation that tells the hypotheses apart, with what each one predicts for it."""

    observation: str
    predictions: tuple[Prediction, ...] = ()


class Prediction(Value):
    """What one hypothesis says the clue will show."""

    option_index: int = Field(ge=0, lt=MAX_OPTIONS)
    expectation: str


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


class Draft(Value):
    """One set of hypotheses with the clue that the Judge made for it."""

    mode: Mode
    hypotheses: tuple[Hypothesis, ...]
    clue: Clue | None = None
    quality: Quality | None = None
    critique: str = ""


class Look(Value):
    """One evidence collection: where it looked, what it saw, what the check made of it."""

    windows: tuple[Window, ...]
    evidence: tuple[Evidence, ...]
    check: Check | None = None


class Round(Value):
    """One pass of hypothesis and verification. The last draft is the one that was tested."""

    drafts: tuple[Draft, ...]
    looks: tuple[Look, ...] = ()

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that were tested."""
        return self.drafts[-1].hypotheses if self.drafts else ()

    @property
    def clue(self) -> Clue | None:
        """The clue that was looked for."""
        return self.drafts[-1].clue if self.drafts else None


class Answer(Value):
    """What the Answer agent decided. `option_index` is None when it abstained."""

    option_index: int | None
    confidence: Share | None = None
    reasoning: str = ""
    verdicts: tuple[Verdict, ...] = ()
    conflicts: tuple[str, ...] = ()


class Degradation(Value):
    """A step that failed for good, and why; the question went on without it."""

    step: str
    why: str


class RoleUsage(Value):
    """What one role spent on a question. Cache hits cost no tokens and are counted apart."""

    role: str
    model: str = ""
    calls: int = 0
    cached_calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    images: int = 0
    seconds: float = 0.0
    cost: float | None = None


class VideoInfo(Value):
    """What is known of a video file. `path` is as the caller gave it; `content_hash` names it in stores."""

    path: str
    content_hash: str
    duration: Seconds
    fps: float
    width: int
    height: int
    codec: str = ""
    container: str = ""
    decoder: str = ""
    warnings: tuple[str, ...] = ()


class CaptionInfo(Value):
    """Where the captions of a question came from."""

    captioner: str
    count: int
    fps: float | None = None
    content_hash: str = ""


class Trace(Value):
    """Everything that happened on the way to an answer; `model_validate_json(model_dump_json())` gives it back equal."""

    schema_version: int = 1
    question: Question
    outcome: Outcome
    answer: Answer | None = None
    status: Status | None = None
    video: VideoInfo | None = None
    captions: CaptionInfo | None = None
    summary: tuple[Segment, ...] = ()
    rounds: tuple[Round, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    usage: tuple[RoleUsage, ...] = ()
    seconds: float = 0.0

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All evidence in the order in which it was collected."""
        return tuple(e for r in self.rounds for look in r.looks for e in look.evidence)

    @property
    def calls(self) -> int:
        """LM calls made, cache hits not counted."""
        return sum(u.calls for u in self.usage)


def letter(option_index: int) -> str:
    """The letter under which an option is shown: 0 is A."""
    if not 0 <= option_index < MAX_OPTIONS:
        raise ValueError(f"no letter for option {option_index}")
    return chr(ord("A") + option_index)


def clock(seconds: float) -> str:
    """Seconds as `m:ss` or `h:mm:ss`, with one decimal when there is one."""
    tenths = math.floor(seconds * 10 + 0.5)
    whole, tenth = divmod(tenths, 10)
    minutes, s = divmod(whole, 60)
    hours, m = divmod(minutes, 60)
    text = f"{hours}:{m:02d}:{s:02d}" if hours else f"{m}:{s:02d}"
    return f"{text}.{tenth}" if tenth else text


Clue.model_rebuild()
