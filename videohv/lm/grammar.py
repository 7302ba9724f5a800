"""From a JSON schema to a grammar that a small model cannot get lost in.

A schema says what is allowed, and endless is allowed: a text that repeats itself until the tokens run out leaves the JSON
open and every later field missing. So texts and lists without a bound of their own get one, and layout is fixed to one line,
which also saves a third of the tokens.
"""

from __future__ import annotations

from typing import Any

TEXT_CHARACTERS = 600
LIST_ITEMS = 32

_LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_FREE_TEXT_ENDS_AT = ("enum", "const", "pattern", "format", "maxLength")


def bounded(schema: Any) -> Any:
    """The schema with `maxLength` on free texts and `maxItems` on lists wherever it has none; the input is left alone."""
    if isinstance(schema, list):
        return [bounded(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # Under `properties` and `$defs` the keys are names, not keywords: a property may well be called "type".
    out = {
        key: {name: bounded(sub) for name, sub in value.items()}
        if key in ("properties", "$defs", "definitions", "patternProperties") and isinstance(value, dict)
        else value
        if key in ("enum", "const", "default", "examples")
        else bounded(value)
        for key, value in schema.items()
    }
    if out.get("type") == "string" and not any(key in out for key in _FREE_TEXT_ENDS_AT):
        out["maxLength"] = TEXT_CHARACTERS
    if out.get("type") == "array" and "maxItems" not in out:
        out["maxItems"] = max(LIST_ITEMS, out.get("minItems", 0))
    return out


def constrained(response_format: dict[str, Any]) -> dict[str, Any]:
    """What to hand to the grammar converter for a `response_format` of an lm15 request."""
    schema = response_format.get("schema") if response_format["type"] == "json_schema" else {"type": "object"}
    return {**bounded(schema), "x-guidance": _LAYOUT}
