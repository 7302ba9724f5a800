"""What came back from a model, told the same for every way that DSPy takes to one: the text, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from dspy import lm15

_CUT = {"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"}
_REFUSED = {"content_filter", "refusal", "safety", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}


class Finish(StrEnum):
    """How a reply ended."""

    WHOLE = "whole"
    CUT = "cut"
    REFUSED = "refused"
    EMPTY = "empty"


class Reply(NamedTuple):
    """Args:
    text: What the model wrote; empty if nothing.
    finish: How it ended.
    why: What a refusal says.
    prompt_tokens: As the server counted them; 0 if it did not.
    completion_tokens: The same.
    """

    text: str = ""
    finish: Finish = Finish.WHOLE
    why: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


def read_reply(result: Any) -> Reply:
    """The reply in a result of DSPy's execution: of its own engines, a custom engine, or LiteLLM.

    Args:
        result: A `CallResult`, fresh or out of the response cache.
    """
    text, called = written(result.outputs)
    if result.responses:
        response = result.responses[-1]
        reasons = [str(response.finish_reason)]
        refusals = [part.text for part in response.message.parts if isinstance(part, lm15.RefusalPart)]
        prompt, completion = response.usage.input_tokens, response.usage.output_tokens
    else:
        reasons, refusals = _foreign(result.raw)
        usage = _get(result.raw, "usage") or {}
        prompt, completion = (_get(usage, f"{kind}_tokens") for kind in ("prompt", "completion"))
    why = next((refusal for refusal in refusals if refusal), "")
    if why or any(reason in _REFUSED for reason in reasons):
        finish = Finish.REFUSED
    elif any(reason in _CUT for reason in reasons):
        finish = Finish.CUT
    else:
        finish = Finish.WHOLE if text.strip() or called else Finish.EMPTY
    return Reply(text, finish, why, int(prompt or 0), int(completion or 0))


def written(outputs: Any) -> tuple[str, bool]:
    """The text of the last of DSPy's outputs, and whether a tool was called instead of writing."""
    last = outputs[-1] if outputs else None
    if isinstance(last, Mapping):
        return str(last.get("text") or ""), bool(last.get("tool_calls"))
    return str(last or ""), False


def _foreign(raw: Any) -> tuple[list[str], list[str]]:
    """Reasons for the end and refusals in a response of LiteLLM's or of the same form."""
    choices = _get(raw, "choices") or []
    reasons = [str(_get(choice, "finish_reason") or "") for choice in choices]
    refusals = [str(_get(_get(choice, "message"), "refusal") or "") for choice in choices]
    # The Responses API says it in other words.
    reasons.append(str(_get(_get(raw, "incomplete_details"), "reason") or ""))
    for item in _get(raw, "output") or []:
        for part in _get(item, "content") or []:
            refusals.append(str(_get(part, "refusal") or ""))
    return reasons, refusals


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
