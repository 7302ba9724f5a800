"""The way to a declared server is found once, leads where DSPy's own would, and is closed with the LM."""

from __future__ import annotations

from collections.abc import Iterator

import dspy
import httpx
import pytest

from tests.support.server import FakeServer
from videohv.lm import direct as module
from videohv.lm import make_lm
from videohv.lm.call import Caller
from videohv.lm.direct import direct
from videohv.lm.usage import Ledger


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(lambda request: '{"answer": "x"}') as made:
        yield made


def lm_of(server: FakeServer) -> dspy.LM:
    return make_lm(server.spec()).copy(cache=False)


def test_it_is_found_once_for_all_copies(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    real = module.select_backend
    monkeypatch.setattr(module, "select_backend", lambda lm: found.append(lm) or real(lm))
    lm = lm_of(server)
    assert direct(lm) is direct(lm.copy(temperature=1.0))
    for _ in range(3):
        asked = Caller(lm, "answer", Ledger()).lm()
        with dspy.context(adapter=dspy.JSONAdapter()):
            assert dspy.Predict("question -> answer")(lm=asked, question="what?").answer == "x"
    assert len(found) == 1
    assert len(server.requests) == 3


def test_other_lms_go_the_way_that_dspy_chooses() -> None:
    assert direct(dspy.LM("openai/gpt-4o-mini", api_key="k")) is None
    assert direct(dspy.LM("openai/gpt-4o-mini", api_key="k", engine="lm15", api_base="http://localhost:1/v1")) is None


def test_what_dspy_refuses_is_for_dspy_to_say(server: FakeServer) -> None:
    lm = lm_of(server)
    lm.kwargs["headers"] = {"x": "y"}
    assert direct(lm) is None
    lm = lm_of(server)
    lm.kwargs["timeout"] = "soon"
    assert direct(lm) is None


def test_a_timeout_may_have_parts(server: FakeServer) -> None:
    lm = lm_of(server)
    lm.kwargs["timeout"] = httpx.Timeout(5.0, read=7.0)
    found = direct(lm)
    assert found is not None
    assert found is direct(lm)
    assert found.config.transport._read_timeout == 7.0


def test_capabilities_are_those_of_the_declaration(server: FakeServer) -> None:
    lm = lm_of(server)
    made = Caller(lm, "answer", Ledger()).lm()
    for name in ("supports_response_schema", "supports_function_calling", "supports_reasoning", "supported_params"):
        assert getattr(made, name) == getattr(lm, name), name


def test_it_is_closed_with_the_lm_and_made_anew(server: FakeServer) -> None:
    lm = lm_of(server)
    before = direct(lm)
    lm.close()
    assert before is not None
    assert before.config.transport._closed
    assert direct(lm) not in (None, before)


@pytest.mark.parametrize(("bypass", "proxy"), [("", "http://proxy.test:3128"), ("far.test", None)])
def test_the_proxy_of_the_environment_is_used(bypass: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://proxy.test:3128")
    monkeypatch.setenv("no_proxy", bypass)
    found = direct(make_lm("openai-compatible/m?api_base=http://far.test/v1"))
    assert found is not None
    assert found.config.transport._proxy == proxy
