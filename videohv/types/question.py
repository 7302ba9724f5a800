"""A multiple-choice question."""

from __future__ import annotations

from typing import Any, Self

from pydantic import SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from videohv.types.base import MAX_OPTIONS, MIN_OPTIONS, Value, letter
from videohv.types.video import Window


class Question(Value):
    """A multiple-choice question about one video.

    Args:
        text: The question itself.
        options: 2 to 26 answer texts, none empty. Equal options are legal (benchmarks have them) and flagged by
            `duplicates`; answering either is right. An open question has none until they are proposed.
        id: Name of the question in its benchmark, or empty.
        video: Name of the video in its benchmark, or empty.
        answer_index: The right option counted from 0, when known.
        type: The benchmark's name for this kind of question, or empty.
        facets: What else its benchmark says of it, as (name, value), such as ("duration", "long"): figures are broken
            down by these.
        origin: The recording that the video was cut from, where several videos share one. Empty: the video itself.
        spans: Where the annotators saw the evidence, for benchmarks that say it.
        proposed: Whether it came without options: those that it has were proposed from the video.
    """

    text: str
    options: tuple[str, ...]
    id: str = ""
    video: str = ""
    answer_index: int | None = None
    type: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    spans: tuple[Window, ...] = ()
    proposed: bool = False

    @field_validator("text")
    @classmethod
    def _text_is_there(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("the question is empty")
        return text.strip()

    @field_validator("options")
    @classmethod
    def _options_are_usable(cls, options: tuple[str, ...]) -> tuple[str, ...]:
        if options and not MIN_OPTIONS <= len(options) <= MAX_OPTIONS:
            raise ValueError(f"{len(options)} options given; {MIN_OPTIONS} to {MAX_OPTIONS} are possible")
        for i, option in enumerate(options):
            if not option.strip():
                raise ValueError(f"option {letter(i)} is empty")
        return tuple(option.strip() for option in options)

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> Self:
        if not self.options and not self.proposed:
            raise ValueError(f"0 options given; {MIN_OPTIONS} to {MAX_OPTIONS} are possible")
        if self.answer_index is not None and not 0 <= self.answer_index < len(self.options):
            raise ValueError(f"answer_index {self.answer_index} is not one of the {len(self.options)} options")
        return self

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        # The hashes of benchmarks and the ids of batches are over this text: that of a given question stays as it was.
        if not self.proposed:
            written.pop("proposed", None)
        return written

    @property
    def duplicates(self) -> tuple[tuple[int, ...], ...]:
        """Groups of option indices whose texts are equal but for case and spacing."""
        groups: dict[str, list[int]] = {}
        for i, option in enumerate(self.options):
            groups.setdefault(" ".join(option.lower().split()), []).append(i)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @property
    def recording(self) -> str:
        """What it is about, for splits and intervals: questions of one recording are not independent of each other."""
        return self.origin or self.video or self.id

    def is_right(self, option_index: int | None) -> bool | None:
        """Whether answering with this option is right; None if the right one is not known.

        An option whose text equals the right one's is right too. No option (None) is not right.
        """
        if self.answer_index is None:
            return None
        if option_index is None:
            return False
        equal = next((group for group in self.duplicates if self.answer_index in group), (self.answer_index,))
        return option_index in equal
