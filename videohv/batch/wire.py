"""A DSPy call stopped at the wire: the request that it would send, and its end once the reply is there.

The modules run as they always do, down to the bytes of the HTTP request, with an LM whose transport is ours. A request
for which a reply is at hand gets it, read by the same code as one that came over the network; any other one is kept and
fails. So nothing of a prompt, a schema or a parameter is written down a second time, and a reply that cannot be used
leads to just the request that the live call would send next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import dspy
from dspy import lm15
from dspy._vendor.lm15.registry import lookup
from dspy.clients.backend_selection import CLIENT_KEYS, select_backend
from dspy.clients.engines.lm15_engine import LM15Engine

from videohv.errors import InputError
from videohv.lm import lm_name
from videohv.lm.adapter import json_adapter
from videohv.lm.faults import Patience, patient
from videohv.lm.redact import without_keys

ENDPOINT = "/v1/chat/completions"
"""The endpoint of every request in a batch."""

_PATH = "/chat/completions"

_ENDLESS = 1_000
"""Retries of a call in which nothing is sent."""

Replies = Callable[[bytes], "str | None"]
"""From the body of a request to the body of its reply, or None if there is none yet."""


@dataclass(frozen=True)
class Outgoing:
    """A request as it would have left.

    Args:
        body: The JSON that is posted.
        base_url: Address of the server, up to and without `/chat/completions`.
        key: What authorises it; never printed.
    """

    body: bytes
    base_url: str
    key: str = field(repr=False)


def pictures_of(body: Mapping[str, Any]) -> list[str]:
    """The addresses of the pictures in the parsed body of a request."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    return [part["image_url"]["url"] for parts in contents for part in parts if part["type"] == "image_url"]


class Wire:
    """An LM that sends nothing.

    Args:
        lm: The LM that would send: the requests are to the byte those that it would post.
        cache: Whether replies are looked up and kept in DSPy's response cache, under the keys of `lm` itself.

    Attributes:
        lm: The copy of `lm` to call modules with.
        sent: The requests without a reply, since the last `replying` began.

    Raises:
        InputError: The model is not reached by an OpenAI-style request that DSPy makes itself.
    """

    def __init__(self, lm: dspy.LM, *, cache: bool = False) -> None:
        self.sent: list[Outgoing] = []
        self._replies: Replies = lambda body: None
        engine = _Engine(lm, self._exchange)
        self.lm: dspy.LM = lm.copy(engine=engine, **dict.fromkeys(CLIENT_KEYS))
        # The key of the response cache is made of these, down to the timeout.
        self.lm.kwargs = dict(lm.kwargs)
        self.lm.cache = cache
        # Who sends counts the tries; here the next request is wanted, however often the last one has failed.
        self.lm.num_retries = _ENDLESS

    @contextmanager
    def replying(self, replies: Replies) -> Iterator[None]:
        """Take replies from `replies` inside the block, and collect what has none in `sent`."""
        self.sent = []
        self._replies = replies
        adapter = dspy.settings.adapter or json_adapter()
        # Nothing that is tried again here gets better by waiting.
        at_once = patient(Patience(first=0.0, most=0.0))
        with at_once, dspy.context(adapter=adapter, warn_on_type_mismatch=False, disable_history=True, trace=None):
            yield

    def connection(self) -> Outgoing:
        """Where requests would go, and with which key.

        Raises:
            InputError: There is no key.
        """
        with self.replying(lambda body: None):
            try:
                self.lm.engine.complete(lm15.Request(model=self.lm.model, messages=(lm15.Message.user("."),)))
            except NotSent:
                return self.sent[0]
            except lm15.LM15Error as error:
                raise InputError(f"{lm_name(self.lm)}: {without_keys(str(error), self.lm)}") from error
        raise AssertionError("unreachable")

    def _exchange(self, outgoing: Outgoing) -> bytes:
        reply = self._replies(outgoing.body)
        if reply is None:
            self.sent.append(outgoing)
            raise NotSent("there is no reply to this request yet")
        return reply.encode()


class NotSent(lm15.InvalidRequestError):
    """Ends a call whose request has no reply. Of a kind that nothing tries again."""


class _Engine:
    """DSPy's own engine on a transport of ours, with what DSPy knows of the model."""

    def __init__(self, lm: dspy.LM, exchange: Callable[[Outgoing], bytes]) -> None:
        if not isinstance(lm, dspy.LM) or not isinstance(lm.engine, str):
            raise InputError(f"{lm_name(lm)} cannot be used in a batch: it runs in this process, not on a server")
        selection = select_backend(lm)
        if not selection.native or selection.resolution is None:
            raise InputError(
                f"{lm_name(lm)} cannot be used in a batch: DSPy hands it to LiteLLM (OPENAI_BASE_URL makes it do so); "
                "name its server as  openai-compatible/MODEL?api_base=…"
            )
        clients, provider = selection.clients, selection.resolution.provider
        declared = {binding.id: binding.definition for binding in lm._providers}
        definition = declared.get(provider) or lookup(provider)
        if lm.model_type != "chat" or definition is None or definition.dialect != "openai-chat":
            raise InputError(f"{lm_name(lm)} cannot be used in a batch: its server does not speak OpenAI's protocol")
        address = clients.get("api_base") or clients.get("base_url")
        config = lm15.RouterConfig(
            api_keys={provider: clients["api_key"]} if "api_key" in clients else None,
            base_urls={provider: address} if address else None,
            providers=tuple(declared.values()),
            transport=_Transport(exchange),
        )
        self._engine = LM15Engine(config, model_type=lm.model_type)
        self.supports_function_calling = lm.supports_function_calling
        self.supports_reasoning = lm.supports_reasoning
        self.supports_response_schema = lm.supports_response_schema
        self.supported_params = frozenset(lm.supported_params)

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        return self._engine.complete(request)


class _Transport:
    """Bytes in, bytes out, without a network."""

    def __init__(self, exchange: Callable[[Outgoing], bytes]) -> None:
        self._exchange = exchange

    def stream(self, request: Any) -> _Reply:
        headers = {name.lower(): value for name, value in request.headers}
        key = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("api-key", "none")
        return _Reply(self._exchange(Outgoing(request.body, request.url.removesuffix(_PATH), key)))

    def close(self) -> None:
        """Nothing is open."""


class _Reply:
    """What the engine reads of a response."""

    status, reason, http_version = 200, "OK", "HTTP/1.1"

    def __init__(self, body: bytes) -> None:
        self.headers = [("Content-Type", "application/json")]
        self._body = body

    def read(self) -> bytes:
        return self._body

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open."""
