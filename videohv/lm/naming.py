"""Which models were named, and where: command line over environment over profile, each setting by itself.

The settings are `lm`, `vision_lm`, and one for each role or family of roles. Nothing is made here, sent or fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

import dspy

from videohv.errors import InputError
from videohv.lm.profile import read_profile
from videohv.lm.redact import without_keys
from videohv.lm.roles import LM, VISION, check_role, role_names
from videohv.lm.spec import Spec, parse_spec
from videohv.types import Value

EMBEDDED = Spec(provider="embedded", model="")
DEFAULT_ORIGIN = "the default: no --lm was given"

LM_VARIABLE, VISION_VARIABLE, PROFILE_VARIABLE = "VIDEOHV_LM", "VIDEOHV_VISION_LM", "VIDEOHV_PROFILE"
ROLE_VARIABLE = "VIDEOHV_ROLE_"
"""Followed by the role in capitals with `_` for the dot: `VIDEOHV_ROLE_VERIFIER_LOOK`."""


class Named(Value):
    """One setting that was named somewhere. Survives JSON and pickle, so that other processes choose the same.

    Args:
        setting: `lm`, `vision_lm`, or a role or family.
        spec: What it is to be.
        origin: What said so.
    """

    setting: str
    spec: Spec
    origin: str


def by_command_line(lm: str | None, vision_lm: str | None, roles: Iterable[str] = ()) -> tuple[Named, ...]:
    """What `--lm`, `--vision-lm` and `--role ROLE=SPEC` name.

    Raises:
        InputError: If a spec is wrong, or a role unknown, doubled or without one.
    """
    named = {LM: (lm, "--lm"), VISION: (vision_lm, "--vision-lm")}
    for given in roles:
        role, equals, spec = given.partition("=")
        if not equals or not role or not spec:
            raise InputError(f"--role {without_keys(given)}: expected ROLE=SPEC, such as judge=openai/gpt-4o-mini")
        check_role(role, "--role")
        if role in named:
            raise InputError(f"--role {role} is given twice")
        named[role] = (spec, f"--role {role}")
    return tuple(_named(setting, spec, origin) for setting, (spec, origin) in named.items() if spec is not None)


def by_environment() -> tuple[Named, ...]:
    """What `VIDEOHV_LM`, `VIDEOHV_VISION_LM` and `VIDEOHV_ROLE_…` name; empty ones name nothing.

    Raises:
        InputError: If a spec is wrong or a variable's role unknown.
    """
    return tuple(_from_environment())


def merged(*sources: Iterable[Named]) -> tuple[Named, ...]:
    """The sources laid over each other, the first on top, each setting by itself."""
    by_setting: dict[str, Named] = {}
    for source in sources:
        for named in source:
            by_setting.setdefault(named.setting, named)
    return tuple(by_setting.values())


def name_models(
    lm: str | None = None,
    vision_lm: str | None = None,
    roles: Iterable[str] = (),
    profile: str | None = None,
) -> tuple[Named, ...]:
    """What a command is told of its models, from everywhere: options, environment, profile, default.

    The embedded default is only named where nothing else is and DSPy has no LM configured.

    Args:
        lm: Of `--lm`.
        vision_lm: Of `--vision-lm`.
        roles: Of each `--role`, as `ROLE=SPEC`.
        profile: Of `--profile`; None is what `VIDEOHV_PROFILE` names.

    Raises:
        InputError: If anything that was given is wrong. One line that says where.
    """
    named = merged(by_command_line(lm, vision_lm, roles), by_environment(), by_profile(profile))
    if dspy.settings.lm is None and all(one.setting != LM for one in named):
        return (*named, Named(setting=LM, spec=EMBEDDED, origin=DEFAULT_ORIGIN))
    return named


def by_profile(profile: str | None = None) -> tuple[Named, ...]:
    """What a profile names: the one given, else the one that `VIDEOHV_PROFILE` names, else none.

    Raises:
        InputError: As `read_profile`.
    """
    where = profile or os.environ.get(PROFILE_VARIABLE, "").strip()
    return tuple(Named(setting=e.setting, spec=e.spec, origin=e.origin) for e in read_profile(where)) if where else ()


def _from_environment() -> Iterator[Named]:
    known: Mapping[str, str] = {_variable(role): role for role in _roles_and_families()}
    for variable, value in sorted(os.environ.items()):
        if not value.strip():
            continue
        if variable in (LM_VARIABLE, VISION_VARIABLE):
            yield _named(LM if variable == LM_VARIABLE else VISION, value, variable)
        elif variable.startswith(ROLE_VARIABLE):
            role = known.get(variable) or variable.removeprefix(ROLE_VARIABLE).lower().replace("_", ".")
            yield _named(check_role(role, variable), value, variable)


def _roles_and_families() -> Iterator[str]:
    for role in role_names():
        parts = role.split(".")
        yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _variable(role: str) -> str:
    return ROLE_VARIABLE + role.upper().replace(".", "_").replace("-", "_")


def _named(setting: str, spec: str, origin: str) -> Named:
    try:
        return Named(setting=setting, spec=parse_spec(spec), origin=origin)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None
