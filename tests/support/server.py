"""A server on this machine that speaks the OpenAI chat protocol, scripted, and able to fail in all the usual ways."""

from __future__ import annotations

import json
import math
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from tests.support.faults import Quota


class Failure(StrEnum):
    """Ways to fail. Those from `GARBAGE` on come with status 200."""

    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"
    TOO_LONG = "too_long"
    HANG = "hang"
    DROP = "drop"
    GARBAGE = "garbage"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSAL = "refusal"
    FILTERED = "filtered"
    CUT = "cut"


@dataclass(frozen=True)
class Fault:
    """A failure to serve instead of a reply.

    Args:
        kind: What goes wrong.
        seconds: Value of `Retry-After` for a rate limit or, unless 0, a server error; length of a hang (which then ends
            like a dropped connection).
        status: Of a server error.
        message: What a server error says.
        text: The reply that is cut off in its middle.
    """

    kind: Failure
    seconds: float = 0.0
    status: int = 500
    message: str = "something broke"
    text: str = '{"summary": "it is cut off here", "more": "and here"}'


@dataclass(frozen=True)
class Request:
    """One chat request as it arrived.

    Args:
        body: The parsed JSON.
        time: `time.monotonic()` of its arrival.
        authorization: The header of that name, or empty.
    """

    body: Mapping[str, Any]
    time: float
    authorization: str = ""

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body["model"])

    @property
    def text(self) -> str:
        """All text of all messages."""
        return "\n".join(text for message in self.body["messages"] for text in _texts(message["content"]))

    @property
    def images(self) -> int:
        """How many images the messages hold."""
        contents = [message["content"] for message in self.body["messages"]]
        return sum(part["type"] == "image_url" for parts in contents if isinstance(parts, list) for part in parts)

    @property
    def prompt(self) -> str:
        """Text of the message that asks for the reply: the last one, but for what follows it in a repair."""
        said = ["\n".join(_texts(message["content"])) for message in self.body["messages"]]
        return next((text for text in reversed(said) if _ORDER in text), said[-1])

    @property
    def outputs(self) -> frozenset[str]:
        """The output fields that DSPy's JSON adapter asks for at the end of the prompt; they tell the role."""
        order = re.search(rf"{_ORDER} (.*)", self.prompt, re.DOTALL)
        return frozenset(re.findall(r"`(\w+)`", order.group(1))) if order else frozenset()

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that was sent along, or None."""
        format_ = self.body.get("response_format") or {}
        return format_["json_schema"]["schema"] if format_.get("type") == "json_schema" else None


_ORDER = "Respond with a JSON object in the following order of fields:"


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or () if part["type"] == "text"]


Answer = Callable[[Request], "str | Fault"]


class FakeServer:
    """Serves `/v1/chat/completions` and `/v1/models` on a free port of 127.0.0.1 while its `with` block is open.

    Args:
        answer: Makes the reply, or the fault, for a request. It is called from several threads.
        models: Names served under `/v1/models`; None has no such page.
        told: What the list says of each model beside its name.
        quota: What is taken before requests are refused with 429; None takes everything.

    Attributes:
        refused: Requests that the quota refused.
        prompt_tokens, completion_tokens: What was reported in replies that were sent whole.
    """

    def __init__(
        self,
        answer: Answer,
        models: tuple[str, ...] | None = ("fake-model",),
        told: Mapping[str, Any] | None = None,
        quota: Quota | None = None,
    ) -> None:
        self.quota = quota
        self.refused = self.prompt_tokens = self.completion_tokens = 0
        self.answer = answer
        self.models = models
        self.told = dict(told or {})
        self.lists: list[str] = []
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.fake = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def address(self) -> str:
        """What goes into `api_base=`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def root(self) -> str:
        """The address without a path."""
        return self.address.removesuffix("/v1")

    @property
    def requests(self) -> list[Request]:
        """Every chat request so far, in the order of arrival."""
        with self._lock:
            return list(self._requests)

    def spec(self, model: str = "fake-model", **options: object) -> str:
        """The spec of an LM on this server. It does not retry unless told to."""
        given = {"api_base": self.address, "retries": 0, **options}
        return f"openai-compatible/{model}?" + "&".join(f"{name}={value}" for name, value in given.items())

    def take(self, request: Request) -> str | Fault:
        """Record a request and make its reply."""
        with self._lock:
            self._requests.append(request)
            wait = self.quota.wait(request.time) if self.quota is not None else 0.0
            self.refused += bool(wait)
        return Fault(Failure.RATE_LIMIT, math.ceil(wait)) if wait else self.answer(request)

    def report(self, usage: Mapping[str, int]) -> None:
        """Add up what a reply reports."""
        with self._lock:
            self.prompt_tokens += usage["prompt_tokens"]
            self.completion_tokens += usage["completion_tokens"]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    fake: FakeServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A reply goes out in two pieces, and the second would wait 40 ms for word that the first has arrived.
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the tests read `requests`."""

    def do_GET(self) -> None:
        """`/v1/models`."""
        fake = self.server.fake
        fake.lists.append(self.headers.get("Authorization", ""))
        if self.path != "/v1/models" or fake.models is None:
            self._send(404, {"error": {"message": f"no {self.path} here for {fake.lists[-1]}"}})
            return
        models = [{"id": name, "object": "model", **fake.told} for name in fake.models]
        self._send(200, {"object": "list", "data": models})

    def do_POST(self) -> None:
        """`/v1/chat/completions`."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # A gateway in front of a model has a path of its own.
        if not self.path.endswith("/v1/chat/completions"):
            self._send(404, {"error": {"message": f"no {self.path} here"}})
            return
        request = Request(body, time.monotonic(), self.headers.get("Authorization", ""))
        reply = self.server.fake.take(request)
        if isinstance(reply, Fault):
            self._fail(request, reply)
        else:
            self._complete(request, {"content": reply})

    def _complete(self, request: Request, message: Mapping[str, Any], finish: str = "stop") -> None:
        completion = _completion(request, message, finish)
        self.server.fake.report(completion["usage"])
        self._send(200, completion)

    def _fail(self, request: Request, fault: Fault) -> None:
        match fault.kind:
            case Failure.RATE_LIMIT:
                self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": f"{fault.seconds:g}"})
            case Failure.SERVER_ERROR:
                after = {"Retry-After": f"{fault.seconds:g}"} if fault.seconds else {}
                self._send(fault.status, {"error": {"message": fault.message}}, after)
            case Failure.TOO_LONG:
                wrong = {"message": "maximum context length exceeded", "code": "context_length_exceeded"}
                self._send(400, {"error": wrong})
            case Failure.HANG:
                self.server.fake.closing.wait(fault.seconds)
                self._drop()
            case Failure.DROP:
                self._drop()
            case Failure.GARBAGE:
                self._send_bytes(200, b"<html>It works!</html>")
            case Failure.TRUNCATED:
                whole = json.dumps(_completion(request, {"content": "cut off"})).encode()
                self._send_bytes(200, whole[: len(whole) // 2])
            case Failure.EMPTY:
                self._complete(request, {"content": ""})
            case Failure.REFUSAL:
                self._complete(request, {"content": None, "refusal": "I will not say."})
            case Failure.FILTERED:
                self._complete(request, {"content": ""}, finish="content_filter")
            case Failure.CUT:
                self._complete(request, {"content": fault.text[: len(fault.text) // 2]}, finish="length")

    def _drop(self) -> None:
        # Closed with a reset, as a process that dies does it.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _send(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), headers)

    def _send_bytes(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _completion(request: Request, message: Mapping[str, Any], finish: str = "stop") -> dict[str, Any]:
    prompt, reply = max(1, len(request.text) // 4), max(1, len(message.get("content") or "") // 4)
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
    }
