"""The optimizers of a compile with their options, as a command line has them: `bootstrap,gepa` and `trials=30`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from videohv.compiled.artifact import Step
from videohv.errors import InputError
from videohv.optimize.optimizers.chain import Chain
from videohv.optimize.registry import Optimizer, Preset, make_optimizer, optimizer_options


class Steps(NamedTuple):
    """What is recorded of the optimizers, and the one that does what they all do."""

    recorded: tuple[Step, ...]
    optimizer: Optimizer


def make_steps(names: Sequence[str], options: Mapping[str, Any], preset: Preset) -> Steps:
    """The optimizers of these names, one after the other.

    Args:
        names: As registered.
        options: By name; each goes to all optimizers that have it, `gepa.trials` to that one alone.
        preset: Of the options that are not given.

    Raises:
        InputError: There is no such optimizer, or none of them has an option, or not with that value.
    """
    if not names:
        raise InputError("no optimizer is named")
    own: list[dict[str, Any]] = [{} for _ in names]
    for given, value in options.items():
        whose, _, option = given.rpartition(".")
        places = [
            place
            for place, name in enumerate(names)
            if whose in ("", name) and option in optimizer_options(name).model_fields
        ]
        if not places:
            raise InputError(_unknown(given, whose, option, names))
        for place in places:
            own[place][option] = value
    made = [make_optimizer(name, chosen, preset) for name, chosen in zip(names, own, strict=True)]
    recorded = tuple(
        Step(name=name, options=one.options.model_dump(mode="json")) for name, one in zip(names, made, strict=True)
    )
    return Steps(recorded, made[0] if len(made) == 1 else cast(Optimizer, Chain(made)))


def _unknown(given: str, whose: str, option: str, names: Sequence[str]) -> str:
    if whose and whose not in names:
        return f"option {given!r}: {whose} is none of the optimizers ({', '.join(names)})"
    there = "; ".join(
        f"{name} has: {', '.join(sorted(optimizer_options(name).model_fields)) or 'none'}"
        for name in ([whose] if whose else dict.fromkeys(names))
    )
    return f"no optimizer here has an option {option!r}; {there}"
