"""An in-process LM for tests: answers at once, scripted per role, and remembers everything that it was sent."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import dspy
from dspy import lm15

ROLES: Mapping[str, frozenset[str]] = {
    "summary": frozenset({"summary"}),
    "options": frozenset({"options"}),
    "thinker": frozenset({"hypotheses"}),
    "judge": frozenset({"comparison", "quality", "clue", "predictions"}),
    "locate": frozenset({"windows"}),
    "look": frozenset({"sights"}),
    "check": frozenset({"rationale", "verdicts", "status", "wanted"}),
    "answer": frozenset({"verdicts", "conflicts", "reasoning", "answer", "confidence"}),
    "captioner": frozenset({"captions"}),
    "direct.answer": frozenset({"reasoning", "answer", "confidence"}),
    "captions.answer": frozenset({"reasoning", "answer", "confidence"}),
    "retrieval.answer": frozenset({"reasoning", "answer", "certainty"}),
    "retrieval.seek": frozenset({"missing", "windows"}),
}
"""The output fields by which the role of a request is told."""

_INPUT = {"direct.answer": "frames", "captions.answer": "captions"}
"""An input field that tells roles with the same output fields apart."""

_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]\n(.*?)(?=\n\n\[\[ ## |\n\nRespond with a JSON object|\Z)", re.DOTALL)
_ORDER = re.compile(r"Respond with a JSON object in the following order of fields: (.*)", re.DOTALL)


@dataclass(frozen=True)
class Seen:
    """One request as the engine saw it; `after` is what follows the prompt when it is asked for again."""

    role: str
    inputs: dict[str, str]
    images: int
    temperature: float | None
    schema: bool
    system: str
    after: tuple[str, ...] = ()
    max_tokens: int | None = None


Reply: TypeAlias = dict[str, Any] | str | Exception | lm15.Response
Script: TypeAlias = Reply | Iterable[Reply] | Callable[[Seen], Reply]


@dataclass
class FakeEngine:
    """A DSPy engine. `scripts` maps a role to a reply, to a list of replies (the last one stays), or to a function.

    A dict is sent as JSON, a text or a whole response as it is, an exception is raised. Roles without a script get a
    plausible default reply.
    """

    scripts: dict[str, Script] = field(default_factory=dict)
    supports_images: bool | None = True
    supports_response_schema: bool = True
    supported_params: frozenset[str] = frozenset({"response_format", "temperature", "max_tokens"})
    context_tokens: int | None = None
    requests: list[Seen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._queues = {role: list(script) for role, script in self.scripts.items() if isinstance(script, list | tuple)}

    def __deepcopy__(self, memo: object) -> FakeEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer one request."""
        seen = _read(request)
        with self._lock:
            self.requests.append(seen)
            reply = self._reply(seen)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, lm15.Response):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        size = sum(len(value) for value in seen.inputs.values())
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant(text),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=max(1, size // 4), output_tokens=max(1, len(text) // 4)),
        )

    def _reply(self, seen: Seen) -> Reply:
        if seen.role in self._queues:
            queue: list[Reply] = self._queues[seen.role]
            return queue.pop(0) if len(queue) > 1 else queue[0]
        script = self.scripts.get(seen.role)
        if script is None:
            return default_reply(seen)
        reply: Any = script(seen) if callable(script) else script
        return cast(Reply, reply)

    def of(self, role: str) -> list[Seen]:
        """The requests of one role, in the order of arrival."""
        return [seen for seen in self.requests if seen.role == role]

    @property
    def roles(self) -> list[str]:
        """The roles in the order in which they were asked."""
        return [seen.role for seen in self.requests]


def fake_lm(scripts: dict[str, Script] | None = None, **engine: Any) -> tuple[dspy.LM, FakeEngine]:
    """An uncached LM on a `FakeEngine`, and the engine."""
    made = FakeEngine(scripts or {}, **engine)
    return dspy.LM("fake/model", engine=made, cache=False, num_retries=0), made


def ended(text: str, finish: str = "length", refusal: str | None = None, tokens: int = 1_000) -> lm15.Response:
    """A reply that ended in its own way: cut off at so many tokens, filtered, or a refusal."""
    parts = [lm15.RefusalPart(text=refusal)] if refusal is not None else [lm15.TextPart(text=text)]
    return lm15.Response(
        id=None,
        model="fake/model",
        message=lm15.Message(role="assistant", parts=tuple(parts)),
        finish_reason=finish,
        usage=lm15.Usage(input_tokens=100, output_tokens=tokens),
    )


def letters(seen: Seen, name: str = "options") -> list[str]:
    """The letters of the options or hypotheses that a request shows."""
    return re.findall(r"^([A-Z])\. ", seen.inputs.get(name, ""), re.MULTILINE)


def default_reply(seen: Seen) -> dict[str, Any]:
    """A well-formed reply for a role: the first option is supported, by what the first window shows."""
    if seen.role == "summary":
        return {"summary": "someone does something"}
    if seen.role == "options":
        return {"options": ["a ball", "a cube"]}
    if seen.role == "thinker":
        return {
            "hypotheses": [{"option": o, "statement": f"{o} is visible", "plausibility": 0.5} for o in letters(seen)]
        }
    if seen.role == "judge":
        shown = letters(seen, "hypotheses")
        return {
            "comparison": "they differ in what is visible",
            "quality": "DISTINCT",
            "clue": "which of them is visible",
            "predictions": [{"option": o, "expectation": f"{o} shows"} for o in shown],
        }
    if seen.role == "locate":
        return {"windows": [{"start": 1, "end": 4}]}
    if seen.role in ("look", "captioner"):
        times = [float(t) for t in re.findall(r"([\d.]+)s", seen.inputs["times"])]
        sights = [{"time": t, "seen": f"the scene at {t:g}"} for t in times]
        return {"sights": sights} if seen.role == "look" else {"captions": sights}
    if seen.role == "check":
        shown = letters(seen, "hypotheses")
        return {
            "rationale": "at 1 s the first is visible",
            "verdicts": [
                {"option": o, "why": "seen", "support": "supported" if o == shown[0] else "refuted"} for o in shown
            ],
            "status": "VERIFIED",
            "wanted": [],
        }
    if seen.role == "answer":
        return answer_reply("A", letters(seen))
    if seen.role in ("captions.answer", "direct.answer"):
        return {"reasoning": "it was seen", "answer": "A", "confidence": 0.8}
    if seen.role == "retrieval.answer":
        return guess_reply("A", 3)
    if seen.role == "retrieval.seek":
        return {"missing": "the hands", "windows": [{"start": 1, "end": 4}]}
    raise AssertionError(f"no role is known for a request with the inputs {sorted(seen.inputs)}")


def answer_reply(letter: str, shown: Iterable[str] = ("A", "B"), **changes: Any) -> dict[str, Any]:
    """A well-formed reply of the Answer agent."""
    return {
        "verdicts": [
            {"option": o, "why": "as seen", "support": "supported" if o == letter else "unclear"} for o in shown
        ],
        "conflicts": [],
        "reasoning": "it was seen",
        "answer": letter,
        "confidence": 0.8,
        **changes,
    }


def check_reply(status: str, wanted: Iterable[tuple[float, float]] = (), **changes: Any) -> dict[str, Any]:
    """A well-formed reply of the Verifier's check."""
    return {
        "rationale": f"it is {status.lower()} by what was seen",
        "verdicts": [],
        "status": status,
        "wanted": [{"start": start, "end": end} for start, end in wanted],
        **changes,
    }


def guess_reply(letter: str, certainty: object) -> dict[str, Any]:
    """A well-formed reply of the retrieving rival's answer."""
    return {"reasoning": "as far as it was seen", "answer": letter, "certainty": certainty}


def _read(request: lm15.Request) -> Seen:
    said = ["".join(_text(part) for part in message.parts) for message in request.messages]
    prompt = max(number for number, text in enumerate(said) if number == 0 or _ORDER.search(text))
    parts = request.messages[prompt].parts
    system = request.system or ""
    if not isinstance(system, str):
        system = "".join(_text(part) for part in system)
    seen = seen_in(
        said[prompt],
        images=sum(type(part).__name__ == "ImagePart" for part in parts),
        temperature=request.config.temperature,
        schema=bool(request.config.response_format),
        system=system,
    )
    return replace(seen, after=tuple(said[prompt + 1 :]), max_tokens=request.config.max_tokens)


def _text(part: object) -> str:
    return getattr(part, "text", None) or ""


def seen_in(text: str, images: int, temperature: float | None, schema: bool, system: str) -> Seen:
    """What a user message of DSPy's JSON adapter asks of which role, and with which inputs."""
    order = _ORDER.search(text)
    outputs = frozenset(re.findall(r"`(\w+)`", order.group(1))) if order else frozenset()
    inputs = {name: value.strip() for name, value in _FIELD.findall(text)}
    return Seen(
        role=next(
            (name for name, fields in ROLES.items() if fields == outputs and _INPUT.get(name, "") in ("", *inputs)),
            "unknown",
        ),
        inputs=inputs,
        images=images,
        temperature=temperature,
        schema=schema,
        system=system,
    )
