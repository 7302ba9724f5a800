"""The options by which every command chooses its models, and the lines that say which are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from videohv.captioners.registry import captioner_names
from videohv.cli.console import say
from videohv.lm.backend_embedded import PROVIDER
from videohv.lm.naming import Named, name_models
from videohv.lm.ready import check_ready
from videohv.lm.roles import LM, Assigned, Choice, assignments, looks
from videohv.lm.team import make_team

BLIND = "none sees images: objects, text and light are detected"

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
RoleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--role", help="Model of one step, such as judge=openai/gpt-4o. May be repeated.", metavar="ROLE=SPEC"
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(help="Models out of a TOML file: lab.toml, or lab.toml#name.", metavar="FILE"),
]
CaptionerOption = Annotated[
    str,
    typer.Option(help=f"Who captions: auto, lm, or one of {', '.join(captioner_names())}.", metavar="NAME"),
]
DecoderOption = Annotated[str, typer.Option(help="Who decodes the video: auto, pyav or decord.", metavar="NAME")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed for sampling, where the model takes one.")]


@contextmanager
def choose_lms(
    lm: str | None,
    vision_lm: str | None,
    seed: int,
    *,
    roles: Sequence[str] | None = None,
    profile: str | None = None,
    steps: Sequence[str] | None = None,
    quiet: bool = False,
) -> Iterator[tuple[Choice, ...]]:
    """Use the models that options, environment and profile name inside the block, and say on stderr which they are.

    A key in the environment never changes which model is used: where none is named it is the embedded one.

    Args:
        lm: Of `--lm`.
        vision_lm: Of `--vision-lm`.
        seed: Of `--seed`.
        roles: Of each `--role`.
        profile: Of `--profile`.
        steps: Those that are going to be asked; None is all that are known.
        quiet: Say nothing.

    Raises:
        InputError: If something named is wrong, or a key is missing.
        ModelError: If a server does not serve the model that is named.
    """
    with make_team(name_models(lm, vision_lm, roles or (), profile), seed).at_work():
        used = assignments(steps)
        check_ready(used)
        if not quiet:
            for name, text in told(used):
                say(name, text)
        yield tuple(one.choice for one in used)


def steps_of(program: Any) -> tuple[str, ...]:
    """The steps that a program asks, by the names under which models are chosen for them."""
    return tuple(name.removesuffix(".predict") for name, _ in program.named_predictors())


def told(used: Sequence[Assigned]) -> Iterator[tuple[str, str]]:
    """Which models are used: the one for everything, the one that looks, and each that differs from them."""
    (general, _), *_ = assignments((LM,))
    yield "model", f"{general.lm} ({general.origin})"
    looking = next((choice for choice, _ in used if looks(choice.role)), None)
    if looking is not None:
        yield "looks", _looking(looking, general)
    for choice, _ in used:
        usual = looking if looks(choice.role) else general
        if usual is not None and (choice.lm, choice.origin) != (usual.lm, usual.origin):
            yield choice.role, f"{choice.lm} ({choice.origin})" if choice.lm else BLIND


def _looking(choice: Choice, general: Choice) -> str:
    if not choice.lm:
        return BLIND
    return choice.lm if choice.origin == general.origin else f"{choice.lm} ({choice.origin})"


def at_once(models: Iterable[Named], asked: int | None) -> int:
    """How many LM calls go on at once: as many as were asked for, else 8, or 1 with an embedded model among them."""
    return asked or (1 if is_embedded(models) else 8)


def is_embedded(models: Iterable[Named]) -> bool:
    """Whether one of them is a model in this process."""
    return any(named.spec.provider == PROVIDER for named in models)
