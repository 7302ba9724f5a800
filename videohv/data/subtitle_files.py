"""The subtitle files that lie beside a video."""

from __future__ import annotations

from pathlib import Path

from videohv.data.subtitles import FORMATS

_ENGLISH = ("en", "eng", "english")
_PARTIAL = {"forced", "foreign", "signs", "commentary"}


def subtitles_beside(video: Path) -> tuple[Path, ...]:
    """The subtitle files of a video: those in its folder with its name and an extension in `FORMATS`.

    Between name and extension there may be words with dots before them, such as a language (`party.en.srt`).

    Args:
        video: The video file; it need not exist.

    Returns:
        The files, the one to be preferred first: whole subtitles before those that say of themselves that they hold
        only a part (`forced`, `signs` …), then the one without words, English, all others; then by extension in the
        order of `FORMATS`, then by name. None if the folder cannot be read.
    """
    stem, found = video.stem, []
    try:
        for file in video.absolute().parent.iterdir():
            form = file.suffix.lower()
            # Not `startswith` alone: party.mp4 does not own party2.srt.
            if form not in FORMATS or not (file.stem == stem or file.stem.startswith(f"{stem}.")) or not file.is_file():
                continue
            words = [word for word in file.stem[len(stem) :].lower().split(".") if word]
            found.append((_rank(words), list(FORMATS).index(form), file.name, file))
    except (OSError, ValueError):
        return ()
    return tuple(video.parent / file.name for *_, file in sorted(found))


def _rank(words: list[str]) -> tuple[bool, int]:
    language = 0 if not words else (1 if any(_is_english(word) for word in words) else 2)
    return bool(_PARTIAL & set(words)), language


def _is_english(word: str) -> bool:
    return word in _ENGLISH or word.startswith(("en-", "en_"))
