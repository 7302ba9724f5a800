"""An LM that answers at once with a fixed reply for each role, so that what is left to measure is our own code."""

from __future__ import annotations

import json
import threading
from typing import Any

import dspy
from dspy import lm15

_VERDICTS = [{"option": o, "why": "as seen at 12 s", "support": "unclear"} for o in "ABCDE"]
_SPAN = {"start": 10, "end": 20}
_SIGHTS = [{"time": float(t), "seen": "a person at a table holds a tool"} for t in range(5)]
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
    "sights": {"sights": _SIGHTS},
    "rationale": {"rationale": "the tool is seen at 12 s", "verdicts": _VERDICTS, "status": "VERIFIED", "wanted": []},
    "verdicts": {
        "verdicts": _VERDICTS,
        "conflicts": [],
        "reasoning": "it was seen",
        "answer": "A",
        "confidence": 0.9,
    },
    "captions": {"captions": _SIGHTS},
}


class InstantEngine:
    """A DSPy engine that tells the role by the first field of the schema that it is sent."""

    supports_response_schema = True
    supports_images = True
    supported_params = frozenset({"response_format", "temperature", "max_tokens"})

    def __init__(self) -> None:
        self._replies = {field: json.dumps(reply) for field, reply in _REPLIES.items()}
        self._lock = threading.Lock()
        self.calls = 0

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer one request."""
        with self._lock:
            self.calls += 1
        schema: Any = request.config.response_format
        while "properties" not in schema:
            schema = schema.get("json_schema") or schema.get("schema")
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant(self._replies[next(iter(schema["properties"]))]),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=1000, output_tokens=100),
        )


def instant_lm() -> tuple[dspy.LM, InstantEngine]:
    """An uncached LM on an `InstantEngine`, and the engine."""
    engine = InstantEngine()
    return dspy.LM("instant/model", engine=engine, cache=False), engine
