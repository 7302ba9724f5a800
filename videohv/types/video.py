"""A video in time: windows, captions, the passages of a summary, and what is known of the file."""

from __future__ import annotations

from typing import Self

from pydantic import field_validator, model_validator

from videohv.types.base import Seconds, Value, clock


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


class Caption(Value):
    """What one sampled moment of a video shows, in one short text."""

    time: Seconds
    text: str

    @field_validator("text")
    @classmethod
    def _one_line(cls, text: str) -> str:
        return " ".join(text.split())


class Segment(Value):
    """One stretch of the summary: what happens in a window, as far as the question cares."""

    window: Window
    text: str


class VideoInfo(Value):
    """What is known of a video file. `path` is as the caller gave it; `content_hash` names it in stores.

    `largest_gop` is how many seconds at most lie between one key frame and the next, or the end; None where packets
    have no times.
    """

    path: str
    content_hash: str
    duration: Seconds
    fps: float
    width: int
    height: int
    codec: str = ""
    container: str = ""
    decoder: str = ""
    largest_gop: float | None = None
    warnings: tuple[str, ...] = ()


class CaptionInfo(Value):
    """Where the captions of a question came from."""

    captioner: str
    count: int
    fps: float | None = None
    content_hash: str = ""
