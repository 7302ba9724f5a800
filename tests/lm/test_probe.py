from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import dspy
import numpy as np
import pytest
from dspy import lm15
from PIL import Image

from tests.support.answers import HALVES, SHAPE, ignores_schemas, keeps_schemas
from tests.support.server import Failure, FakeServer, Fault
from videohv.lm import make_lm
from videohv.lm.embedded import EmbeddedEngine, embedded_lm
from videohv.lm.llama import Threads
from videohv.lm.probe import FAILED, HONOURED, IGNORED, PROMPTED, known_of, picture, probe


def test_a_server_that_keeps_to_schemas_needs_two_calls() -> None:
    with FakeServer(keeps_schemas, told={"max_model_len": 4096}) as server:
        found = probe(make_lm(server.spec()))
        first, second = server.requests
    assert "banana" in first.text, "it is told to say something else"
    assert first.schema is not None
    assert second.images == 1
    assert (found.server, found.structured, found.images) == ("serves fake-model", HONOURED, True)
    assert found.context_tokens == 4096
    assert found.structured_seconds is not None
    assert found.structured_seconds >= 0
    assert found.problems == ()
    assert found.hints == (
        "context=4096 in its spec lets prompts be made to fit",
        "it sees images: images=yes in its spec, or --vision-lm, lets it look at frames",
    )


def test_a_server_that_ignores_schemas_is_told_from_one_that_keeps_to_them() -> None:
    with FakeServer(ignores_schemas) as server:
        found = probe(make_lm(server.spec()))
        assert len(server.requests) == 3
    assert (found.structured, found.images, found.problems) == (IGNORED, False, ())


@pytest.mark.parametrize("said", ["prose", json.dumps({"shape": "star", "count": 3}), json.dumps({"shape": "circle"})])
def test_replies_that_cannot_be_read_are_a_problem(said: str) -> None:
    with FakeServer(lambda _: said) as server:
        found = probe(make_lm(server.spec()))
    assert found.structured == FAILED
    assert len(found.problems) == 1
    assert found.images is None, "nothing more is asked"


def test_a_model_that_has_to_see_and_does_not_is_a_problem() -> None:
    with FakeServer(ignores_schemas) as server:
        assert probe(make_lm(server.spec()), show_picture=True).problems == ("it could not tell what a picture shows",)


def test_a_model_that_is_known_to_see_nothing_is_shown_nothing_unless_it_has_to() -> None:
    with FakeServer(keeps_schemas) as server:
        assert probe(make_lm(server.spec(images="no"))).images is None
        assert not any(request.images for request in server.requests)


def test_a_model_that_is_not_served_is_not_asked() -> None:
    with FakeServer(keeps_schemas, ("a", "b")) as server:
        found = probe(make_lm(server.spec("c")))
        assert server.requests == []
    assert found.problems == (f"no model is called 'c' at {server.address}: it serves a, b",)


@pytest.mark.parametrize("kind", [Failure.SERVER_ERROR, Failure.RATE_LIMIT, Failure.DROP, Failure.GARBAGE])
def test_what_fails_is_asked_once_and_said_in_one_line(kind: Failure) -> None:
    with FakeServer(lambda _: Fault(kind)) as server:
        found = probe(make_lm(server.spec(retries=3)))
        assert len(server.requests) == 1
    assert found.structured == FAILED
    assert found.problems[0].startswith("LM")
    assert "\n" not in found.problems[0]


def test_where_nothing_listens_it_says_so() -> None:
    found = probe(make_lm("vllm/x?api_base=http://127.0.0.1:9"))
    assert "nothing answers" in found.server
    assert "LMTransportError" in found.problems[0]


def test_a_key_that_the_server_repeats_is_in_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "planted-0123456789")
    with FakeServer(
        lambda r: Fault(Failure.SERVER_ERROR, status=401, message=f"bad key {r.authorization}"), models=None
    ) as server:
        found = probe(make_lm(server.spec(key_env="LAB_KEY")))
    assert "planted" not in found.model_dump_json()
    assert "bad key Bearer [key]" in found.problems[0]


def test_replies_are_never_taken_out_of_the_cache() -> None:
    with FakeServer(keeps_schemas) as server:
        lm = make_lm(server.spec())
        probe(lm)
        probe(lm)
        assert len(server.requests) == 4
    assert known_of(lm).cached
    assert not known_of(lm.copy(cache=False)).cached


class InProcess:
    supports_images = False
    supports_response_schema = False
    supported_params: frozenset[str] = frozenset()
    context_tokens = 99

    def complete(self, request: lm15.Request) -> lm15.Response:
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant(SHAPE),
            finish_reason="stop",
            usage=lm15.Usage(),
        )


def test_a_model_in_this_process_that_takes_no_schema() -> None:
    found = probe(dspy.LM("own/model", engine=InProcess()))
    assert (found.name, found.server, found.structured) == ("own/model", "", PROMPTED)
    assert (found.images, found.context_tokens, found.problems) == (None, 99, ())


def test_an_embedded_model_that_is_not_fetched_is_said_with_the_command(tmp_path: Path) -> None:
    lm = embedded_lm("qwen2.5-coder-0.5b", EmbeddedEngine(tmp_path / "none.gguf", 512, Threads(1, 1)))
    for found in (probe(lm), known_of(lm)):
        assert found.problems == ("not in the cache: fetch it with  videohv models pull qwen2.5-coder-0.5b  (0.49 GB)",)


def test_prices_are_those_that_dspy_lists() -> None:
    assert known_of(dspy.LM("openai/gpt-4o-mini")).prices == pytest.approx((0.15, 0.6))
    assert known_of(dspy.LM("openai/no-such-model")).prices is None


def test_the_picture_shows_what_is_asked_for() -> None:
    with Image.open(io.BytesIO(base64.b64decode(picture().partition(",")[2]))) as image:
        assert image.format == "JPEG"
        pixels: Any = np.asarray(image.convert("RGB"), int)
    left, right = pixels[112, 20], pixels[112, 200]
    assert left[0] > 200
    assert left[2] < 60, "yellow"
    assert right[2] > 180
    assert right[0] < 60, "blue"
    assert json.loads(HALVES) == {"left": "yellow", "right": "blue"}
