"""The MCP server, asked by a real client over stdin and stdout of a real process, and over HTTP."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.app.conftest import Model
from tests.support.server import Failure, FakeServer, Fault
from videohv.app import Desk, Jobs, Places
from videohv.app.job import State
from videohv.app.mcp import make_mcp
from videohv.lm import make_lm
from videohv.lm.roles import using

QUESTION = {"video": "party.mp4", "question": "what?", "options": ["a ball", "a cube"]}
Check = Callable[[Client], Coroutine[Any, Any, None]]


@pytest.fixture
def server(model: Model) -> Iterator[FakeServer]:
    with FakeServer(model) as opened:
        yield opened
        model.gate.set()


def words(server: FakeServer, films: Path, *more: str) -> list[str]:
    return ["-m", "videohv", "mcp", str(films), "--lm", server.spec(), "--vision-lm", server.spec(images="true"), *more]


def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "VIDEOHV_CACHE": str(tmp_path / "c"), "DSPY_CACHEDIR": str(tmp_path / "d")}


def in_process(films: Path, server: FakeServer, check: Check) -> Jobs:
    """Have a client check a server in this process."""
    with using(make_lm(server.spec()).copy(cache=False)):
        jobs = Jobs()

    async def run() -> None:
        async with Client(make_mcp(Desk(Places([films]), jobs))) as client:
            await check(client)

    try:
        asyncio.run(run())
    finally:
        jobs.close()
    return jobs


@asynccontextmanager
async def over_stdio(server: FakeServer, films: Path, tmp_path: Path) -> AsyncIterator[Client]:
    command = StdioServerParameters(
        command=sys.executable, args=words(server, films), env=environment(tmp_path), cwd=str(Path.cwd())
    )
    async with Client(command) as client:
        yield client


def test_over_stdin_and_stdout(server: FakeServer, films: Path, tmp_path: Path) -> None:
    async def run() -> None:
        async with over_stdio(server, films, tmp_path) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["list_videos", "probe_video", "show_frame", "ask_video"]
            assert all(tool.description for tool in tools)
            listed = await client.call_tool("list_videos")
            assert [one["name"] for one in listed.structured_content["videos"]] == ["party.mp4"]
            heard: list[str] = []

            async def tell(progress: float, total: float | None, message: str | None) -> None:
                heard.append(message or "")

            made = await client.call_tool("ask_video", QUESTION, progress_callback=tell)
            assert not made.is_error, made
            found = made.structured_content
            assert (found["answer"], found["option_index"], found["status"]) == ("a ball", 0, "VERIFIED")
            assert found["evidence"][0]["window"] == {"start": 1.0, "end": 4.0}
            assert found["evidence"][0]["observations"]
            assert found["calls"] > 0
            assert found["cost"] is None
            assert [word for word in ("captions", "round 1: hypotheses", "round 1: check") if word not in heard] == []

    asyncio.run(run())


def test_over_http_with_a_token(server: FakeServer, films: Path, tmp_path: Path) -> None:
    import urllib.error
    import urllib.request

    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    token = "a-token-of-the-tests-0123456789"
    process = subprocess.Popen(
        [sys.executable, *words(server, films, "--http", "127.0.0.1:0")],
        env={**environment(tmp_path), "VIDEOHV_TOKEN": token},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        address = next(m.group() for line in process.stderr if (m := re.search(r"http://\S+/mcp", line)))
        threading.Thread(target=process.stderr.read, daemon=True).start()

        async def run() -> None:
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                made = await client.call_tool("ask_video", QUESTION)
                assert made.structured_content["answer"] == "a ball"

        asyncio.run(run())
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(urllib.request.Request(address, b"{}", {"Content-Type": "application/json"}))
    finally:
        process.terminate()
        out, _ = process.communicate()
    assert out == ""


def test_frames_and_facts(server: FakeServer, films: Path) -> None:
    async def check(client: Client) -> None:
        facts = (await client.call_tool("probe_video", {"video": "party.mp4"})).structured_content
        assert (facts["duration"], facts["width"], facts["height"]) == (6.0, 320, 240)
        shown = await client.call_tool("show_frame", {"video": "party.mp4", "at": 2.0})
        assert [(one.type, one.mime_type) for one in shown.content] == [("image", "image/jpeg")]
        assert (await client.call_tool("show_frame", {"video": "party.mp4", "at": -1.0})).is_error

    in_process(films, server, check)


def test_only_allowed_files(server: FakeServer, films: Path, clip: Path) -> None:
    (films / "out.mp4").symlink_to(clip)

    async def check(client: Client) -> None:
        for path in ("../films2/x.mp4", str(clip), "out.mp4", "/etc/passwd", "", "party.mp4\0"):
            for tool, given in (("probe_video", {}), ("show_frame", {"at": 1.0}), ("ask_video", QUESTION)):
                made = await client.call_tool(tool, {**given, "video": path})
                assert made.is_error, (tool, path)
                assert "may be read" in made.content[0].text

    in_process(films, server, check)


def test_a_failure_is_an_error_and_no_answer(server: FakeServer, films: Path, model: Model) -> None:
    model.say = lambda request: Fault(Failure.REFUSAL)

    async def check(client: Client) -> None:
        made = await client.call_tool("ask_video", QUESTION)
        assert made.is_error
        assert "content_filtered" in made.content[0].text
        wrong = await client.call_tool("ask_video", {**QUESTION, "options": ["one"]})
        assert "2 to 26" in wrong.content[0].text
        unknown = await client.call_tool("ask_video", {**QUESTION, "method": "guess"})
        assert "no method" in unknown.content[0].text

    in_process(films, server, check)


def test_who_waits_is_told_that_it_goes_on(
    server: FakeServer, films: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("videohv.app.mcp.BEAT_SECONDS", 0.05)
    model.gate.clear()
    heard: list[tuple[float, str]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message or ""))
        if sum("still at work" in said for _, said in heard) == 3:
            model.gate.set()

    async def check(client: Client) -> None:
        made = await client.call_tool("ask_video", QUESTION, progress_callback=tell)
        assert made.structured_content["answer"] == "a ball"

    in_process(films, server, check)
    assert [number for number, _ in heard] == [*range(1, len(heard) + 1)]


def test_who_stops_waiting_stops_the_question(server: FakeServer, films: Path, model: Model) -> None:
    model.gate.clear()

    async def check(client: Client) -> None:
        waiting = asyncio.create_task(client.call_tool("ask_video", QUESTION))
        while not model.roles and not waiting.done():
            await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0.5)

    jobs = in_process(films, server, check)
    (job,) = jobs.all()
    assert (job.state, job.error) == (State.CANCELLED, "stopped: nobody waits for it any longer")
