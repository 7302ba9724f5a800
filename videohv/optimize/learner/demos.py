"""The rules for demonstrations: whole successful traces only, text only, plain data, and each says where it is from."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from typing import Any

import dspy
from pydantic import BaseModel

from videohv.compiled.agents import SOURCE
from videohv.compiled.values import plain_json
from videohv.errors import InputError, ProgramError
from videohv.lm.about import context_tokens
from videohv.lm.budget import CHARS_A_TOKEN
from videohv.lm.redact import without_keys
from videohv.modules.program import VideoProgram

_SHARE_OF_CONTEXT = 0.5
_USUAL_CONTEXT = 32_000


def source_of(demo: Mapping[str, Any]) -> str | None:
    """The id of the question that a demonstration was made from; None if it does not say."""
    said = demo.get(SOURCE)
    return said if isinstance(said, str) else None


def takes_images(signature: Any) -> bool:
    """Whether any field of a signature is an image, a list of images, or a shape that holds one."""
    return any(_holds_image(field.annotation) for field in signature.fields.values())


def text_roles(program: VideoProgram, roles: Iterable[str]) -> tuple[str, ...]:
    """Those of the roles that demonstrations can be given to: no image is ever stored in one.

    Raises:
        InputError: If there is none.
    """
    chosen = tuple(roles)
    agents = dict(program.named_predictors())
    made = tuple(name for name in agents if name in chosen and not takes_images(agents[name].signature))
    if not made:
        raise InputError(
            f"no demonstrations can be given to {', '.join(chosen) or 'no role'}: they are shown images, and images "
            "are never stored in demonstrations; name a role that reads text, or use an optimizer of instructions"
        )
    return made


def plain_demo(values: Mapping[str, Any], question_id: str) -> dict[str, Any] | None:
    """Inputs and outputs of a call in the form in which an artifact keeps them; None if something has no place there.

    Args:
        values: By field.
        question_id: Where it is from; kept under `SOURCE`, which is no field, so that no prompt shows it.
    """
    try:
        made = {name: plain_json(_unshaped(value), name, clean=without_keys) for name, value in values.items()}
    except ProgramError:
        return None
    return {**made, SOURCE: question_id}


def longest_demo(count: int) -> int:
    """Characters that each of so many demonstrations may have, if half of the model's context is for them.

    Models of roles are not told apart: the smallest context of those that are known counts.
    """
    lms = [dspy.settings.lm, *(dspy.settings.get("videohv_role_lms") or {}).values()]
    known = [tokens for lm in lms if lm is not None and (tokens := context_tokens(lm)) is not None]
    return int(min(known, default=_USUAL_CONTEXT) * _SHARE_OF_CONTEXT * CHARS_A_TOKEN / max(1, count))


def _unshaped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_unshaped(item) for item in value]
    return value


def _holds_image(kind: Any) -> bool:
    if isinstance(kind, type) and issubclass(kind, dspy.Image):
        return True
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return any(_holds_image(field.annotation) for field in kind.model_fields.values())
    return any(_holds_image(part) for part in typing.get_args(kind))
