"""What two programs are told apart by: the fields that each agent has, and a hash over what each one is told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import dspy
from pydantic import BaseModel


def signature_hashes(program: dspy.Module) -> dict[str, str]:
    """A hash for each agent over the names, order, direction and types of its signature's fields.

    Instructions and descriptions do not count: a compiled program fits wherever these hashes are the same.
    """
    return {
        name: digest(list(field_kinds(predictor.signature).items())) for name, predictor in program.named_predictors()
    }


def field_kinds(signature: type[dspy.Signature]) -> dict[str, str]:
    """Direction and type of each field of a signature, by name and in its order: `input str`, `output list[str]`.

    The fields of a shape are part of its type: `output list[ExpectedSight(option: str, expectation: str)]`. The words
    are the same in every version of Python, and wherever a shape is defined.
    """
    return {
        name: f"{info.json_schema_extra['__dspy_field_type']} {_kind(info.annotation)}"
        for name, info in signature.fields.items()
    }


def program_hash(program: dspy.Module) -> str:
    """A hash over everything that the agents are told: instructions, field descriptions and demonstrations.

    The models that they use do not count.
    """
    return digest(
        {
            name: {key: value for key, value in predictor.dump_state().items() if key in ("signature", "demos")}
            for name, predictor in program.named_predictors()
        }
    )


def content_sha256(value: Mapping[str, Any]) -> str:
    """SHA-256 over a JSON object, whatever the order of its keys and the way in which it is written."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def digest(value: Any) -> str:
    """The first digits of a SHA-256 over a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _kind(annotation: Any) -> str:
    origin, inside = get_origin(annotation), get_args(annotation)
    if annotation is None or annotation is NoneType:
        return "None"
    if origin is Annotated:
        return _kind(inside[0])
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inside))}]"
    if origin in (Union, UnionType):
        return " | ".join(map(_kind, inside))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_kind, inside))}]"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and not issubclass(annotation, dspy.Type):
        fields = (f"{name}: {_kind(info.annotation)}" for name, info in annotation.model_fields.items())
        return f"{annotation.__name__}({', '.join(fields)})"
    return getattr(annotation, "__name__", str(annotation))
