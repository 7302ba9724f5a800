"""Captions that somebody made before: read from the forms in which they are published, and written in one of our own.

The forms that `read_captions` knows:

* `{"video": …}` with any of the forms of `videohv.data.forms`: a list of texts, one a second; an object by second;
  a list of objects with `time` (or `start`, seconds) and `text`;
* any of these three alone, for one video;
* one such object a line (JSON Lines). In it and in a bare list of objects an optional `video` tells several videos
  apart. `write_captions` writes JSON Lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from videohv.data.caption_index import CaptionIndex
from videohv.data.forms import plain
from videohv.data.names import Names, some
from videohv.data.whole import whole_file
from videohv.errors import InputError
from videohv.types import Caption


def read_captions(path: Path | str, video: str | None = None) -> tuple[Caption, ...]:
    """Read the captions of one video. For many videos of one file, `CaptionLibrary` looks through it only once.

    Texts go through `normalise`; entries without text are left out.

    Args:
        path: A JSON or JSON Lines file in one of the forms above (UTF-8).
        video: The video's name, or its path: the exact name is tried first, then the name without directory and
            extension. May be None when the file is about one video.

    Returns:
        Captions in the order of their time.

    Raises:
        InputError: The file cannot be read, has another form, lacks the video, or an entry is wrong; the message names
            file, key and index.
    """
    index = CaptionIndex(Path(path))
    names = list(index.pieces)
    if video is None:
        if len(names) > 1:
            raise InputError(f"{path} holds the captions of {len(names)} videos ({some(names)}): say which one")
        wanted = names
    else:
        found = Names(name for name in names if name).find(video)
        wanted = [name for name in names if name in ("", found)]
        if not wanted and (names or not index.of_records):
            raise InputError(f"{path} has no captions of {video!r}; it has: {some(names)}")
    return plain(raw for name in wanted for raw in index.raw(name))


def write_captions(path: Path | str, captions: Iterable[Caption], video: str = "") -> int:
    """Write captions as JSON Lines, one object with `time` (seconds) and `text` a line, as `read_captions` reads them.

    The file appears whole or not at all.

    Args:
        path: The file to make or replace.
        captions: Taken one by one, never kept.
        video: Written into each line as `video` when given.

    Returns:
        How many were written.

    Raises:
        InputError: The file cannot be written.
    """
    count = 0
    with whole_file(Path(path)) as file:
        for caption in captions:
            record = {"video": video} if video else {}
            file.write(json.dumps(record | caption.model_dump(), ensure_ascii=False) + "\n")
            count += 1
    return count
