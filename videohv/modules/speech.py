"""What is said in a video: out of a subtitle file beside it, or out of the subtitles inside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from videohv.data.subtitle_files import subtitles_beside
from videohv.data.subtitles import Line, read_subtitles, spoken
from videohv.errors import InputError, VideoError
from videohv.types import Caption, Value
from videohv.video.subtitle_streams import SubtitleStream, best_subtitles, subtitle_lines, subtitle_streams


class Speech(Value):
    """What is said in a video, as captions.

    Args:
        origin: Where it is from; empty if nothing was found.
        captions: In the order of time, in seconds from the first shown frame.
        notes: What a user should know about the choice, a line each.
    """

    origin: str = ""
    captions: tuple[Caption, ...] = ()
    notes: tuple[str, ...] = ()


def speech_in(path: Path | str) -> Speech:
    """What is said according to a subtitle file.

    Raises:
        InputError: As `read_subtitles`.
    """
    captions = read_subtitles(path)
    notes = () if captions else (f"subtitles: there are none in {path}",)
    return Speech(origin=Path(path).name, captions=captions, notes=notes)


def find_speech(video: Path | str) -> Speech:
    """What is said in a video, out of the subtitles that are found for it.

    A file beside the video (`subtitles_beside`) is preferred to subtitles inside it (`best_subtitles`), as somebody
    put it there. What cannot be used is passed over and named in the notes, and so are subtitles that were left for
    better ones, and those that are pictures.

    Args:
        video: The video file. One that cannot be opened has no subtitles inside.
    """
    path = Path(video)
    notes: list[str] = []
    files = subtitles_beside(path)
    for file in files:
        try:
            captions = read_subtitles(file)
        except InputError as error:
            notes.append(f"subtitles: left out, because {error}")
            continue
        if captions:
            notes += _left(file.name, [other.name for other in files if other != file])
            return Speech(origin=file.name, captions=captions, notes=tuple(notes))
        notes.append(f"subtitles: left out, because {file.name} has none in it")
    return _inside(path, notes)


def _inside(path: Path, notes: list[str]) -> Speech:
    try:
        streams = subtitle_streams(path)
        text = [stream for stream in streams if stream.text]
        pictures = [str(stream) for stream in streams if not stream.text]
        if pictures and not text:
            notes.append(f"subtitles: left out, because they are pictures: {', '.join(pictures)}")
        while (best := best_subtitles(text)) is not None:
            text.remove(best)
            captions = spoken(Line(*line) for line in subtitle_lines(path, best.index))
            if captions:
                notes += _left(str(best), [str(stream) for stream in text])
                return Speech(origin=_named(best), captions=captions, notes=tuple(notes))
            notes.append(f"subtitles: left out, because {best} has none in it")
    except VideoError:
        # Whoever opens the video says what is wrong with it.
        pass
    return Speech(notes=tuple(notes))


def _left(chosen: str, others: list[str]) -> Iterator[str]:
    if others:
        yield f"subtitles: {chosen} is used of {len(others) + 1}; the others are {', '.join(others)}"


def _named(stream: SubtitleStream) -> str:
    return f"subtitle {stream} of the video"
