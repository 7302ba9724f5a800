"""The list of models that a server gives, and the look at it before long work begins."""

from __future__ import annotations

import dspy
import pytest

from tests.support.engine import fake_lm
from tests.support.server import FakeServer
from videohv.errors import ModelError
from videohv.lm import make_lm
from videohv.lm.door import Door, Served, door_of, find_served, models_served, not_served
from videohv.lm.ready import check_ready
from videohv.lm.roles import assignments, using


def never(request: object) -> str:
    raise AssertionError("no question is asked here")


def door(server: FakeServer, model: str = "fake-model", **options: object) -> Door:
    found = door_of(make_lm(server.spec(model, **options)))
    assert found is not None
    return found


def test_what_a_server_serves_and_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "planted-0123456789")
    with FakeServer(never, ("a", "b"), {"max_model_len": 4096, "owned_by": "vllm"}) as server:
        assert models_served(door(server, key_env="LAB_KEY")) == (Served("a", 4096, "vllm"), Served("b", 4096, "vllm"))
        assert server.lists == ["Bearer planted-0123456789"]


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({}, None),
        ({"context_length": 10}, 10),
        ({"context_window": 11}, 11),
        ({"meta": {"n_ctx": 12}}, 12),
        ({"meta": None, "max_model_len": "many"}, None),
    ],
)
def test_the_context_is_read_in_every_servers_own_words(told: dict[str, object], tokens: int | None) -> None:
    with FakeServer(never, told=told) as server:
        assert models_served(door(server))[0].context_tokens == tokens


def test_a_list_that_cannot_be_had_is_an_error_of_one_line_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "planted-0123456789")
    with FakeServer(never, models=None) as server:
        with pytest.raises(ModelError, match=r"/v1: status 404: .*no /v1/models here for Bearer \[key\]") as raised:
            models_served(door(server, key_env="LAB_KEY"))
        gone = door(server)
    assert "planted" not in str(raised.value)
    with pytest.raises(ModelError, match="nothing answers"):
        models_served(gone, timeout=0.5)


def test_which_models_have_a_door(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-0123456789")
    monkeypatch.setenv("XAI_API_KEY", "planted-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-0123456789")
    official = door_of(make_lm("openai/gpt-4o"))
    assert official is not None
    assert official[:2] == ("https://api.openai.com/v1", "gpt-4o")
    assert official.key() == "planted-0123456789"
    assert official.complete
    other = door_of(make_lm("xai/grok-4"))
    assert other is not None
    assert not other.complete, "its list leaves out aliases"
    own = door_of(dspy.LM("openai/m", api_base="http://me:geheim@host:1/v1", api_key="k"))
    assert own is not None
    assert (own.address, own.key(), own.complete) == ("http://host:1/v1", "k", True)
    assert door_of(make_lm("anthropic/claude-sonnet-4-5")) is None
    assert door_of(fake_lm()[0]) is None
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway/v1")
    gateway = door_of(dspy.LM("openai/gpt-4o"))
    assert gateway is not None
    assert gateway.address == "http://gateway/v1"


def test_a_model_is_found_by_its_name_with_its_tag_by_a_pattern_or_where_any_name_will_do() -> None:
    asked = Door("http://host/v1", "qwen3", lambda: None, True)
    assert find_served(asked, [Served("a"), Served("qwen3")])
    assert find_served(asked, [Served("qwen3:latest")])
    assert find_served(asked, [Served("openai/*")])
    assert find_served(asked, [Served("models/some.gguf", owner="llamacpp")])
    assert find_served(asked, [Served("qwen3:8b"), Served("Qwen3")]) is None
    assert find_served(asked, []) is None


def test_what_is_served_instead_is_named_the_nearest_first_and_not_all_of_hundreds() -> None:
    asked = Door("http://host/v1", "qwen3", lambda: None, True)
    said = not_served(asked, [Served(f"m{i}") for i in range(30)] + [Served("qwen3-vl")])
    assert "it serves qwen3-vl, m0, m1," in said
    assert said.endswith("and 19 more")


def test_a_model_that_is_not_served_stops_the_work_before_it_begins() -> None:
    with FakeServer(never, ("a", "b")) as server:
        right, wrong = make_lm(server.spec("a")), make_lm(server.spec("c"))
        with using(right, roles={"judge": right}):
            check_ready()
        assert len(server.lists) == 1, "one look at a server"
        with (
            using(right, roles={"judge": wrong}, origins={"judge": "--role judge"}),
            pytest.raises(ModelError, match=r"^--role judge: no model is called 'c' at http.*: it serves a, b$"),
        ):
            check_ready()
        with using(right, roles={"judge": wrong}):
            check_ready(assignments(["summary", "answer"]))


def test_a_list_that_cannot_be_had_hinders_nothing() -> None:
    with FakeServer(never, models=None) as server:
        lm = make_lm(server.spec())
        with using(lm):
            check_ready()
    with using(lm, roles={"judge": make_lm("ollama/x?api_base=http://127.0.0.1:9")}):
        check_ready(timeout=0.5)
    with using(fake_lm()[0]):
        check_ready()
    check_ready()
