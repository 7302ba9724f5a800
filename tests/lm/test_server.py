"""The OpenAI-compatible backend over real HTTP, and with it the fake server that other tests stand on."""

from __future__ import annotations

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import dspy
import pydantic
import pytest
from dspy.utils.exceptions import AdapterParseError

from tests.support.server import Failure, FakeServer, Fault, Request
from videohv.lm import make_lm

PIXEL = "data:image/png;base64,iVBORw0KGgo="


class Sight(pydantic.BaseModel):
    time: float = pydantic.Field(ge=0)
    seen: str


class Look(dspy.Signature):
    """Say what is seen."""

    frames: list[dspy.Image] = dspy.InputField()
    question: str = dspy.InputField()
    sights: list[Sight] = dspy.OutputField()
    status: Literal["CLEAR", "UNCLEAR"] = dspy.OutputField()


def look(lm: dspy.LM, frames: int = 2) -> Any:
    images = [dspy.Image(PIXEL)] * frames
    with dspy.context(adapter=dspy.JSONAdapter(), disable_history=True):
        return dspy.Predict(Look)(frames=images, question="Who?", lm=lm)


def seen(request: Request) -> str:
    return json.dumps({"sights": [{"time": 1, "seen": f"{request.images} frames"}], "status": "CLEAR"})


def test_schema_images_and_role_arrive() -> None:
    with FakeServer(seen) as server:
        assert look(make_lm(server.spec("qwen-vl", max_tokens=77), seed=5)).sights[0].seen == "2 frames"
        (request,) = server.requests
    assert request.outputs == {"sights", "status"}
    assert request.images == 2
    assert request.schema is not None
    assert request.schema["properties"]["status"]["enum"] == ["CLEAR", "UNCLEAR"]
    assert request.model == "qwen-vl"
    assert (request.body["temperature"], request.body["max_tokens"], request.body["seed"]) == (0.0, 77, 5)
    assert request.body["messages"][0]["role"] == "system"
    assert "Say what is seen." in request.text


def test_the_key_comes_from_the_named_variable_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "geheim")
    monkeypatch.setenv("OPENAI_API_KEY", "not for this server")
    with FakeServer(lambda _: "hello") as server:
        make_lm(server.spec(key_env="LAB_KEY"))("with a key")
        make_lm(server.spec())("without one")
        first, second = server.requests
    assert first.authorization == "Bearer geheim"
    assert "not for this server" not in second.authorization


def test_what_is_wrong_with_a_server_surfaces_as_dspys_own_errors() -> None:
    expected = {
        Failure.RATE_LIMIT: dspy.LMRateLimitError,
        Failure.SERVER_ERROR: dspy.LMServerError,
        Failure.TOO_LONG: dspy.ContextWindowExceededError,
        Failure.DROP: dspy.LMTransportError,
        Failure.HANG: dspy.LMTransportError,
        Failure.GARBAGE: dspy.LMError,
        Failure.TRUNCATED: dspy.LMError,
        Failure.EMPTY: AdapterParseError,
        Failure.REFUSAL: AdapterParseError,
        Failure.FILTERED: AdapterParseError,
        Failure.CUT: AdapterParseError,
    }
    assert set(expected) == set(Failure)
    for kind, error in expected.items():
        with FakeServer(lambda _, kind=kind: Fault(kind, seconds=3.0)) as server:  # type: ignore[misc]
            timeout = {"timeout": 0.2} if kind is Failure.HANG else {}
            with pytest.raises(error) as raised:
                look(make_lm(server.spec(**timeout)), frames=0)
            assert len(server.requests) == 1, kind
        if kind is Failure.RATE_LIMIT:
            assert raised.value.retry_after == 3.0


def test_dspy_tries_again_after_what_may_pass_and_waits_as_told() -> None:
    replies = iter([Fault(Failure.RATE_LIMIT, seconds=0.05), Fault(Failure.RATE_LIMIT, seconds=0.0), "at last"])
    with FakeServer(lambda _: next(replies)) as server:
        assert make_lm(server.spec(retries=2))("again") == ["at last"]
        times = [request.time for request in server.requests]
    assert len(times) == 3
    assert times[1] - times[0] >= 0.05


def test_many_at_once() -> None:
    with FakeServer(lambda request: request.text) as server, ThreadPoolExecutor(16) as pool:
        lm = make_lm(server.spec())
        assert list(pool.map(lambda n: lm(f"number {n}")[0], range(64))) == [f"number {n}" for n in range(64)]
        assert len(server.requests) == 64


def test_the_models_are_listed() -> None:
    with (
        FakeServer(lambda _: "", models=("a", "b")) as server,
        urllib.request.urlopen(f"{server.address}/models") as answer,
    ):
        assert [model["id"] for model in json.load(answer)["data"]] == ["a", "b"]
