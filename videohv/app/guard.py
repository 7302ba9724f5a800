"""Who may talk to the page: the right token, the right host name, requests of our own page only, and strict headers."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""What the page may do: nothing but with its own origin, and no script or style that stands in a document."""

_HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
_NO_TOKEN = "a token is needed: open the address that the command printed, or send it as Bearer"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_JSON_METHODS = ("POST", "PATCH")


class Guard:
    """Lets through what may be asked, and puts the headers on every reply.

    Args:
        app: What is guarded.
        token: What a request must bring along; empty for none.
        hosts: Host names by which it is reached besides those of the loopback; `*` for any (a token is then all there
            is).
    """

    def __init__(self, app: App, token: str = "", hosts: Iterable[str] = ()) -> None:
        self._app, self._token = app, token
        self._hosts = {*_LOOPBACK, *(host.lower() for host in hosts)}
        # Cookies do not know of ports: two pages of one machine must not take each other's.
        self._cookie = f"videohv-{sha256(token.encode()).hexdigest()[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _reply(send, *refusal)
        elif self._token and (moved := self._moved(scope)) is not None:
            await _reply(send, 303, "", {b"location": moved.encode(), b"set-cookie": self._setting().encode()})
        elif self._token and not self._knows(headers):
            await _reply(send, 401, _NO_TOKEN)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: MutableMapping[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if "*" not in self._hosts and _name(host) not in self._hosts:
            return 403, f"this is not served under the name {_name(host)!r}"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return 403, "requests of other pages are refused"
        # Another page may lead here by a link, and do nothing else: not even have a picture decoded.
        followed = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not followed:
            return 403, "requests of other pages are refused"
        if scope["method"] in _JSON_METHODS:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                return 415, "the body must be application/json"
        return None

    def _moved(self, scope: Scope) -> str | None:
        """The clean address for one that brings the right token along."""
        given = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        if scope["method"] != "GET" or "token" not in given or not self._is_right(given.pop("token")[0]):
            return None
        # A path of two slashes would lead to another host, and a line break to a header of somebody else's.
        path = "/" + quote(str(scope["path"]).lstrip("/"))
        return path + (f"?{urlencode(given, doseq=True)}" if given else "")

    def _knows(self, headers: MutableMapping[str, str]) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_right(bearer.strip()):
            return True
        # Not by `http.cookies`: it gives up at the first odd cookie, and those of other ports come along.
        cookies = (one.strip().partition("=") for one in headers.get("cookie", "").split(";"))
        return any(name == self._cookie and self._is_right(value) for name, _, value in cookies)

    def _is_right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _setting(self) -> str:
        return f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"


def _name(host: str) -> str:
    """A host without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            there = {name.lower() for name, _ in given}
            message = {**message, "headers": given + [(n, v) for n, v in _HEADERS.items() if n not in there]}
        await send(message)

    return sending


async def _reply(send: Send, status: int, error: str, more: MutableMapping[bytes, bytes] | None = None) -> None:
    body = json.dumps({"error": error}).encode() if error else b""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    sending = _with_headers(send)
    await sending({"type": "http.response.start", "status": status, "headers": [*headers, *(more or {}).items()]})
    await sending({"type": "http.response.body", "body": body})
