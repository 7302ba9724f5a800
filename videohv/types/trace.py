"""Everything that happened on the way to an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from videohv.types.base import Outcome, Status, Value
from videohv.types.question import Question
from videohv.types.reasoning import Answer, Check, Clue, Draft, Evidence, Hypothesis
from videohv.types.table import table
from videohv.types.video import CaptionInfo, Segment, VideoInfo, Window

if TYPE_CHECKING:
    import pandas as pd


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


class Degradation(Value):
    """A step that failed for good, and why; the question went on without it."""

    step: str
    why: str


class RoleUsage(Value):
    """What one role spent on a question. Cache hits cost no tokens and are counted apart.

    `spared_tokens` are those of prompts and replies that came out of the response cache, as they were counted when
    the replies were first made. Tokens spent and spared together do not depend on what lay in the cache.
    """

    role: str
    model: str = ""
    calls: int = 0
    cached_calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    spared_tokens: int = 0
    images: int = 0
    seconds: float = 0.0
    cost: float | None = None


class Trace(Value):
    """Everything that happened on the way to an answer; `model_validate_json(model_dump_json())` gives it back."""

    schema_version: int = 1
    method: str = "videohv"
    question: Question
    outcome: Outcome
    answer: Answer | None = None
    status: Status | None = None
    video: VideoInfo | None = None
    captions: CaptionInfo | None = None
    speech: CaptionInfo | None = None
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

    def to_dataframe(self) -> pd.DataFrame:
        """Everything that was seen, one observation a row.

        Columns: `round`, `look`, `start` and `end` of the window and `time` of the observation in seconds, `source`,
        `text`, and the `status` of the check after it (None without one).

        Raises:
            MissingExtra: Without pandas.
        """
        return table(self)

    @property
    def calls(self) -> int:
        """LM calls made, cache hits not counted."""
        return sum(u.calls for u in self.usage)
