"""From names to models: the LMs of a run, made once each, and set for a block or for the process."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy

from videohv.errors import InputError, MissingExtra, VideoHVError
from videohv.lm.backend_embedded import PROVIDER, embedded_from
from videohv.lm.backends import default_lm, make_lm
from videohv.lm.facts import Facts, attach
from videohv.lm.frames import SETTING as FRAME_LIMITS
from videohv.lm.naming import DEFAULT_ORIGIN, Named, by_environment, by_profile, merged
from videohv.lm.roles import LM, VISION, as_settings, using
from videohv.lm.spec import Spec, parse_spec
from videohv.types import FrameLimits


@dataclass(frozen=True)
class Team:
    """The LMs of a run.

    Args:
        lms: By setting: `lm`, `vision_lm`, or a role or family.
        origins: What named each.
    """

    lms: Mapping[str, dspy.BaseLM]
    origins: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Use these models inside the block; what is not named stays as it is set."""
        with using(self.lms.get(LM), self.lms.get(VISION), self.roles, self.origins):
            yield

    @property
    def roles(self) -> dict[str, dspy.BaseLM]:
        """Those of single roles and families."""
        return {name: lm for name, lm in self.lms.items() if name not in (LM, VISION)}


class Unavailable:
    """Stands in for a model that cannot be made, where the others are to be looked at all the same.

    Args:
        why: What calls of it end with.
    """

    def __init__(self, why: VideoHVError) -> None:
        self.why = why

    def complete(self, request: Any) -> Any:
        """Raise why there is no such model."""
        raise self.why


def make_team(named: Iterable[Named], seed: int | None = None, *, fetch: bool = True, tolerant: bool = False) -> Team:
    """The models that were named, equal specs sharing one LM.

    Whatever can be wrong with a name or a key shows before an embedded model is fetched.

    Args:
        named: As `name_models` gives it.
        seed: For backends that take one.
        fetch: Whether an embedded model that is not in the cache is fetched; if not, its LM fails when it is called.
        tolerant: Put an LM with an `Unavailable` engine in the place of one that cannot be made.

    Raises:
        InputError, ModelError, MissingExtra: As `make_lm`, unless tolerant. The message says what named the model.
    """
    named, made = tuple(named), {}
    for one in sorted(named, key=lambda one: one.spec.provider == PROVIDER):
        if one.spec in made:
            continue
        try:
            made[one.spec] = _make(one.spec, seed, fetch)
        except VideoHVError as error:
            if not tolerant:
                if not isinstance(error, MissingExtra):
                    # The same error, because its type decides the exit code.
                    error.args = (f"{one.origin}: {error}", *error.args[1:])
                raise
            made[one.spec] = _stand_in(one.spec, error)
    return Team({one.setting: made[one.spec] for one in named}, {one.setting: one.origin for one in named})


def configure(
    lm: str | dspy.BaseLM | None = None,
    vision_lm: str | dspy.BaseLM | None = None,
    seed: int | None = None,
    *,
    roles: Mapping[str, str | dspy.BaseLM] | None = None,
    profile: str | Path | None = None,
    frame_limits: FrameLimits | None = None,
) -> None:
    """Set the models for this process, as `dspy.configure` does.

    What is given here counts most, then the environment (`VIDEOHV_LM`, `VIDEOHV_VISION_LM`, `VIDEOHV_ROLE_JUDGE` …),
    then the profile, then what was set before. Each setting counts by itself.

    Args:
        lm: A spec such as `openai/gpt-4o-mini` or `embedded/qwen2.5-coder-1.5b`, or any DSPy LM. None leaves what is
            set.
        vision_lm: Looks at frames and captions them, in place of `lm`. None leaves what is set.
        seed: For backends that take one; only used with specs.
        roles: Models for single steps (`judge`, `verifier.look`) or families of them (`verifier`).
        profile: A TOML file, or `file.toml#name`; None is the one that `VIDEOHV_PROFILE` names.
        frame_limits: How large the frames may be that are shown to any model, in place of what its provider is known
            to take. None leaves what is set.

    Raises:
        InputError: If a spec, role, variable or profile cannot be understood, or a key is missing.
    """
    given = {LM: lm, VISION: vision_lm, **_checked(roles or {})}
    own = {name: value for name, value in given.items() if value is not None and not isinstance(value, str)}
    specs = tuple(
        Named(setting=name, spec=parse_spec(value), origin=_BY_HAND)
        for name, value in given.items()
        if isinstance(value, str)
    )
    elsewhere = merged(specs, by_environment(), by_profile(str(profile) if profile is not None else None))
    team = make_team((one for one in elsewhere if one.setting not in own), seed)
    lms = {**team.lms, **own}
    origins = {**team.origins, **dict.fromkeys(own, _BY_HAND)}
    rest = {name: value for name, value in lms.items() if name not in (LM, VISION)}
    sizes = {FRAME_LIMITS: frame_limits} if frame_limits is not None else {}
    dspy.configure(**as_settings(lms.get(LM), lms.get(VISION), rest, origins), **sizes)


@contextmanager
def found_models(default: bool = True) -> Iterator[None]:
    """Inside the block, the models that environment and profile name, and else the embedded default.

    For a program that is called where DSPy has no LM: whatever was configured is not touched.

    Args:
        default: Whether the embedded default is of use where no other is named.

    Raises:
        InputError, ModelError, MissingExtra: As `make_team`.
    """
    named = merged(by_environment(), by_profile())
    with _finding:
        # Called for every question: the same names mean the same LMs, with the connections that they hold open.
        if named not in _found:
            _found.clear()
            _found[named] = make_team(named)
        team = _found[named]
    fallback = default_lm() if default and LM not in team.lms else None
    with using(fallback, origins={LM: DEFAULT_ORIGIN}), team.at_work():
        yield


_found: dict[tuple[Named, ...], Team] = {}
_finding = threading.Lock()

_BY_HAND = "videohv.configure"


def _checked(roles: Mapping[str, str | dspy.BaseLM]) -> Mapping[str, str | dspy.BaseLM]:
    for name in roles:
        if not isinstance(name, str) or name in ("", LM, VISION) or not all(name.split(".")):
            raise InputError(f"configure(roles=…): {name!r} is no role; they are called judge, verifier.look and so on")
    return roles


def _make(spec: Spec, seed: int | None, fetch: bool) -> dspy.BaseLM:
    if fetch or spec.provider != PROVIDER:
        return make_lm(spec, seed=seed)
    return embedded_from(spec, seed, None, fetch=False)


def _stand_in(spec: Spec, error: VideoHVError) -> dspy.BaseLM:
    name = f"{spec.provider}/{spec.model}" if spec.model else spec.provider
    made = dspy.LM(f"unavailable/{spec.provider}", engine=Unavailable(error), cache=False, num_retries=0)
    attach(made, Facts(name, "not to be had"))
    return made
