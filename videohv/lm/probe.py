"""What a model can do, found out by asking it: is it there, does it keep to a schema, does it see a picture.

At most three small calls, never out of the response cache: one that only a held-to schema can answer rightly, one in
the way the program asks if that failed, and one with a picture.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import dspy
from dspy import lm15

from videohv.errors import ModelError, VideoHVError
from videohv.lm.about import context_tokens, describe, lm_name, published, sees_images
from videohv.lm.catalogue import entry
from videohv.lm.door import door_of, find_served, models_served, not_served
from videohv.lm.embedded import EmbeddedEngine
from videohv.lm.redact import without_keys
from videohv.lm.team import Unavailable
from videohv.types import Value

PATIENCE = 120.0
"""Seconds to wait for an answer: a local server may have to load the model first."""

HONOURED = "schema honoured"
IGNORED = "schema sent but not kept to; readable all the same"
PROMPTED = "no schema sent, DSPy does not know that it takes one; readable all the same"
FAILED = "failed"

_SCHEMA = {
    "type": "object",
    "properties": {"shape": {"type": "string", "enum": ["circle", "square"]}, "count": {"type": "integer"}},
    "required": ["shape", "count"],
    "additionalProperties": False,
}
_LEFT, _RIGHT = ("yellow", (250, 220, 0)), ("blue", (20, 40, 220))


class Shape(dspy.Signature):
    """Answer from the text."""

    text: str = dspy.InputField()
    shape: Literal["circle", "square"] = dspy.OutputField()
    count: int = dspy.OutputField()


class Halves(dspy.Signature):
    """Say which colour each half of the picture has."""

    frames: list[dspy.Image] = dspy.InputField()
    left: Literal["red", "green", "blue", "yellow", "black", "white"] = dspy.OutputField()
    right: Literal["red", "green", "blue", "yellow", "black", "white"] = dspy.OutputField()


class Probe(Value):
    """What was found out about one model. Seconds are those of the call; None where nothing was asked or is known.

    Args:
        name: The model.
        lm: The model and where it runs.
        server: What its server says: that it is served, that it is not, or why that cannot be told. Empty without one.
        structured: Whether its replies come in the form that was asked for, in words; empty if it was not asked.
        structured_seconds: How long that took.
        images: True if it told the two halves of a picture apart, False if not, None if it was not shown one.
        images_seconds: How long that took.
        context_tokens: Prompt and reply together.
        prices: US dollars for a million tokens of prompt and of reply, as listed with DSPy.
        cached: Whether DSPy keeps its replies and gives them again.
        problems: Why a run would not work with it, one line each, without keys.
        hints: What its spec could say for it to be used better.
    """

    name: str
    lm: str
    server: str = ""
    structured: str = ""
    structured_seconds: float | None = None
    images: bool | None = None
    images_seconds: float | None = None
    context_tokens: int | None = None
    prices: tuple[float, float] | None = None
    cached: bool = False
    problems: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


def known_of(lm: dspy.BaseLM) -> Probe:
    """What is known of a model without asking anybody, and whether anything is missing here that it needs."""
    listed = published(str(lm.model))
    rates = listed.get("input_cost_per_token"), listed.get("output_cost_per_token")
    prices = (rates[0] * 1e6, rates[1] * 1e6) if rates[0] is not None and rates[1] is not None else None
    return Probe(
        name=lm_name(lm),
        lm=describe(lm),
        context_tokens=context_tokens(lm),
        prices=prices,
        cached=bool(lm.cache),
        problems=_obstacles(lm),
    )


def probe(lm: dspy.BaseLM, *, show_picture: bool = False) -> Probe:
    """Ask a model.

    Args:
        lm: Any.
        show_picture: Whether it has to see. If not, it is shown a picture all the same unless it is known to see none,
            and it is no problem if it cannot tell what is on it.
    """
    found = known_of(lm)
    if found.problems:
        return found
    there = _server(lm)
    hints = []
    if there.context is not None and found.context_tokens is None:
        hints.append(f"context={there.context} in its spec lets prompts be made to fit")
    found = found.model_copy(update={"server": there.said, "context_tokens": found.context_tokens or there.context})
    if there.missing:
        return found.model_copy(update={"problems": (there.said,)})
    asked = _fresh(lm)
    with dspy.context(adapter=dspy.JSONAdapter(), disable_history=True, warn_on_type_mismatch=False, trace=[]):
        structured = _structured(asked)
        found = found.model_copy(update={"structured": structured.result, "structured_seconds": structured.seconds})
        if structured.problem:
            return found.model_copy(update={"problems": (structured.problem,)})
        if not show_picture and sees_images(lm) is False:
            return found.model_copy(update={"hints": tuple(hints)})
        seen = _timed(lambda: _sees(asked), lm)
    if seen.result and not show_picture and sees_images(lm) is None:
        hints.append("it sees images: images=yes in its spec, or --vision-lm, lets it look at frames")
    wrong = seen.problem or "it could not tell what a picture shows"
    return found.model_copy(
        update={
            "images": bool(seen.result),
            "images_seconds": seen.seconds,
            "problems": (wrong,) if show_picture and not seen.result else (),
            "hints": tuple(hints),
        }
    )


def _obstacles(lm: dspy.BaseLM) -> tuple[str, ...]:
    engine = getattr(lm, "engine", None)
    if isinstance(engine, Unavailable):
        return (str(engine.why),)
    if isinstance(engine, EmbeddedEngine) and not engine.path.is_file():
        wanted = entry(str(lm.model).partition("/")[2])
        return (f"not in the cache: fetch it with  videohv models pull {wanted.name}  ({wanted.size / 1e9:.2f} GB)",)
    return ()


class _There(NamedTuple):
    said: str = ""
    missing: bool = False
    context: int | None = None


class _Timed(NamedTuple):
    result: Any
    seconds: float
    problem: str = ""


def _server(lm: dspy.BaseLM) -> _There:
    door = door_of(lm)
    if door is None:
        return _There()
    try:
        served = models_served(door, timeout=10.0)
    except ModelError as error:
        return _There(f"no list of models ({error})")
    except VideoHVError as error:
        return _There(str(error), missing=True)
    one = find_served(door, served)
    if one is None:
        return _There(not_served(door, served), missing=door.complete)
    return _There(f"serves {one.name}", context=one.context_tokens)


def _fresh(lm: dspy.BaseLM) -> dspy.BaseLM:
    """The same model, asked once and never out of the cache."""
    own = isinstance(getattr(lm, "_engine_spec", None), str)
    timeout = {"timeout": min(PATIENCE, lm.kwargs.get("timeout") or PATIENCE)} if own else {}
    return lm.copy(cache=False, num_retries=0, **timeout)


def _structured(lm: dspy.BaseLM) -> _Timed:
    if not lm.supports_response_schema:
        asked, result = _timed(lambda: _answers(lm), lm), PROMPTED
    else:
        held = _timed(lambda: _holds_to_schema(lm), lm)
        if held.result or held.problem:
            return held._replace(result=HONOURED if held.result else FAILED)
        asked, result = _timed(lambda: _answers(lm), lm), IGNORED
    return asked._replace(result=result if asked.result else FAILED)


def _holds_to_schema(lm: dspy.BaseLM) -> bool:
    """Whether a model that is told to say something else keeps to the schema all the same."""
    settings = {name: lm.kwargs[name] for name in ("temperature", "max_tokens") if lm.kwargs.get(name) is not None}
    request = lm15.Request(
        model=lm.model,
        messages=(lm15.Message.user("Reply with the single word banana and nothing else."),),
        config=lm15.Config(
            response_format={"type": "json_schema", "name": "Shape", "schema": _SCHEMA, "strict": True}, **settings
        ),
    )
    said = _value(lm(request).message.parts)
    return (
        isinstance(said, dict)
        and said.keys() == {"shape", "count"}
        and said["shape"] in ("circle", "square")
        and isinstance(said["count"], int)
    )


def _value(parts: Any) -> Any:
    """What a reply holds as JSON, or None."""
    for part in parts:
        if isinstance(part, lm15.DataPart):
            return part.value
    try:
        return json.loads("".join(part.text for part in parts if isinstance(part, lm15.TextPart)))
    except ValueError:
        return None


def _answers(lm: dspy.BaseLM) -> bool:
    said = dspy.Predict(Shape)(text="There are three squares on the table.", lm=lm)
    return said.shape in ("circle", "square") and isinstance(said.count, int)


def _sees(lm: dspy.BaseLM) -> bool:
    said = dspy.Predict(Halves)(frames=[dspy.Image(picture())], lm=lm)
    return (said.left, said.right) == (_LEFT[0], _RIGHT[0])


def picture() -> str:
    """A JPEG of 224 by 224 pixels as a data URI: its left half yellow, its right half blue."""
    import numpy as np
    import simplejpeg

    pixels = np.empty((224, 224, 3), np.uint8)
    pixels[:, :112], pixels[:, 112:] = _LEFT[1], _RIGHT[1]
    return "data:image/jpeg;base64," + base64.b64encode(simplejpeg.encode_jpeg(pixels)).decode("ascii")


def _timed(call: Callable[[], bool], lm: dspy.BaseLM) -> _Timed:
    began = time.perf_counter()
    try:
        result, problem = call(), ""
    # Whatever a model or its server does wrong is a finding here.
    except Exception as error:
        lines = str(getattr(error, "message", "") or error).strip().splitlines()
        why = without_keys(lines[0], lm)[:200] if lines else ""
        result, problem = False, f"{type(error).__name__}: {why}"
    return _Timed(result, time.perf_counter() - began, problem)
