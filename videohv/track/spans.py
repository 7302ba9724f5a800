"""What is kept of DSPy's traced calls: no keys, addresses or pictures, and long texts and lists cut."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from videohv.compiled.public import public

LONGEST_TEXT = 20_000
"""Characters of a text that is kept; the prompts of one call are shorter."""
MOST_ITEMS = 40
"""Items of a list that are kept, such as captions of a video."""

_PICTURE = re.compile(r"data:[\w.+/-]*;base64,[A-Za-z0-9+/=_-]+")
_SECRET = re.compile(r"api_?key|authorization|password|secret", re.IGNORECASE)


def listener() -> Any:
    """What tells MLflow of DSPy's calls, as its autologging does, but not of each step of an adapter.

    These are most of the spans, and repeat what the LM calls beside them hold.
    """
    from mlflow.dspy.callback import MlflowCallback

    class Calls(MlflowCallback):
        """Tells of modules and LM calls."""

        def on_adapter_format_start(self, *given: Any, **named: Any) -> None:
            """Say nothing."""

        on_adapter_format_end = on_adapter_parse_start = on_adapter_parse_end = on_adapter_format_start

    return Calls()


def slim(span: Any) -> None:
    """Change a finished MLflow span to what may be kept of it."""
    span.set_inputs(cleaned(span.inputs))
    span.set_outputs(cleaned(span.outputs))
    for name, value in list(span.attributes.items()):
        if not name.startswith("mlflow.span"):
            span.set_attribute(name, cleaned(value))


def cleaned(value: Any) -> Any:
    """A value as plain JSON, without keys, addresses and the bytes of pictures; long texts and lists are cut."""
    if isinstance(value, str):
        # In this order: half a key would not be known as one.
        text = public(_PICTURE.sub("[picture]", value))
        return text[:LONGEST_TEXT] + (f"… {len(text):,} characters" if len(text) > LONGEST_TEXT else "")
    if isinstance(value, Mapping):
        return {str(key): "[key]" if _SECRET.search(str(key)) else cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        more = [f"… {len(value):,} items"] if len(value) > MOST_ITEMS else []
        return [*map(cleaned, value[:MOST_ITEMS]), *more]
    if value is None or isinstance(value, bool | int | float):
        return value
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return cleaned(dump(mode="json"))
    return cleaned(str(value))
