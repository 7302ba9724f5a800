"""An LM that answers at once with a fixed reply for each role, so that what is left to measure is our own code."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import dspy
from dspy import lm15

_VERDICTS = [{"option": o, "why": "as seen at 12 s", "support": "unclear"} for o in "ABCDE"]
_SPAN = {"start": 10, "end": 20}
_TIME = re.compile(r"(\d+\.\d+)s")
_REPLIES: dict[str, dict[str, Any]] = {
    "summary": {"summary": "someone works at a table, first with a saw, then with a brush"},
    "hypotheses": {
        "hypotheses": [
            {"option": o, "statement": "the person picks the tool up and uses it", "plausibility": 0.5} for o in "ABCDE"
        ]
    },
    "comparison": {
        "comparison": "they differ in the tool",
        "quality": "DISTINCT",
        "clue": "which tool is in the hand",
        "predictions": [{"option": o, "expectation": "a tool of its own"} for o in "ABCDE"],
    },
    "windows": {"windows": [_SPAN, {"start": 40, "end": 50}, {"start": 70, "end": 80}]},
    "rationale": {"rationale": "the tool is seen at 12 s", "verdicts": _VERDICTS, "status": "VERIFIED", "wanted": []},
    "verdicts": {
        "verdicts": _VERDICTS,
        "conflicts": [],
        "reasoning": "it was seen",
        "answer": "A",
        "confidence": 0.9,
    },
}


def reply_for(field: str, times: tuple[float, ...] = ()) -> str:
    """The reply of the role whose schema begins with this field; sights and captions are made for the times."""
    if field in _REPLIES:
        return json.dumps(_REPLIES[field])
    return json.dumps({field: [{"time": time, "seen": "a person at a table holds a tool"} for time in times]})


class InstantEngine:
    """A DSPy engine that tells the role by the first field of the schema that it is sent."""

    supports_response_schema = True
    supports_images = True
    supported_params = frozenset({"response_format", "temperature", "max_tokens"})

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.calls = 0

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer one request."""
        with self._lock:
            self.calls += 1
        schema: Any = request.config.response_format
        while "properties" not in schema:
            schema = schema.get("json_schema") or schema.get("schema")
        field = next(iter(schema["properties"]))
        times = () if field in _REPLIES else tuple(float(time) for time in _times(request))
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant(reply_for(field, times)),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=1000, output_tokens=100),
        )


def _times(request: lm15.Request) -> list[str]:
    """The times of the frames, out of the part of the prompt that names them."""
    text = next(part.text for part in request.messages[-1].parts if "[[ ## times ## ]]" in getattr(part, "text", ""))
    return _TIME.findall(text.partition("[[ ## times ## ]]")[2].partition("[[")[0])


def instant_lm() -> tuple[dspy.LM, InstantEngine]:
    """An uncached LM on an `InstantEngine`, and the engine."""
    engine = InstantEngine()
    return dspy.LM("instant/model", engine=engine, cache=False), engine
