"""What one answer cost, by role, and the settings that it was made with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from videohv.evaluate.columns import ABSENT, number
from videohv.report.markup import Markup, joined, tag
from videohv.report.pieces import data_table, facts, folded
from videohv.types import RoleUsage, Trace

_COLUMNS: tuple[tuple[str, Callable[[RoleUsage], float | None]], ...] = (
    ("calls", lambda u: u.calls),
    ("from cache", lambda u: u.cached_calls),
    ("failed", lambda u: u.failed_calls),
    ("prompt tokens", lambda u: u.prompt_tokens),
    ("reply tokens", lambda u: u.completion_tokens),
    ("images", lambda u: u.images),
    ("seconds", lambda u: u.seconds),
    ("cost", lambda u: u.cost),
)


def cost_table(trace: Trace) -> Markup:
    """Calls, tokens, images, time and money of each role."""
    took = tag("p", f"{number(trace.seconds)} seconds in all.", class_="quiet")
    if not trace.usage:
        return took
    # A column in which nothing was spent would only make the others narrower.
    columns = [(name, get) for name, get in _COLUMNS if name == "calls" or any(get(u) for u in trace.usage)]
    models = {u.model for u in trace.usage}
    several = len(models) > 1
    rows = [
        [u.role, *([u.model] if several else []), *(_figure(name, get(u)) for name, get in columns)]
        for u in trace.usage
    ]
    totals = [_figure(name, _total([get(u) for u in trace.usage])) for name, get in columns]
    first = 2 if several else 1
    table = data_table(
        ["role", *(["model"] if several else []), *(name for name, _ in columns)],
        rows,
        caption="Cost by role",
        right=range(first, first + len(columns)),
        foot=["in all", *([""] if several else []), *totals],
    )
    by = (
        None
        if several
        else tag("p", "All by ", tag("b", next(iter(models)) or "a model without a name"), class_="quiet")
    )
    return joined(by, table, took)


def settings_table(trace: Trace) -> Markup:
    """The method's settings, folded."""
    if not trace.settings:
        return Markup()
    return folded("Settings", facts([(str(name), _said(value)) for name, value in trace.settings.items()]))


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _figure(name: str, value: float | None) -> str:
    return ABSENT if value is None else number(value, money=name == "cost")


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return ABSENT if value is None else str(value)
