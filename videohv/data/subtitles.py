"""What is said in a video, out of a subtitle file, as captions that say that they are speech."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from videohv.errors import InputError
from videohv.types import Caption, Value

if TYPE_CHECKING:
    import pysubs2

FORMATS = {".srt": "srt", ".vtt": "vtt", ".ass": "ass", ".ssa": "ssa"}
"""The parser's name of each form, by the extension of the file."""

MAX_BYTES = 8 << 20
"""A larger file is refused: what is said in a day of video is smaller."""

_LONGEST = 1_000  # characters; no line on a screen is longer
_KEPT = 16  # parsed files: the questions of one video come one after the other
_TAG = re.compile(r"</?(?:i|b|u|s|c|v|font|ruby|rt)\b[^<>]*>", re.IGNORECASE)  # where a format has none of its own
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_TIMED = {"srt": "-->", "vtt": "-->", "ass": "Dialogue:", "ssa": "Dialogue:"}


class Subtitles(Value):
    """The subtitle file of a video.

    Args:
        video: The video's name in its benchmark.
        path: The file, with one of the extensions in `FORMATS`.
        sha256: Of its content, as it was when the questions were loaded.
    """

    video: str
    path: str
    sha256: str

    @classmethod
    def of(cls, video: str, path: Path) -> Subtitles:
        """The subtitles of a video.

        Raises:
            InputError: The file cannot be read.
        """
        return cls(video=video, path=str(path), sha256=hashlib.sha256(_read(path)).hexdigest())

    def captions(self) -> tuple[Caption, ...]:
        """As `read_subtitles`.

        Raises:
            InputError: As `read_subtitles`; or the file has changed since the questions were loaded.
        """
        return _parsed(self.path, self.sha256)


class Line(NamedTuple):
    """A line on the screen: when it appears (seconds), and its text in the mark-up of SubStation Alpha."""

    start: float
    text: str


def read_subtitles(path: Path | str) -> tuple[Caption, ...]:
    """Read what is said from a SubRip, WebVTT or SubStation Alpha file.

    The file is UTF-8, UTF-16, or else taken for Windows-1252.

    Args:
        path: The file, of at most 8 MiB.

    Returns:
        A caption for each subtitle at the time (seconds) when it appears, in the order of time, its text as
        `Speech: "…"`, without mark-up. Comments, drawings, empty subtitles, and lines that the subtitle before has
        just shown (as automatic subtitles do) are left out. None for a file without any.

    Raises:
        InputError: The file cannot be read, is too large, is not text, or is of none of these forms.
    """
    return _captions(_read(Path(path)), Path(path))


def spoken(lines: Iterable[Line]) -> tuple[Caption, ...]:
    """The captions of lines that came from elsewhere, such as out of a video file; as `read_subtitles`."""
    import pysubs2

    return _spoken(pysubs2.SSAEvent(start=round(line.start * 1000), text=line.text) for line in lines)


def merge(captions: Iterable[Caption], extra: Iterable[Caption]) -> tuple[Caption, ...]:
    """Captions of two kinds in the order of time; at equal times the first kind goes first."""
    return tuple(sorted((*captions, *extra), key=lambda caption: caption.time))


@lru_cache(maxsize=_KEPT)
def _parsed(name: str, sha256: str) -> tuple[Caption, ...]:
    data = _read(Path(name))
    if hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(f"{name} changed since the questions were loaded: load them again")
    return _captions(data, Path(name))


def _captions(data: bytes, path: Path) -> tuple[Caption, ...]:
    import pysubs2

    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise InputError(f"{path} is not a subtitle file: {', '.join(FORMATS)} was expected")
    text = _text(data, path)
    if not text.strip("\ufeff\x00 \t\r\n"):
        return ()
    try:
        parsed = pysubs2.SSAFile.from_string(text, format_=form)
        for line in parsed if form == "vtt" else ():
            line.text = html.unescape(line.text)
        made = _spoken(parsed)
    except Exception as e:
        raise InputError(f"{path} cannot be read as {form} subtitles: {e}") from e
    if not made and _TIMED[form] not in text and not (form == "vtt" and text.lstrip("\ufeff").startswith("WEBVTT")):
        raise InputError(f"{path} has no subtitles in it: is it a {form} file?")
    return made


def _spoken(events: Iterable[pysubs2.SSAEvent]) -> tuple[Caption, ...]:
    made: list[Caption] = []
    shown: set[str] = set()
    for line in sorted(events, key=lambda event: event.start):
        if line.is_comment or line.is_drawing:
            continue
        parts = [" ".join(_TAG.sub("", part).split()) for part in line.plaintext.splitlines()]
        text = " ".join(part for part in parts if part and part not in shown)
        if text and line.start >= 0:
            if len(text) > _LONGEST:
                text = text[: _LONGEST - 1] + "…"
            made.append(Caption(time=line.start / 1000, text=f'Speech: "{text}"'))
        shown = set(parts)
    return tuple(made)


def _text(data: bytes, path: Path) -> str:
    """The text of a file. Those of Windows programs are often in its own code."""
    half = data[:2000].count(0) * 4 > len(data[:2000])
    wide = "utf-16" if data.startswith(_MARKS) else ("utf-16-be" if data[:1] == b"\x00" else "utf-16-le")
    for encoding in (wide,) if data.startswith(_MARKS) or half else ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(f"{path} is not text (UTF-8, UTF-16 or Windows-1252): is it a subtitle file?")


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not an ordinary file; name a subtitle file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as e:
        raise InputError(f"cannot read the subtitles {path}: {e.strerror}") from e
    if len(data) > MAX_BYTES:
        raise InputError(f"{path} has more than {MAX_BYTES >> 20} MiB; that is no subtitle file")
    return data
