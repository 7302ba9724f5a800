from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from videohv.lm import sources
from videohv.lm.catalogue import Entry
from videohv.lm.sources import Hub, SourceFailed

MODEL = bytes(range(256)) * 40
ENTRY = Entry("toy", "toy.gguf", len(MODEL), hashlib.sha256(MODEL).hexdigest(), "someone/toy", "Apache-2.0")


class Repository(BaseHTTPRequestHandler):
    content = MODEL
    send_only: int | None = None
    ranges: list[str]

    def do_HEAD(self) -> None:
        self.send_response(200 if self.path == "/someone/toy/resolve/main/toy.gguf" else 404)
        self.end_headers()

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.ranges.append(asked or "")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        rest = self.content[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: self.send_only])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Repository]]:
    class Handler(Repository):
        ranges: list[str] = []  # noqa: RUF012

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}/")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield Handler
    server.shutdown()
    server.server_close()


def quiet(done: int, total: int, what: str) -> None:
    pass


def test_the_file_comes_from_the_repository(hub: type[Repository], tmp_path: Path) -> None:
    steps: list[int] = []
    made = Hub().assemble(ENTRY, tmp_path, lambda done, total, what: steps.append(done))
    assert made.read_bytes() == MODEL
    assert steps[-1] == len(MODEL)


def test_a_broken_transfer_is_resumed(hub: type[Repository], tmp_path: Path) -> None:
    hub.send_only = 3000
    with pytest.raises(SourceFailed, match="broke off"):
        Hub().assemble(ENTRY, tmp_path, quiet)
    hub.send_only = None
    assert Hub().assemble(ENTRY, tmp_path, quiet).read_bytes() == MODEL
    assert hub.ranges == ["", "bytes=3000-"]


def test_a_login_page_leaves_nothing_to_resume_from(hub: type[Repository], tmp_path: Path) -> None:
    hub.content = b"<html>please log in</html>"
    with pytest.raises(SourceFailed, match="another size"):
        Hub().assemble(ENTRY, tmp_path, quiet)
    assert not (tmp_path / "hub.partial").exists()


def test_a_missing_file_is_said(hub: type[Repository], tmp_path: Path) -> None:
    gone = Entry("toy", "gone.gguf", 5, "0" * 64, "someone/toy", "Apache-2.0")
    with pytest.raises(SourceFailed, match="not reachable"):
        Hub().assemble(gone, tmp_path, quiet)


def test_offline_means_offline(hub: type[Repository], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(SourceFailed, match="HF_HUB_OFFLINE"):
        Hub().assemble(ENTRY, tmp_path, quiet)
    assert hub.ranges == []


def test_a_name_server_that_never_answers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def look_up(*_: object, **__: object) -> None:
        release.wait(30)
        raise socket.gaierror("never")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://somewhere.invalid")
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(sources, "CONNECT_SECONDS", 0.05)
    with pytest.raises(SourceFailed, match="no answer within"):
        Hub().assemble(ENTRY, tmp_path, quiet)
    release.set()
