"""The page served for real, in a thread of this process, and a small client for it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from videohv.app import Desk
from videohv.app.serve import make_server, open_port
from videohv.app.server import make_app


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Message(NamedTuple):
    """One server-sent event."""

    kind: str
    value: Any
    number: int | None


@dataclass(frozen=True)
class Served:
    """A page that is being served."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, method: str = "GET", body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """One request; a body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            given = {"Content-Type": "application/json", **given}
        try:
            connection.request(method, path, body, given)
            reply = connection.getresponse()
            return Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def api(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Any:
        """The JSON that an API request gives; it must succeed."""
        reply = self.ask(f"/api/v1{path}", method, body, headers)
        assert reply.status < 300, reply
        return reply.json

    def put(self, name: str, content: bytes) -> Reply:
        """Upload something."""
        return self.ask(f"/api/v1/uploads/{name}", "PUT", content)

    def follow(self, job: str, after: int | None = None) -> list[Message]:
        """All messages of a job up to its end."""
        headers = {"Last-Event-ID": str(after)} if after is not None else {}
        return messages(self.ask(f"/api/v1/jobs/{job}/events", headers=headers).body)

    def until(self, job: str, *states: str, seconds: float = 30.0) -> dict[str, Any]:
        """Wait until a job stands so."""
        deadline = time.monotonic() + seconds
        while True:
            now: dict[str, Any] = self.api(f"/jobs/{job}")
            if now["state"] in states:
                return now
            assert time.monotonic() < deadline, now
            time.sleep(0.02)


def messages(stream: bytes) -> list[Message]:
    """The events of a stream, comments left out."""
    found = []
    for block in stream.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if fields:
            number = int(fields["id"]) if "id" in fields else None
            found.append(Message(fields["event"], json.loads(fields["data"]), number))
    return found


@contextmanager
def serving(desk: Desk, **given: Any) -> Iterator[Served]:
    """Serve a desk on a free port; its jobs are stopped at the end."""
    server, socket = make_server(make_app(desk, **given)), open_port("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, args=([socket],), daemon=True)
    thread.start()
    try:
        yield Served(socket.getsockname()[1])
    finally:
        desk.jobs.close()
        server.should_exit = True
        thread.join(10)
        socket.close()
