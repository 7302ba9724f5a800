"""DSPy's JSON adapter without the work that it repeats at every call: the same bytes, for half the time.

The adapter builds the response schema, the system message and the type adapters of a signature anew at each call. None
of that changes between calls, so here it is kept: by the signature's class, and by its instructions and descriptions,
which optimizers change.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from copy import deepcopy
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_origin

import dspy
from dspy.adapters.utils import format_field_value, parse_value
from dspy.utils.exceptions import AdapterParseError
from pydantic import TypeAdapter

T = TypeVar("T")

KEPT = 512
"""Pieces of work that are kept at most; an optimizer makes signatures by the hundred."""

LONGEST = 100_000
"""Characters of a reply that are repaired at most; no model of today writes as much that is of use."""

DEEPEST = 50
"""Brackets that may be open at once in a reply that has to be repaired; those of our signatures open four."""

_SAID_AS_IT_IS = (str, int, float, bool)
_BRACKETS = re.compile(r"[\[\]{}]")


class Kept:
    """Results by key, the least recently used dropped first. Safe under threads; one may be made twice, none lost."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._made: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave when it was first called for this key."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                found: T = self._made[key]
                return found
        made = make()
        with self._lock:
            self._made[key] = made
            while len(self._made) > self._size:
                self._made.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._made)

    def __reduce__(self) -> tuple[type[Kept], tuple[int]]:
        # A copy, or one in another process, begins empty: a lock travels nowhere.
        return Kept, (self._size,)


class KeepingJSONAdapter(dspy.JSONAdapter):
    """`dspy.JSONAdapter` that keeps what depends on the signature alone. It sends and reads the same."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._kept = Kept(KEPT)

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        """See `dspy.Adapter`."""
        return self._kept.get(
            ("system", *_identity(signature)),
            lambda: str(super(KeepingJSONAdapter, self).format_system_message(signature)),
        )

    def user_message_output_requirements(self, signature: type[dspy.Signature]) -> str:
        """See `dspy.ChatAdapter`."""
        return self._kept.get(
            ("outputs", signature),
            lambda: str(super(KeepingJSONAdapter, self).user_message_output_requirements(signature)),
        )

    def format_user_message_content(
        self,
        signature: type[dspy.Signature],
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        """See `dspy.ChatAdapter`."""
        parts = [prefix]
        for name, field in signature.input_fields.items():
            if name in inputs:
                value = inputs[name]
                said = str(value) if type(value) in _SAID_AS_IT_IS else format_field_value(field, value)
                parts.append(f"[[ ## {name} ## ]]\n{said}")
        if main_request:
            parts.append(self.user_message_output_requirements(signature))
        parts.append(suffix)
        return "\n\n".join(parts).strip()

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """See `dspy.JSONAdapter`. Whole JSON of the right types is read at once; anything else is left to DSPy.

        But for what is longer than `LONGEST` or nested more than `DEEPEST` deep, which would take minutes to repair.
        """
        fields = _read(signature, completion)
        if fields is None:
            if len(completion) > LONGEST or _depth(completion) > DEEPEST:
                why = "The reply is too long to be repaired, or nested without end."
                raise AdapterParseError(type(self).__name__, signature, completion, why)
            # Unwrapped: this method has told the callbacks already.
            fields = dspy.JSONAdapter.parse.__wrapped__(self, signature, completion)
        return fields

    def _prepare_response_format(
        self, lm: dspy.BaseLM, lm_kwargs: dict[str, Any], signature: type[dspy.Signature]
    ) -> None:
        able = ("response_format" in lm.supported_params, lm.supports_response_schema)

        def make() -> dict[str, Any]:
            chosen: dict[str, Any] = {}
            super(KeepingJSONAdapter, self)._prepare_response_format(lm, chosen, signature)
            model: Any = chosen.get("response_format")
            if hasattr(model, "model_json_schema"):
                model.model_json_schema = _fresh(model.model_json_schema())
            return chosen

        lm_kwargs.update(self._kept.get(("format", able, *_identity(signature)), make))


@lru_cache(maxsize=1)
def json_adapter() -> KeepingJSONAdapter:
    """The one adapter that all programs of this process share."""
    return KeepingJSONAdapter()


def _identity(signature: Any) -> tuple[Hashable, ...]:
    """What a prompt says of a signature; classes can be changed after they were made."""
    fields = signature.model_fields
    said = str([(name, field.json_schema_extra) for name, field in fields.items()])
    return signature, signature.__doc__, said


def _fresh(schema: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """A function that gives the schema, a new one each time: LiteLLM writes into the one that it gets."""
    try:
        text = json.dumps(schema)
    except TypeError:
        return lambda *_, **__: deepcopy(schema)
    return lambda *_, **__: json.loads(text)


@lru_cache(maxsize=KEPT)
def _type_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _depth(text: str) -> int:
    """How many brackets are open at once, at most."""
    deepest = depth = 0
    for bracket in _BRACKETS.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _read(signature: type[dspy.Signature], completion: str) -> dict[str, Any] | None:
    """The output fields of a reply that is plain JSON with every field present and of its type; None otherwise."""
    try:
        found = json.loads(completion)
    except (ValueError, RecursionError):
        return None
    outputs = signature.output_fields
    if not isinstance(found, dict) or not outputs.keys() <= found.keys():
        return None
    fields: dict[str, Any] = {}
    for name, field in outputs.items():
        value, kind = found[name], field.annotation
        try:
            if kind is str or get_origin(kind) is Literal or isinstance(value, str):
                fields[name] = parse_value(value, kind)
            else:
                fields[name] = _type_adapter(kind).validate_python(value)
        except (ValueError, TypeError):
            return None
    return fields
