"""The options by which every command chooses its models, and the lines that say which are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from videohv.captioners.registry import captioner_names
from videohv.cli.console import ERRORS, clean
from videohv.lm import describe, make_lm
from videohv.lm.roles import eyes, using

DEFAULT = "embedded"

LMOption = Annotated[
    str | None,
    typer.Option(
        "--lm",
        help="Language model: provider/model[?temperature=…&api_base=…]. Default: the embedded one.",
        metavar="SPEC",
    ),
]
VisionLMOption = Annotated[
    str | None,
    typer.Option("--vision-lm", help="Model that looks at frames. Default: --lm, if it sees images.", metavar="SPEC"),
]
CaptionerOption = Annotated[
    str,
    typer.Option(help=f"Who captions: auto, lm, or one of {', '.join(captioner_names())}.", metavar="NAME"),
]
DecoderOption = Annotated[str, typer.Option(help="Who decodes the video: auto, pyav or decord.", metavar="NAME")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed for sampling, where the model takes one.")]


@contextmanager
def choose_lms(lm: str | None, vision_lm: str | None, seed: int, *, quiet: bool = False) -> Iterator[None]:
    """Use the models that the options name, and say on stderr which they are.

    A key in the environment never changes which model is used: without `--lm` it is the embedded one.
    """
    chosen = make_lm(lm or DEFAULT, seed=seed)
    vision = make_lm(vision_lm, seed=seed) if vision_lm is not None else None
    with using(chosen, vision):
        if not quiet:
            origin = "--lm" if lm is not None else "the default: no --lm was given"
            _say("model", f"{describe(chosen)} ({origin})")
            seer = eyes(None)
            _say(
                "looks",
                describe(seer) if seer is not None else "none sees images: objects, text and light are detected",
            )
        yield


def _say(name: str, text: str) -> None:
    ERRORS.print(f"{name:<14}", style="cyan", end="")
    ERRORS.print(clean(text), markup=False, soft_wrap=True)
