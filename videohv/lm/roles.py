"""Which model a step uses: one for each role where the user wants it, one that looks at frames, one for all else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import dspy

from videohv.errors import InputError
from videohv.lm.about import describe, sees_images
from videohv.types import Value

LM, VISION = "lm", "vision_lm"
"""The two settings beside those of single roles: for everything, and for what looks at frames."""

_VISION = "videohv_vision_lm"
_ROLES = "videohv_role_lms"
_ORIGINS = "videohv_lm_origins"

_known: dict[str, bool] = {
    "summary": False,
    "thinker": False,
    "judge": False,
    "verifier.locate": False,
    "verifier.look": True,
    "verifier.check": False,
    "answer": False,
    "captioner": True,
}


class Choice(Value):
    """What a role uses and who says so.

    Args:
        role: Name of the step.
        lm: The model and where it runs, in one line without a key; empty if there is none.
        origin: What named it, such as `--role judge`, `VIDEOHV_LM`, `lab.toml#fast` or `dspy.configure`; empty if
            nothing did.
    """

    role: str
    lm: str
    origin: str


class Assigned(NamedTuple):
    """A choice together with the LM itself; None if the role has none."""

    choice: Choice
    lm: dspy.BaseLM | None


def declare_role(name: str, *, looks: bool = False) -> str:
    """Make a step known, so that commands, environment and profiles may name a model for it; gives back the name.

    Args:
        name: As in `ask(name, …)`. The part before a dot is its family: what is chosen for the family counts for it.
        looks: Whether frames are shown to it.
    """
    _known[name] = looks
    return name


def looks(role: str) -> bool:
    """Whether frames are shown to a step, as far as it is known."""
    return _known.get(role, False)


def role_names() -> tuple[str, ...]:
    """The steps that are known, families left out."""
    return tuple(_known)


def check_role(name: str, said: str) -> str:
    """The name, if it is a known step or family.

    Args:
        name: What was given.
        said: Where it was given, for the message.

    Raises:
        InputError: If it is unknown. The message lists the known ones.
    """
    families = {family for role in _known for family in _families(role)}
    if name not in {*_known, *families}:
        known = ", ".join(sorted({*_known, *families}))
        raise InputError(f"{said}: no role is called {name!r}; known: {known}")
    return name


def lm_for(role: str, own: dspy.BaseLM | None = None, given: dspy.BaseLM | None = None) -> dspy.BaseLM | None:
    """The model that a step uses, or None if none is configured.

    In this order: the predictor's own, the one configured for exactly this role, the one for its family (`verifier`
    for `verifier.look`), what the caller gives, DSPy's configured one. For a role that looks at frames, a family's
    model that is known to see no images is passed over.

    Args:
        role: Name of the step.
        own: The LM bound to the predictor itself, if any.
        given: What the caller prefers to the configured one, such as the model that looks at frames.
    """
    return own or _configured(role)[0] or given or dspy.settings.lm


def eyes(own: dspy.BaseLM | None, role: str = "verifier.look") -> dspy.BaseLM | None:
    """The model that looks at frames, or None if there is none that can.

    In this order: the predictor's own, the one configured for the role or its family, the configured `vision_lm`, the
    configured `lm` if it is known to see images.

    Args:
        own: The LM bound to the predictor itself, if any.
        role: Name of the step that looks.
    """
    return _eyes(role, own)[0]


def assignments(roles: Iterable[str] | None = None) -> tuple[Assigned, ...]:
    """What each role uses as things are configured here and now, leaving aside LMs bound to predictors.

    Args:
        roles: Which; None is all that are known. For `lm` it is the model of all that nothing else is said for.
    """
    made = []
    for role in roles if roles is not None else role_names():
        lm, setting = _eyes(role) if looks(role) else _configured(role)
        if lm is None and not looks(role):
            lm, setting = dspy.settings.lm, LM
        origin = _origin(setting, lm) if lm is not None else ""
        made.append(Assigned(Choice(role=role, lm=describe(lm) if lm is not None else "", origin=origin), lm))
    return tuple(made)


def choices(roles: Iterable[str] | None = None) -> tuple[Choice, ...]:
    """As `assignments`, as values that can be printed and kept."""
    return tuple(assigned.choice for assigned in assignments(roles))


@contextmanager
def using(
    lm: dspy.BaseLM | None,
    vision_lm: dspy.BaseLM | None = None,
    roles: Mapping[str, dspy.BaseLM] | None = None,
    origins: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Use these models inside the block only; None leaves what is set. Works from any thread and task.

    Args:
        lm: For everything that is not said otherwise.
        vision_lm: For what looks at frames.
        roles: For single roles or families; others keep what is set.
        origins: What named each, by `lm`, `vision_lm` or role, for `choices`.
    """
    with dspy.context(**as_settings(lm, vision_lm, roles, origins)):
        yield


def as_settings(
    lm: dspy.BaseLM | None,
    vision_lm: dspy.BaseLM | None,
    roles: Mapping[str, dspy.BaseLM] | None,
    origins: Mapping[str, str] | None,
) -> dict[str, object]:
    """The settings by which DSPy keeps these choices, added to those that stand; arguments as for `using`."""
    named = {LM: lm, VISION: vision_lm, **(roles or {})}
    made: dict[str, object] = {key: value for key, value in (("lm", lm), (_VISION, vision_lm)) if value is not None}
    if roles:
        made[_ROLES] = {**(dspy.settings.get(_ROLES) or {}), **roles}
    said = {
        name: (value, (origins or {}).get(name, "given in code")) for name, value in named.items() if value is not None
    }
    return {**made, _ORIGINS: {**(dspy.settings.get(_ORIGINS) or {}), **said}}


def _families(role: str) -> list[str]:
    """`a.b.c` → `a.b`, `a`."""
    parts = role.split(".")
    return [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _configured(role: str) -> tuple[dspy.BaseLM | None, str]:
    configured: Mapping[str, dspy.BaseLM] = dspy.settings.get(_ROLES) or {}
    if role in configured:
        return configured[role], role
    for family in _families(role):
        lm = configured.get(family)
        if lm is not None and not (looks(role) and sees_images(lm) is False):
            return lm, family
    return None, ""


def _eyes(role: str, own: dspy.BaseLM | None = None) -> tuple[dspy.BaseLM | None, str]:
    chosen, setting = (own, role) if own is not None else _configured(role)
    if chosen is None:
        chosen, setting = dspy.settings.get(_VISION), VISION
    if chosen is not None:
        # Chosen for this by the user: only a plain no counts against it.
        return (None if sees_images(chosen) is False else chosen), setting
    general = dspy.settings.lm
    return (general, LM) if general is not None and sees_images(general) else (None, "")


def _origin(setting: str, lm: dspy.BaseLM) -> str:
    said = (dspy.settings.get(_ORIGINS) or {}).get(setting)
    # What was set since then, in DSPy's own way, has another LM.
    return said[1] if said is not None and said[0] is lm else "dspy.configure"
