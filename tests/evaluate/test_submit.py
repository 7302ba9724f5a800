from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from tests.support.upload_server import Reply, UploadServer
from videohv.errors import InputError, SubmitError
from videohv.evaluate.submit import LONGEST_PAUSE, Receipt, keep, submit

TEXT = json.dumps({"q1": 0, "q2": 4})


@pytest.fixture
def serve() -> Iterator[Callable[..., UploadServer]]:
    servers: list[UploadServer] = []

    def start(*replies: Reply) -> UploadServer:
        servers.append(UploadServer(*replies))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_submission_is_posted_as_json_and_the_answer_comes_back(serve: Callable[..., UploadServer]) -> None:
    server = serve(Reply())
    receipt = submit(TEXT, url=server.url)
    assert server.got == [{"path": "/api/upload/", "body": TEXT.encode(), "type": "application/json"}]
    assert receipt.answer == "MCQ Accuracy for All of 5031 EgoSchema Questions: 0.6"
    assert (receipt.status, receipt.tries, receipt.questions, receipt.url) == (200, 1, 2, server.url)
    assert receipt.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()


def test_a_server_that_wakes_up_is_tried_again(serve: Callable[..., UploadServer]) -> None:
    server = serve(Reply(500, "<h1>Server Error (500)</h1>"), Reply(drop=True), Reply(503), Reply())
    pauses: list[float] = []
    said: list[str] = []
    receipt = submit(TEXT, url=server.url, pause=pauses.append, say=said.append)
    assert receipt.tries == 4
    assert pauses == [2.0, 4.0, 8.0]
    assert "try 1 of 5 failed (status 500: <h1>Server Error (500)</h1>); the next in 2 s" in said
    assert {got["body"] for got in server.got} == {TEXT.encode()}


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [("7", 7, 7), ("86400", LONGEST_PAUSE, LONGEST_PAUSE), ("soon", 2, 2), ("-5", 2, 2)],
)
def test_retry_after_is_heard_within_bounds(
    serve: Callable[..., UploadServer], header: str, low: float, high: float
) -> None:
    pauses: list[float] = []
    submit(TEXT, url=serve(Reply(429, headers=(("Retry-After", header),)), Reply()).url, pause=pauses.append)
    assert low <= pauses[0] <= high


def test_retry_after_may_be_a_date(serve: Callable[..., UploadServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.evaluate.submit.time.time", lambda: 1_000_000.0)
    pauses: list[float] = []
    later = (("Retry-After", formatdate(1_000_030, usegmt=True)),)
    submit(TEXT, url=serve(Reply(503, headers=later), Reply()).url, pause=pauses.append)
    assert pauses == [30.0]


def test_tries_are_bounded(serve: Callable[..., UploadServer]) -> None:
    server = serve(Reply(502, "bad gateway"))
    with pytest.raises(SubmitError, match=r"in 3 tries, the last one ended with status 502: bad gateway: try later"):
        submit(TEXT, url=server.url, tries=3, pause=lambda seconds: None)
    assert len(server.got) == 3


def test_a_server_that_never_answers_is_given_up(serve: Callable[..., UploadServer]) -> None:
    server = serve(Reply(hold=True))
    with pytest.raises(SubmitError, match="no answer in time"):
        submit(TEXT, url=server.url, tries=2, timeout=0.2, pause=lambda seconds: None)


def test_a_refusal_is_not_repeated(serve: Callable[..., UploadServer]) -> None:
    server = serve(Reply(400, "Invalid\n  JSON"))
    with pytest.raises(SubmitError, match="refused the submission with status 400: Invalid JSON"):
        submit(TEXT, url=server.url)
    assert len(server.got) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_but_named(serve: Callable[..., UploadServer], status: int) -> None:
    elsewhere = serve(Reply())
    server = serve(Reply(status, "", (("Location", elsewhere.url),)))
    with pytest.raises(SubmitError, match=f"moved to {elsewhere.url}: give that as --url"):
        submit(TEXT, url=server.url)
    assert not elsewhere.got


def test_nobody_there(serve: Callable[..., UploadServer]) -> None:
    server = serve(Reply())
    server.close()
    with pytest.raises(SubmitError, match="in 2 tries"):
        submit(TEXT, url=server.url, tries=2, pause=lambda seconds: None)


@pytest.mark.parametrize(
    ("url", "text", "message"),
    [
        ("file:///etc/passwd", TEXT, "an http or https address was expected"),
        ("validation-server", TEXT, "an http or https address was expected"),
        ("http://me:secret@localhost/", TEXT, "leave user and password out"),
        ("http://localhost:port/", TEXT, "--url http://localhost:port/"),
        ("http://localhost/", "[1]", "not one JSON object"),
        ("http://localhost/", "{", "not JSON"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_anything_is_sent(url: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        submit(text, url=url, pause=lambda seconds: None)
    assert "secret" not in str(caught.value)


def test_a_key_in_the_address_is_not_written_down(serve: Callable[..., UploadServer], tmp_path: Path) -> None:
    server = serve(Reply())
    receipt = submit(TEXT, url=server.url + "?token=abc123")
    assert server.got[0]["path"] == "/api/upload/?token=abc123"
    path = keep(receipt, tmp_path)
    assert "abc123" not in path.read_text()
    assert Receipt.model_validate_json(path.read_text()) == receipt
    assert path.name.startswith("submission-20")
