"""A server with OpenAI's Batch API beside the chat endpoint: files and batches, scripted, able to kill its client."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.server import Answer, Failure, FakeServer, Fault, Request, _completion, _Handler


@dataclass(frozen=True)
class Plan:
    """What becomes of a batch.

    Args:
        status: Its ending.
        polls: How often it is `in_progress` before that.
        errors: For one that is refused as a whole: `code`, `message`, and `line` (from 1) or None.
        silent: Numbers of the lines (from 0) that get no entry in any file, or, in one that expires, an error entry.
    """

    status: str = "completed"
    polls: int = 0
    errors: tuple[tuple[str, str, int | None], ...] = ()
    silent: frozenset[int] = frozenset()


@dataclass
class Made:
    """A batch as the server holds it."""

    id: str
    input_file: str
    metadata: Mapping[str, str]
    lines: list[dict[str, Any]]
    plan: Plan
    asked: int = 0
    output_file: str | None = None
    error_file: str | None = None
    over: bool = False

    @property
    def images(self) -> list[str]:
        """Every picture in it."""
        return [uri for line in self.lines for uri in pictures(line["body"])]


Planner = Callable[[int, list[dict[str, Any]]], Plan]
Hook = Callable[[str, bool], "int | None"]


@dataclass
class _Shelf:
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    filed: int = 0
    batches: list[Made] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    captioned: Counter[str] = field(default_factory=Counter)
    twice: list[str] = field(default_factory=list)


class FakeBatchServer(FakeServer):
    """Serves `/v1/files` and `/v1/batches` as well.

    Args:
        answer: As for `FakeServer`; a fault becomes an entry of the error file, or the reply that it stands for.
        plan: Says what becomes of the n-th batch (from 0) with its lines.
        hook: Called with each call such as `POST /v1/batches`, before (False) and after (True) it had its effect; a
            status that it returns is sent instead of the answer.
        key: The only key that is taken; None takes any.

    Attributes:
        shelf: What it holds and has seen: `captioned` counts for each picture the batch lines that were answered with
            success, `twice` names pictures that were in two batches in flight at once.
    """

    def __init__(
        self,
        answer: Answer,
        plan: Planner = lambda number, lines: Plan(),
        hook: Hook = lambda call, after: None,
        key: str | None = None,
    ) -> None:
        super().__init__(answer)
        self.plan, self.hook, self.key = plan, hook, key
        self.shelf = _Shelf()
        self.guard = threading.RLock()
        self._http.RequestHandlerClass = _BatchHandler

    def calls(self, call: str) -> int:
        """How often a call such as `POST /v1/batches` was made."""
        return sum(made == call for made in self.shelf.calls)

    def add_file(self, name: str, content: bytes) -> str:
        """Keep a file and return its id."""
        with self.guard:
            self.shelf.filed += 1
            file_id = f"file-{self.shelf.filed}"
            self.shelf.files[file_id] = (name, content)
            return file_id

    def make(self, file_id: str, metadata: Mapping[str, str]) -> Made:
        """Make a batch of an uploaded file."""
        with self.guard:
            lines = [json.loads(line) for line in self.shelf.files[file_id][1].splitlines()]
            number = len(self.shelf.batches)
            made = Made(f"batch_{number + 1}", file_id, metadata, lines, self.plan(number, lines))
            flying = {uri for other in self.shelf.batches if not other.over for uri in other.images}
            self.shelf.twice += [uri for uri in made.images if uri in flying]
            self.shelf.batches.append(made)
            return made

    def look(self, made: Made) -> dict[str, Any]:
        """The batch as a client sees it; looking makes it go on."""
        with self.guard:
            made.asked += 1
            if not made.over and made.asked > made.plan.polls:
                self._finish(made)
            return self.show(made)

    def show(self, made: Made) -> dict[str, Any]:
        """The batch as a client sees it."""
        done = len(made.lines) if made.over else 0
        errors = [{"code": code, "message": said, "line": line, "param": None} for code, said, line in made.plan.errors]
        return {
            "id": made.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": made.input_file,
            "metadata": dict(made.metadata),
            "status": made.plan.status if made.over else "in_progress",
            "output_file_id": made.output_file,
            "error_file_id": made.error_file,
            "errors": {"object": "list", "data": errors} if errors and made.over else None,
            "request_counts": {"total": len(made.lines), "completed": done, "failed": 0},
        }

    def _finish(self, made: Made) -> None:
        made.over = True
        if made.plan.status == "failed":
            return
        good: list[dict[str, Any]] = []
        bad: list[dict[str, Any]] = []
        # From the last to the first: nobody may rely on the order.
        for number, line in reversed(list(enumerate(made.lines))):
            entry = {"id": f"batch_req_{number}", "custom_id": line["custom_id"], "error": None}
            if number in made.plan.silent:
                if made.plan.status == "expired":
                    bad.append(entry | {"response": None, "error": {"code": "batch_expired", "message": "too late"}})
                continue
            status, body = self._answered(Request(line["body"], time.monotonic()))
            reply = {"status_code": status, "request_id": "r", "body": body}
            (good if status == 200 else bad).append(entry | {"response": reply})
            if status == 200 and body["choices"][0]["message"].get("content"):
                self.shelf.captioned.update(pictures(line["body"]))
        made.output_file = self._jsonl(good)
        made.error_file = self._jsonl(bad)

    def _answered(self, request: Request) -> tuple[int, dict[str, Any]]:
        reply = self.answer(request)
        if not isinstance(reply, Fault):
            return 200, _completion(request, {"content": reply})
        match reply.kind:
            case Failure.REFUSAL:
                return 200, _completion(request, {"content": None, "refusal": "I will not say."})
            case Failure.EMPTY:
                return 200, _completion(request, {"content": ""})
            case Failure.RATE_LIMIT:
                return 429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}
            case _:
                return 500, {"error": {"code": "server_error", "message": "something broke"}}

    def _jsonl(self, entries: list[dict[str, Any]]) -> str | None:
        return (
            self.add_file("out.jsonl", b"".join(json.dumps(e).encode() + b"\n" for e in entries)) if entries else None
        )


def pictures(body: Mapping[str, Any]) -> list[str]:
    """The data addresses of the pictures in a chat request."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    return [part["image_url"]["url"] for parts in contents for part in parts if part["type"] == "image_url"]


class _BatchHandler(_Handler):
    def do_GET(self) -> None:
        if self.path == "/v1/models":
            super().do_GET()
            return
        self._route("GET")

    def do_POST(self) -> None:
        if self.path == "/v1/chat/completions":
            super().do_POST()
            return
        self._route("POST")

    def do_DELETE(self) -> None:
        self._route("DELETE")

    @property
    def fake(self) -> FakeBatchServer:
        assert isinstance(self.server.fake, FakeBatchServer)
        return self.server.fake

    def _route(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        kind = re.sub(r"(?<=/)(?:file-|batch_)\d+", "ID", url.path)
        call = f"{method} {kind}"
        self.fake.shelf.calls.append(call)
        if self.fake.key is not None and self.headers.get("Authorization") != f"Bearer {self.fake.key}":
            said = f"Incorrect API key provided: {self.headers.get('Authorization', '')[7:]}"
            self._send(401, {"error": {"message": said, "code": "invalid_api_key"}})
            return
        if (status := self.fake.hook(call, False)) is not None:
            self._send(status, {"error": {"message": "scripted failure"}})
            return
        status, answer = self._do(call, url.path, {k: v[0] for k, v in parse_qs(url.query).items()}, body)
        if status == 200 and (failing := self.fake.hook(call, True)) is not None:
            status, answer = failing, {"error": {"message": "scripted failure"}}
        with suppress(BrokenPipeError, ConnectionResetError):  # the client may have been killed meanwhile
            self._send_bytes(status, answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def _do(self, call: str, path: str, query: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        fake, shelf = self.fake, self.fake.shelf
        named = next((part for part in path.split("/") if re.fullmatch(r"(?:file-|batch_)\d+", part)), "")
        unknown = (404, {"error": {"message": f"no {path} here"}})
        match call:
            case "POST /v1/files":
                name, content = _upload(self.headers["Content-Type"], body)
                return 200, _file(fake.add_file(name, content), name)
            case "GET /v1/files":
                return 200, {"object": "list", "data": [_file(i, n) for i, (n, _) in shelf.files.items()]}
            case "GET /v1/files/ID/content":
                return (200, shelf.files[named][1]) if named in shelf.files else unknown
            case "DELETE /v1/files/ID":
                shelf.files.pop(named, None)
                return 200, {"id": named, "object": "file", "deleted": True}
            case "POST /v1/batches":
                asked = json.loads(body)
                if asked["input_file_id"] not in shelf.files:
                    return 400, {"error": {"message": f"Cannot find file {asked['input_file_id']}"}}
                return 200, fake.show(fake.make(asked["input_file_id"], asked.get("metadata") or {}))
            case "GET /v1/batches":
                newest = [fake.show(made) for made in reversed(shelf.batches)]
                first = next((i + 1 for i, b in enumerate(newest) if b["id"] == query.get("after")), 0)
                page = newest[first : first + int(query.get("limit", 20))]
                return 200, {"object": "list", "data": page, "has_more": first + len(page) < len(newest)}
            case "GET /v1/batches/ID":
                made = next((made for made in shelf.batches if made.id == named), None)
                return (200, fake.look(made)) if made is not None else unknown
        return unknown


def _file(file_id: str, name: str) -> dict[str, Any]:
    kept = {"object": "file", "bytes": 1, "created_at": 0, "purpose": "batch", "status": "processed"}
    return {"id": file_id, "filename": name, **kept}


def _upload(kind: str, body: bytes) -> tuple[str, bytes]:
    """Name and content of the file in a form."""
    boundary = b"--" + kind.partition("boundary=")[2].encode()
    for part in body.split(boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if found := re.search(rb'filename="([^"]*)"', head):
            return found.group(1).decode(), content.removesuffix(b"\r\n")
    raise AssertionError("no file in the form")
