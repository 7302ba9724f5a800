"""From a JSON schema to a grammar that a small model cannot get lost in.

A schema says what is allowed, and endless is allowed: a text or a list that repeats itself until the tokens run out
leaves the JSON open and every later field missing. So texts and lists without a bound of their own get one. The layout
is fixed to one line, which saves a third of the tokens.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from videohv.types import REPLY_ITEMS


class Bounds(NamedTuple):
    """Characters of a text and items of a list that says nothing else."""

    characters: int
    items: int


FIELD = Bounds(characters=600, items=8)
"""For an output field, unless `REPLY_ITEMS` names it. Most questions have fewer options than this; a larger bound would
let a model that has lost itself in a list write until its tokens are spent."""
WITHIN = Bounds(characters=240, items=3)
"""For what is inside the items of a list, of which there may be many."""

_LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_DATA = frozenset({"enum", "const", "default", "examples", "required"})
_ENDS_TEXT = frozenset({"enum", "const", "pattern", "format", "maxLength"})


def bounded(schema: Any, bounds: Bounds = FIELD) -> Any:
    """The schema with `maxLength` on free texts and `maxItems` on lists where it has none; the input is left alone."""
    if isinstance(schema, list):
        return [bounded(item, bounds) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {keyword: _value(keyword, value, bounds) for keyword, value in schema.items()}
    if out.get("type") == "string" and not _ENDS_TEXT & out.keys():
        out["maxLength"] = bounds.characters
    if out.get("type") == "array" and "maxItems" not in out:
        out["maxItems"] = max(bounds.items, int(out.get("minItems", 0)))
    return out


def _value(keyword: str, value: Any, bounds: Bounds) -> Any:
    if keyword in _DATA:
        return value
    if keyword in _NAMED and isinstance(value, dict):
        # The keys of these are names, not keywords: a property may well be called "type".
        inside = bounds if keyword == "properties" else WITHIN
        return {name: bounded(sub, inside._replace(items=_items(name, inside))) for name, sub in value.items()}
    return bounded(value, WITHIN if keyword in ("items", "prefixItems") else bounds)


def _items(name: str, bounds: Bounds) -> int:
    return REPLY_ITEMS.get(name, bounds.items) if bounds == FIELD else bounds.items


def constrained(response_format: dict[str, Any]) -> dict[str, Any]:
    """What to hand to the grammar converter for the `response_format` of an lm15 request."""
    schema = response_format["schema"] if response_format["type"] == "json_schema" else {"type": "object"}
    return {**bounded(schema), "x-guidance": _LAYOUT}
