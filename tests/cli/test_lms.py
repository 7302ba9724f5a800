"""The same question with other models: only the configuration changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, default_reply, seen_in
from tests.support.server import FakeServer, Request
from videohv import Trace
from videohv.captioners.detector import NanoDet
from videohv.captioners.ocr import RapidOCR
from videohv.cli import run
from videohv.lm import backends
from videohv.lm.backends import backend
from videohv.lm.spec import Spec

QUESTION = ["-q", "What is held?", "-o", "a ball", "-o", "a cube", "--json"]
TEXT = {"summary", "thinker", "judge", "verifier.locate", "verifier.check", "answer"}


def played(request: Request) -> str:
    user = request.body["messages"][-1]["content"]
    text = user if isinstance(user, str) else "".join(part.get("text", "") for part in user)
    return json.dumps(default_reply(seen_in(text, request.images, None, request.schema is not None, "")))


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "clip.mp4", frames=10, fps=10.0)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine in this process that sees nothing, in the place of the embedded one."""
    engine = FakeEngine(supports_images=False)
    backends.backend_names()
    monkeypatch.setattr(backends, "_backends", dict(backends._backends))

    @backend("embedded")
    def embedded(spec: Spec, seed: int | None) -> dspy.LM:
        return dspy.LM("embedded/fake", engine=engine, cache=False)

    return engine


@pytest.fixture
def ask(clip: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Trace]:
    def call(*options: str, captions: Path | None = None) -> Trace:
        where = [str(clip)] if captions is None else ["clip", "--captions", str(captions)]
        code = run(["ask", *where, *QUESTION, *options])
        out, err = capsys.readouterr()
        assert code == 0, err
        assert err == ""
        return Trace.model_validate(json.loads(out)["trace"])

    return call


@pytest.fixture
def quick_detectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Detectors that find nothing: what they see is tested elsewhere, and takes seconds."""
    monkeypatch.setattr(NanoDet, "detect", lambda self, rgb: ())
    monkeypatch.setattr(RapidOCR, "read", lambda self, rgb: "")


def models(trace: Trace) -> dict[str, str]:
    return {row.role: row.model for row in trace.usage}


def test_one_question_through_a_server_an_engine_inside_and_a_mixed_team(
    ask: Callable[..., Trace], inside: FakeEngine, quick_detectors: None, tmp_path: Path
) -> None:
    with FakeServer(played) as server:
        at_server = ask("--lm", server.spec(images="yes"))
        assert not inside.requests
        within = ask()
        asked_at_server = len(server.requests)
        assert asked_at_server == at_server.calls
        profile = tmp_path / "mixed.toml"
        profile.write_text(
            f'lm = "embedded"\nvision_lm = "{server.spec()}"\n[roles]\njudge = "{server.spec()}"\n', encoding="utf-8"
        )
        mixed = ask("--profile", str(profile))
    assert models(at_server) == dict.fromkeys(TEXT | {"captioner", "verifier.look"}, "openai-compatible/fake-model")
    assert models(within) == dict.fromkeys(TEXT, "embedded/fake")
    assert within.evidence[0].source == "tags", "nobody there sees"
    assert mixed.evidence[0].source == at_server.evidence[0].source == "frames"
    assert {role for role, model in models(mixed).items() if model == "embedded/fake"} == TEXT - {"judge"}
    assert at_server.answer == within.answer == mixed.answer
    assert at_server.outcome == within.outcome == mixed.outcome == "answered"


SAID: dict[str, Callable[[pytest.MonkeyPatch, Path, str], list[str]]] = {
    "command": lambda patch, folder, spec: ["--role", f"judge={spec}"],
    "environment": lambda patch, folder, spec: patch.setenv("VIDEOHV_ROLE_JUDGE", spec) or [],
    "profile": lambda patch, folder, spec: _profile(folder, spec),
}


def _profile(folder: Path, spec: str) -> list[str]:
    (folder / "lab.toml").write_text(f'[x.roles]\njudge = "{spec}"\n', encoding="utf-8")
    return ["--profile", f"{folder / 'lab.toml'}#x"]


@pytest.mark.parametrize("said", SAID)
def test_a_role_may_be_said_anywhere(
    said: str, ask: Callable[..., Trace], inside: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captions = tmp_path / "captions.json"
    captions.write_text(json.dumps({"clip": ["a hand", "a ball"]}), encoding="utf-8")
    with FakeServer(played) as server:
        trace = ask(*SAID[said](monkeypatch, tmp_path, server.spec()), captions=captions)
    assert {role for role, model in models(trace).items() if model != "embedded/fake"} == {"judge"}


def test_each_model_that_differs_is_said_with_what_named_it(
    clip: Path, inside: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(played) as server:
        options = ["--vision-lm", server.spec(), "--role", f"judge={server.spec()}"]
        assert run(["ask", str(clip), *QUESTION[:-1], *options]) == 0
    said = {line.split()[0]: line for line in capsys.readouterr().err.splitlines() if line}
    assert "embedded/fake" in said["model"]
    assert said["model"].endswith("(the default: no --lm was given)")
    assert said["looks"].endswith(f"server at {server.address} (--vision-lm)")
    assert said["judge"].endswith("(--role judge)")
    assert not {"answer:", "captioner", "verifier.check"} & said.keys()


@pytest.mark.parametrize("command", ["ask", "caption", "demo"])
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--lm", "opnai/x"], 2, "--lm: no backend is called 'opnai'"),
        (["--vision-lm", "openai/gpt-4o"], 2, "--vision-lm: openai/gpt-4o needs a key: set the environment variable"),
        (["--role", "jugde=ollama/x"], 2, "--role: no role is called 'jugde'; known: answer"),
        (["--profile", "none.toml"], 2, "profile none.toml: No such file"),
        (["--vision-lm", "SERVER"], 1, "--vision-lm: no model is called 'other' at http"),
    ],
)
def test_what_is_wrong_with_a_model_is_one_line_before_any_work(
    command: str,
    options: list[str],
    code: int,
    said: str,
    clip: Path,
    inside: FakeEngine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments: dict[str, list[Any]] = {"ask": [str(clip), *QUESTION], "caption": [str(clip)], "demo": []}
    with FakeServer(played) as server:
        given = [server.spec("other") if option == "SERVER" else option for option in options]
        assert run([command, *arguments[command], *given]) == code
        assert not server.requests
    assert not inside.requests
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error: {said}" in err
    assert len(err.strip().splitlines()) == 1
