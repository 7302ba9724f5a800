"""A look before long work begins: whether the servers that are to be asked serve the models that were named."""

from __future__ import annotations

from collections.abc import Iterable

from videohv.errors import ModelError
from videohv.lm.door import Served, door_of, find_served, models_served, not_served
from videohv.lm.roles import Assigned, assignments

PATIENCE = 3.0
"""Seconds to wait for a list of models."""


def check_ready(team: Iterable[Assigned] | None = None, timeout: float = PATIENCE) -> None:
    """Raise if a model is not served where it would be asked for. One short request for each server that has a list.

    A list that cannot be had (no such page, no answer in time, no permission) says nothing, and hinders nothing: the
    first call will tell.

    Args:
        team: What the run uses; None is what all known roles use as things are configured.
        timeout: Seconds to wait for a list.

    Raises:
        ModelError: If a model is not served. The message says what named it and what is served.
    """
    lists: dict[str, tuple[Served, ...] | None] = {}
    for choice, lm in team if team is not None else assignments():
        door = door_of(lm) if lm is not None else None
        if door is None or not door.complete:
            continue
        if door.address not in lists:
            try:
                lists[door.address] = models_served(door, timeout)
            except ModelError:
                lists[door.address] = None
        served = lists[door.address]
        if served and find_served(door, served) is None:
            raise ModelError(f"{choice.origin}: {not_served(door, served)}")
