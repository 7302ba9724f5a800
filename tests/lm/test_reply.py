"""How a reply ended, as each of DSPy's ways to a model tells it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dspy import lm15
from dspy.clients.call_result import CallResult

from videohv.lm.reply import Finish, Reply, read_reply


def native(finish: str = "stop", *parts: Any) -> CallResult:
    response = lm15.Response(
        id=None,
        model="m",
        message=lm15.Message(role="assistant", parts=parts or (lm15.TextPart(text="said"),)),
        finish_reason=finish,
        usage=lm15.Usage(input_tokens=7, output_tokens=3),
    )
    return CallResult.native(response)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (native(), Reply("said", Finish.WHOLE, "", 7, 3)),
        (native("length"), Reply("said", Finish.CUT, "", 7, 3)),
        (native("length", lm15.TextPart(text="")), Reply("", Finish.CUT, "", 7, 3)),
        (native("content_filter"), Reply("said", Finish.REFUSED, "", 7, 3)),
        (native("stop", lm15.RefusalPart(text="I won't.")), Reply("", Finish.REFUSED, "I won't.", 7, 3)),
        (native("stop", lm15.TextPart(text=" \n")), Reply(" \n", Finish.EMPTY, "", 7, 3)),
        (native("stop", lm15.ThinkingPart(text="hm")), Reply("", Finish.EMPTY, "", 7, 3)),
    ],
)
def test_dspys_own_and_custom_engines(result: CallResult, expected: Reply) -> None:
    assert read_reply(result) == expected
    assert read_reply(CallResult.load(result.dump())) == expected, "and the same out of the response cache"


class Bag(SimpleNamespace):
    """As LiteLLM's responses are: attributes, and a usage that can be made a dict."""


def foreign(finish: str, content: str | None = "said", refusal: str | None = None, **other: Any) -> CallResult:
    message = Bag(content=content, refusal=refusal, **other)
    raw = Bag(
        choices=[Bag(finish_reason=finish, message=message)],
        usage={"prompt_tokens": 7, "completion_tokens": 3},
        model="m",
    )
    return CallResult(outputs=[content], usage={}, raw=raw)


@pytest.mark.parametrize(
    ("result", "finish"),
    [
        (foreign("stop"), Finish.WHOLE),
        (foreign("length"), Finish.CUT),
        (foreign("max_tokens"), Finish.CUT),
        (foreign("content_filter", None), Finish.REFUSED),
        (foreign("stop", None, "I won't."), Finish.REFUSED),
        (foreign("refusal", "half"), Finish.REFUSED),
        (foreign("SAFETY", None), Finish.REFUSED),
        (foreign("stop", None), Finish.EMPTY),
        (foreign("stop", ""), Finish.EMPTY),
    ],
)
def test_what_comes_through_litellm(result: CallResult, finish: Finish) -> None:
    reply = read_reply(result)
    assert (reply.finish, reply.prompt_tokens, reply.completion_tokens) == (finish, 7, 3)


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ({"status": "completed", "output": [{"content": [{"type": "output_text", "text": "said"}]}]}, Finish.WHOLE),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, Finish.CUT),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Finish.REFUSED),
        ({"output": [{"content": [{"type": "refusal", "refusal": "I won't."}]}]}, Finish.REFUSED),
    ],
)
def test_the_responses_api(raw: dict[str, Any], finish: Finish) -> None:
    assert read_reply(CallResult(outputs=[{"text": "said"}], raw=raw)).finish is finish


def test_a_tool_call_instead_of_text_is_something() -> None:
    result = CallResult(outputs=[{"text": None, "tool_calls": [{"id": "1"}]}], raw={"choices": []})
    assert read_reply(result).finish is Finish.WHOLE


def test_no_choice_at_all_is_empty() -> None:
    assert read_reply(CallResult(outputs=[], raw={"choices": []})).finish is Finish.EMPTY
