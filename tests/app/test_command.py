"""`videohv app` as a command of its own: who may come, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.app.conftest import Model
from tests.support.server import FakeServer
from videohv.cli import run

TOKEN = "a-token-of-the-tests-0123456789"
Start = Callable[..., "tuple[subprocess.Popen[str], str]"]


@pytest.fixture
def server(model: Model) -> Iterator[FakeServer]:
    with FakeServer(model) as made:
        yield made
        model.gate.set()


@pytest.fixture
def start(server: FakeServer, films: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts the command and gives it with the address that it prints."""
    begun: list[subprocess.Popen[str]] = []
    (tmp_path / "scratch").mkdir()

    def command(*options: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
        given = [sys.executable, "-m", "videohv", "app", str(films), "--port", "0", "--lm", server.spec(), *options]
        process = subprocess.Popen(
            given,
            env={**os.environ, "TMPDIR": str(tmp_path / "scratch"), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield command
    for process in begun:
        process.kill()
        process.communicate()


def get(address: str, path: str, **headers: str) -> http.client.HTTPResponse:
    wire = http.client.HTTPConnection("127.0.0.1", int(address.split("/")[2].rpartition(":")[2]), timeout=30)
    wire.request("GET", path, headers=headers)
    return wire.getresponse()


@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_it_ends_cleanly_in_the_middle_of_a_question(
    start: Start, model: Model, tmp_path: Path, how: signal.Signals
) -> None:
    model.gate.clear()
    process, address = start()
    video = json.loads(get(address, "/api/v1/videos").read())["videos"][0]["id"]
    wire = http.client.HTTPConnection("127.0.0.1", int(address.strip("/").rpartition(":")[2]), timeout=30)
    asked = json.dumps({"video": video, "question": "what?", "options": ["a", "b"]})
    wire.request("POST", "/api/v1/jobs", asked, {"Content-Type": "application/json"})
    job = json.loads(wire.getresponse().read())["id"]
    streams = [get(address, f"/api/v1/jobs/{job}/events"), get(address, "/api/v1/events?client=x")]
    assert list((tmp_path / "scratch").glob("videohv-uploads-*"))
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "ERROR" not in said
    assert b'"state": "cancelled"' in streams[0].read()
    assert not list((tmp_path / "scratch").glob("videohv-uploads-*"))
    model.gate.set()
    again, address = start()
    (earlier,) = json.loads(get(address, "/api/v1/jobs").read())["jobs"]
    assert (earlier["id"], earlier["state"], earlier["question"]) == (job, "cancelled", "what?")
    again.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "options", [("--host", "0.0.0.0"), pytest.param(("--name", "videos.example"), marks=pytest.mark.slow)]
)
def test_whoever_comes_from_elsewhere_needs_a_token(start: Start, options: tuple[str, str]) -> None:
    process, address = start(*options)
    _, _, token = address.partition("?token=")
    assert len(token) >= 24
    assert get(address, "/").status == 401
    assert get(address, "/api/v1/videos", Authorization=f"Bearer {token}").status == 200
    assert get(address, f"/?token={token}").status == 303
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    assert token not in out + said


@pytest.mark.slow
def test_a_token_that_was_given_is_not_shown(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    for options, environment in ((("--token-file", str(file)), {}), ((), {"VIDEOHV_TOKEN": TOKEN})):
        process, address = start(*options, **environment)
        assert TOKEN not in address
        assert get(address, "/").status == 401
        assert get(address, "/", Authorization=f"Bearer {TOKEN}").status == 200
        process.send_signal(signal.SIGINT)
        assert TOKEN not in "".join(process.communicate(timeout=30))


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["app", *arguments]) == 2
    return capsys.readouterr().err


def test_what_cannot_be_served_is_said(
    server: FakeServer, films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ["--lm", server.spec()]
    (tmp_path / "token").write_text("short")
    assert "a token has 16 letters" in refused([str(films), "--token-file", str(tmp_path / "token")], capsys)
    assert "cannot be read" in refused([str(films), "--token-file", str(tmp_path / "none")], capsys)
    assert "cannot be used as an allowed folder" in refused([str(tmp_path / "nowhere"), *models], capsys)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port} cannot be served on" in refused([str(films), "--port", port, *models], capsys)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert run(["app", str(films), "--port", "0", *models]) == 1
    assert "videohv[app]" in capsys.readouterr().err
