"""Which settings are searched, and over what: typed, with a default for each method, and overridable one by one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from videohv.errors import InputError
from videohv.modules.methods import make_method
from videohv.types import Value

Scalar: TypeAlias = int | float | str | bool

STRIDE = "stride"
"""Not a setting of a method: which of the published captions are used."""

_ONLY_FRAMES = ("frames", "fps")
_RANGE = re.compile(r"^\s*(-?[\d.]+?)\s*\.\.\s*(-?[\d.]+?)\s*(?:/\s*([\d.]+)\s*)?$", re.ASCII)


class Dimension(Value):
    """A setting and what it may be.

    Args:
        name: Of the setting.
        kind: `int` and `float` go from `low` to `high` in steps; a `choice` is one of `choices`.
        low: The least value.
        high: The greatest.
        step: Between two values.
        choices: All values of a choice.
    """

    name: str
    kind: Literal["int", "float", "choice"]
    low: float = 0.0
    high: float = 0.0
    step: float = 1.0
    choices: tuple[Scalar, ...] = ()

    @property
    def values(self) -> tuple[Scalar, ...]:
        """All values, the least first."""
        if self.kind == "choice":
            return self.choices
        count = math.floor((self.high - self.low) / self.step + 1e-9) + 1
        return tuple(self.value(self.low + i * self.step) for i in range(count))

    def value(self, number: float) -> Scalar:
        """A number as the setting takes it."""
        return round(number) if self.kind == "int" else round(number, 9)

    def nearest(self, value: Any) -> Scalar:
        """The value that is closest to another one, or the first where there is no closest."""
        if value in self.values:
            return next(own for own in self.values if own == value)
        if isinstance(value, int | float) and all(isinstance(own, int | float) for own in self.values):
            return min(self.values, key=lambda own: abs(float(own) - value))
        return self.values[0]

    def __str__(self) -> str:
        if self.kind == "choice":
            return f"{self.name}={','.join(map(str, self.choices))}"
        step = f"/{self.step:g}" if self.step != 1 or self.kind == "float" else ""
        return f"{self.name}={self.low:g}..{self.high:g}{step}"


Space: TypeAlias = tuple[Dimension, ...]

_USUAL = (
    "rounds=1..4",
    "looks=1..3",
    "windows=1..4",
    "frames=1..5",
    "stretches=1..8",
    "prune_below=0..0.3/0.05",
    "regenerations=0..2",
    "first=3..12",
    "stride=1,2,4",
    "fps=0.25,0.5,1",
)


def usual_space(method: str, *, captions: bool, videos: bool) -> Space:
    """What is searched of a method unless told otherwise.

    Args:
        method: Name in the registry.
        captions: Whether published captions are used; then `stride` is searched, and else `fps`.
        videos: Whether there are videos; without them nothing that only bears on frames is searched.
    """
    known = {*make_method(method).settings_type.model_fields, *([STRIDE] if captions else [])}
    left_out = {name for name in _ONLY_FRAMES if not videos} | ({"fps"} if captions else set())
    usual = (parse_dimension(text, method) for text in _USUAL if text.partition("=")[0] in known - left_out)
    return tuple(usual)


def make_space(
    method: str, overrides: Iterable[str] = (), fixed: Iterable[str] = (), *, captions: bool, videos: bool
) -> Space:
    """The usual space with some dimensions replaced or added, and without those that are fixed.

    Args:
        method: Name in the registry.
        overrides: As `parse_dimension` reads them.
        fixed: Names of settings that are not to be searched.
        captions: As in `usual_space`.
        videos: Likewise.

    Raises:
        InputError: One of them is no setting of the method, is both fixed and to be searched, or nothing is left.
    """
    made = {dimension.name: dimension for dimension in usual_space(method, captions=captions, videos=videos)}
    own = [parse_dimension(text, method) for text in overrides]
    if both := sorted({dimension.name for dimension in own} & set(fixed)):
        raise InputError(f"{both[0]} is both fixed with --set and searched with --space: leave one of them out")
    if not captions and any(dimension.name == STRIDE for dimension in own):
        raise InputError("stride is about published captions, and none are given: name --captions")
    made.update({dimension.name: dimension for dimension in own})
    space = tuple(dimension for dimension in made.values() if dimension.name not in set(fixed))
    if not any(len(dimension.values) > 1 for dimension in space):
        raise InputError("nothing is left to search: every setting is fixed")
    return space


def parse_dimension(text: str, method: str) -> Dimension:
    """A dimension out of `rounds=1..4`, `prune_below=0..0.3/0.05` or `stride=1,2,4`.

    A range of whole numbers goes in steps of 1 where the setting is whole, and one without a step in ten steps else.

    Raises:
        InputError: It is of another form, or a value in it is not one that the setting can have.
    """
    name, equals, said = (part.strip() for part in text.partition("="))
    if not name or not equals or not said:
        raise InputError(f"--space {text}: expected NAME=LOW..HIGH, NAME=LOW..HIGH/STEP or NAME=VALUE,VALUE")
    try:
        made = _parsed(name, said, whole=_is_whole(name, method))
    except ValueError as error:
        raise InputError(f"--space {text}: {error}") from error
    for value in dict.fromkeys((made.values[0], made.values[-1], *made.choices)):
        check_settings(method, {name: value})
    return made


def check_settings(method: str, settings: Mapping[str, Any]) -> None:
    """Make sure that a method can have these settings, and the captions this stride.

    Raises:
        InputError: It can't; names the setting.
    """
    stride = settings.get(STRIDE, 1)
    if not isinstance(stride, int) or isinstance(stride, bool) or stride < 1:
        raise InputError(f"stride is a whole number from 1 on, not {stride}")
    make_method(method, **{name: value for name, value in settings.items() if name != STRIDE})


def scalar(text: str) -> Scalar:
    """A number, a truth value, or else the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _parsed(name: str, said: str, *, whole: bool) -> Dimension:
    if not (match := _RANGE.match(said)):
        choices = tuple(dict.fromkeys(scalar(part.strip()) for part in said.split(",") if part.strip()))
        if not choices:
            raise ValueError("it names no value")
        return Dimension(name=name, kind="choice", choices=choices)
    low, high = float(match[1]), float(match[2])
    if high < low:
        raise ValueError(f"{match[1]} is more than {match[2]}")
    step = float(match[3]) if match[3] else 1.0 if whole else (high - low) / 10 or 1.0
    if step <= 0:
        raise ValueError("the step is not more than 0")
    if whole and not all(number == int(number) for number in (low, high, step)):
        raise ValueError(f"{name} takes whole numbers")
    last = low + math.floor((high - low) / step + 1e-9) * step
    try:
        return Dimension(name=name, kind="int" if whole else "float", low=low, high=round(last, 9), step=step)
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"]) from error


def _is_whole(name: str, method: str) -> bool:
    field = make_method(method).settings_type.model_fields.get(name)
    return name == STRIDE or (
        field is not None and int in (field.annotation, *getattr(field.annotation, "__args__", ()))
    )
