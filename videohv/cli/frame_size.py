"""The option that says how large the frames are that a model is shown."""

from __future__ import annotations

from typing import Annotated

import typer

ShortSideOption = Annotated[
    int | None,
    typer.Option(
        min=16,
        max=4096,
        help="Pixels of the shorter side of the frames that a model is shown, at most; they are never enlarged.",
        show_default="448",
    ),
]
