"""The options by which every command chooses its models, and the line that says which are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from videohv.captioners.registry import captioner_names
from videohv.cli.console import ERRORS, clean
from videohv.lm import default_lm, describe, make_lm
from videohv.lm.roles import eyes, using

LMOption = Annotated[
    str | None,
    typer.Option(
        "--lm", help="Language model, provider/model[?temperature=…]. Default: the embedded one.", metavar="SPEC"
    ),
]
VisionLMOption = Annotated[
    str | None,
    typer.Option("--vision-lm", help="Model that looks at frames. Default: --lm, if it sees images.", metavar="SPEC"),
]
CaptionerOption = Annotated[
    str, typer.Option(help=f"Who captions: auto, lm, or one of {', '.join(captioner_names())}.", metavar="NAME")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed for sampling, where the model takes one.")]


@contextmanager
def choose_lms(lm: str | None, vision_lm: str | None, seed: int, *, quiet: bool = False) -> Iterator[None]:
    """Use the models that the options name, and say on stderr which they are.

    A key in the environment never changes which model is used: without `--lm` it is the embedded one.
    """
    chosen = make_lm(lm, seed=seed) if lm is not None else default_lm(on_progress=download_bar(quiet))
    vision = make_lm(vision_lm, seed=seed) if vision_lm is not None else None
    with using(chosen, vision):
        if not quiet:
            origin = "--lm" if lm is not None else "the default"
            ERRORS.print(f"model       {clean(describe(chosen))} ({origin})", markup=False)
            seer = eyes(None)
            what = clean(describe(seer)) if seer is not None else "none: objects, text and light are detected instead"
            ERRORS.print(f"looks       {what}", markup=False)
        yield
