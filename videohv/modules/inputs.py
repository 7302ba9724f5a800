"""What a caller may pass as question, captions and video, turned into the values that the loop works on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from videohv.errors import InputError
from videohv.lm.frames import limits_of
from videohv.modules.speech import Speech
from videohv.types import Caption, Question, letter
from videohv.video import Video


def as_question(question: str | Question, options: Sequence[str] | None) -> Question:
    """A validated question.

    Args:
        question: The text, or a question with its options.
        options: Of a text; None makes it an open question, whose options are proposed from the video.

    Raises:
        InputError: If the question is empty, or the options are too few, too many or empty.
    """
    if isinstance(question, Question):
        if options is not None:
            raise InputError("options were given beside a Question, which has its own; give one or the other")
        return question
    if not isinstance(question, str):
        raise InputError(f"the question is a {type(question).__name__}; a text or a Question is needed")
    given = () if options is None else options
    if not isinstance(given, list | tuple) or not all(isinstance(option, str) for option in given):
        raise InputError("options must be a list of 2 to 26 texts")
    try:
        return Question(text=question, options=tuple(given), proposed=options is None)
    except ValidationError as error:
        raise InputError("; ".join(str(e["msg"]).removeprefix("Value error, ") for e in error.errors())) from error


def duplicate_warning(question: Question) -> str:
    """A line that names equal options, or an empty one."""
    groups = [" and ".join(letter(i) for i in group) for group in question.duplicates]
    return f"options {', '.join(groups)} are equal: either counts as the same answer" if groups else ""


def as_captions(captions: Sequence[Caption | str]) -> tuple[Caption, ...]:
    """Captions in the order of time; of a plain list of texts, item i covers second i.

    Raises:
        InputError: If an item is neither a `Caption` nor a text.
    """
    if not isinstance(captions, list | tuple):
        raise InputError(
            "captions must be a list, one text a second or Caption values; to read a file use read_captions"
        )
    made = []
    for i, item in enumerate(captions):
        if not isinstance(item, Caption | str):
            raise InputError(f"captions[{i}] is a {type(item).__name__}; a Caption or a text is needed")
        made.append(item if isinstance(item, Caption) else Caption(time=float(i), text=item))
    return tuple(sorted((c for c in made if c.text), key=lambda c: c.time))


def as_speech(speech: Speech | Sequence[Caption]) -> Speech:
    """What is said in a video, whether or not it is known where it is from.

    Raises:
        InputError: If an item is neither a `Caption` nor a text.
    """
    return speech if isinstance(speech, Speech) else Speech(captions=as_captions(list(speech)))


def as_video(video: str | Path | Video) -> Video:
    """An opened video.

    Raises:
        InputError: If it is neither a path nor a video.
        VideoError: If the file can't be read.
    """
    if isinstance(video, Video):
        return video
    if not isinstance(video, str | Path):
        raise InputError(f"the video is a {type(video).__name__}; a path or an opened Video is needed")
    return open_video(video)


def open_video(path: str | Path, decoder: str = "auto") -> Video:
    """A video whose frames are of the size that is set for models (`videohv.lm.frames`).

    Raises:
        InputError, VideoError, MissingExtra: As `Video`.
    """
    return Video(path, decoder=decoder, short_side=limits_of().short_side)
