"""Hashes by which two programs are told apart: of the fields that each agent has, and of what each one is told."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import dspy


def signature_hashes(program: dspy.Module) -> dict[str, str]:
    """A hash for each agent over the names, order, direction and types of its signature's fields.

    Instructions and descriptions do not count: a compiled program fits wherever these hashes are the same.
    """
    return {
        name: _digest([[field, *_kind(info)] for field, info in predictor.signature.fields.items()])
        for name, predictor in program.named_predictors()
    }


def program_hash(program: dspy.Module) -> str:
    """A hash over everything that the agents are told: instructions, field descriptions and demonstrations.

    The models that they use do not count.
    """
    return _digest(
        {
            name: {key: value for key, value in predictor.dump_state().items() if key in ("signature", "demos")}
            for name, predictor in program.named_predictors()
        }
    )


def _kind(info: Any) -> list[str]:
    return [str(info.json_schema_extra["__dspy_field_type"]), str(info.annotation)]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
