"""What is said in a video, out of a subtitle file, as captions that say that they are speech."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from videohv.errors import InputError
from videohv.types import Caption, Value

_FORMATS = {".srt": "srt", ".vtt": "vtt"}
_KEPT = 16  # parsed files: the questions of one video come one after the other


class Subtitles(Value):
    """The subtitle file of a video.

    Args:
        video: The video's name in its benchmark.
        path: The file, SubRip (`.srt`) or WebVTT (`.vtt`).
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


def read_subtitles(path: Path | str) -> tuple[Caption, ...]:
    """Read what is said from a SubRip or WebVTT file (UTF-8).

    Args:
        path: The file.

    Returns:
        A caption for each subtitle at the time (seconds) when it appears, in the order of time, its text as
        `Speech: "…"`, without mark-up. Comments, empty subtitles, and lines that the subtitle before has just shown
        (as automatic subtitles do) are left out.

    Raises:
        InputError: The file cannot be read, is not UTF-8, or is of neither form.
    """
    return _captions(_read(Path(path)), Path(path))


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

    form = _FORMATS.get(path.suffix.lower())
    if form is None:
        raise InputError(f"{path} is not a subtitle file: {' or '.join(_FORMATS)} was expected")
    try:
        subtitles = pysubs2.SSAFile.from_string(data.decode("utf-8-sig"), format_=form)
    except UnicodeDecodeError as e:
        raise InputError(f"{path} is not UTF-8 text (byte {e.start})") from e
    except Exception as e:
        raise InputError(f"{path} cannot be read as {form} subtitles: {e}") from e
    made: list[Caption] = []
    shown: set[str] = set()
    for line in sorted(subtitles, key=lambda line: line.start):
        parts = [" ".join(part.split()) for part in line.plaintext.splitlines()]
        text = " ".join(part for part in parts if part and part not in shown)
        if not line.is_comment and text and line.start >= 0:
            made.append(Caption(time=line.start / 1000, text=f'Speech: "{text}"'))
        shown = set(parts)
    if not made and data.strip() and b"-->" not in data:
        raise InputError(f"{path} has no subtitles in it: is it a {form} file?")
    return tuple(made)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise InputError(f"cannot read the subtitles {path}: {e.strerror}") from e
