"""The option that says how large the frames are that a model is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from videohv.lm.frames import limits_of
from videohv.video import Video

ShortSideOption = Annotated[
    int | None,
    typer.Option(
        min=16,
        max=4096,
        help="Pixels of the shorter side of the frames that a model is shown, at most; they are never enlarged.",
        show_default="448",
    ),
]


def open_video(path: Path, decoder: str) -> Video:
    """The video, with frames of the size that is set.

    Raises:
        InputError, VideoError, MissingExtra: As `Video`.
    """
    return Video(path, decoder=decoder, short_side=limits_of().short_side)
