"""How a question without an answer counts: named policies, always shown side by side.

The choice moves the score: published methods credit a failure with 1/5, guess at random, drop it, or count it as wrong.
A policy sees labelled questions only; questions whose right option is not known are unscored under every policy.

A new one is a function from a row to its score, registered with `@policy("name", "what it does")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from videohv.errors import InputError
from videohv.evaluate.row import Row
from videohv.types import Outcome

Score = Callable[[Row], float | None]
"""From a labelled row to its score between 0 and 1, or None if it does not count."""


class Policy(NamedTuple):
    """A way to score. `about` says in a few words what becomes of questions without an answer."""

    name: str
    about: str
    score: Score


STRICT = "strict"
"""The policy that comparisons and breakdowns lead with."""

_POLICIES: dict[str, Policy] = {}


def policy(name: str, about: str) -> Callable[[Score], Score]:
    """Register a policy under a name; a name that is taken is replaced."""

    def register(score: Score) -> Score:
        _POLICIES[name] = Policy(name, about, score)
        return score

    return register


def policies(names: tuple[str, ...] = ()) -> tuple[Policy, ...]:
    """The policies of these names, or all of them in the order of their registration.

    Raises:
        InputError: If there is no such policy.
    """
    for name in names:
        if name not in _POLICIES:
            raise InputError(f"no policy is called {name!r}; known: {', '.join(_POLICIES)}")
    return tuple(_POLICIES[name] for name in names or _POLICIES)


def scores(rows: list[Row], by: Policy) -> tuple[list[float], list[str]]:
    """The scores of the rows that count under a policy, and the recording of each."""
    scored = [(by.score(row), row.recording) for row in rows if row.right is not None]
    counted = [(score, recording) for score, recording in scored if score is not None]
    return [score for score, _ in counted], [recording for _, recording in counted]


@policy(STRICT, "failures and abstentions are wrong")
def _strict(row: Row) -> float:
    return float(row.right is True)


@policy("answered", "failures and abstentions do not count")
def _answered(row: Row) -> float | None:
    return float(row.right is True) if row.outcome is Outcome.ANSWERED else None


@policy("chance", "failures and abstentions get 1 / number of options")
def _chance(row: Row) -> float:
    return float(row.right is True) if row.outcome is Outcome.ANSWERED else 1 / row.options
