from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.answers import ignores_schemas, keeps_schemas
from tests.support.engine import fake_lm
from tests.support.server import Failure, FakeServer, Fault
from videohv.cli import machine, run
from videohv.lm import fetch
from videohv.lm.roles import role_names


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out, err = capsys.readouterr()
    assert err == ""
    found: dict[str, Any] = json.loads(out)
    return found


def test_it_says_what_each_step_uses_and_asks_each_model_once(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(keeps_schemas, ("text", "vision"), {"max_model_len": 4096}) as server:
        options = ["--lm", server.spec("text"), "--vision-lm", server.spec("vision"), "--role", "judge=embedded"]
        assert run(["doctor", *options[:4], "--role", f"judge={server.spec('text')}"]) == 0
        assert [request.model for request in server.requests] == ["text", "text", "vision", "vision"]
    shown = capsys.readouterr().out
    lines = {line.split()[0]: line for line in shown.splitlines() if line.startswith("  ")}
    assert set(role_names()) <= set(lines)
    assert lines["judge"].endswith("--role judge")
    assert lines["summary"].endswith("--lm")
    assert "openai-compatible/vision" in lines["captioner"]
    assert lines["captioner"].endswith("--vision-lm")
    assert "schema honoured, " in shown
    assert "images      seen, " in shown
    assert "context     4096 tokens" in shown
    assert "price       not known" in shown
    assert "hint        context=4096 in its spec" in shown
    assert "PyAV" in shown
    assert shown.splitlines()[-1] == "ready: a run would work"


def test_a_schema_that_is_only_sent_is_told_from_one_that_is_honoured(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(ignores_schemas) as server:
        assert run(["doctor", "--lm", server.spec(images="no"), "--json"]) == 0
    (model,) = report(capsys)["models"]
    assert model["structured"] == "schema sent but not kept to; readable all the same"
    assert model["images"] is None


@pytest.mark.parametrize("option", ["--vision-lm", "--role verifier.look=", "--role captioner="])
def test_a_model_that_has_to_look_and_cannot_see_is_not_ready(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(keeps_schemas) as able, FakeServer(ignores_schemas, ("blind",)) as unable:
        name, _, role = option.partition(" ")
        assert run(["doctor", "--json", "--lm", able.spec(), name, role + unable.spec("blind")]) == 1
    found = report(capsys)
    assert found["problems"] == ["openai-compatible/blind: it could not tell what a picture shows"]
    assert found["ready"] is False


def test_with_nothing_said_and_nothing_fetched_it_names_the_command_and_fetches_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "fetch", lambda *_: pytest.fail("fetched"))
    for options in ([], ["--offline"]):
        assert run(["doctor", *options]) == 1
        out = capsys.readouterr().out
        assert "the default: no --lm was given" in out
        assert "not in the cache: fetch it with  videohv models pull qwen2.5-coder-1.5b  (1.12 GB)" in out


def test_offline_only_resolves(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(lambda _: Fault(Failure.SERVER_ERROR)) as server:
        assert run(["doctor", "--offline", "--lm", server.spec("whatever")]) == 0
        assert server.requests == []
        assert server.lists == []
    assert capsys.readouterr().out.splitlines()[-1] == "ready, as far as names go"


@pytest.mark.parametrize(
    ("lm", "said"),
    [
        ("openai/gpt-4o", "openai/gpt-4o needs a key: set the environment variable OPENAI_API_KEY"),
        ("opnai/gpt-4o", "opnai/gpt-4o: no backend is called 'opnai'"),
        ("vllm/x?api_base=http://127.0.0.1:9", "vllm/x: LMTransportError"),
    ],
)
def test_what_would_not_work_is_said_beside_what_would(lm: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(keeps_schemas) as server:
        assert run(["doctor", "--lm", server.spec(), "--role", f"judge={lm}"]) == 1
    out = capsys.readouterr().out
    assert f"not ready: {said}" in out
    assert "schema honoured" in out, "the other model was asked all the same"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--role", "jugde=a/b"], "no role is called 'jugde'; known: answer"),
        (["--lm", "a/b?nonsense=1"], "no option is called 'nonsense'"),
        (["--profile", "nowhere.toml"], "profile nowhere.toml: No such file"),
        (["--nonsense"], "nonsense"),
    ],
)
def test_what_cannot_be_understood_is_a_usage_error(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", *options]) == 2
    assert said in capsys.readouterr().err


def test_it_reads_environment_and_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lab.toml").write_text('[a]\nlm = "ollama/p"\n[a.roles]\nanswer = "ollama/pa"\n', encoding="utf-8")
    monkeypatch.setenv("VIDEOHV_ROLE_THINKER", "ollama/t")
    assert run(["doctor", "--offline", "--json", "--profile", "lab.toml#a"]) == 0
    roles = {row["role"]: (row["lm"].partition(",")[0], row["origin"]) for row in report(capsys)["roles"]}
    assert roles["answer"] == ("ollama/pa", "lab.toml#a, role answer")
    assert roles["thinker"] == ("ollama/t", "VIDEOHV_ROLE_THINKER")
    assert roles["summary"] == ("ollama/p", "lab.toml#a, lm")


def test_a_model_that_dspy_has_already_is_looked_at_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    lm, engine = fake_lm()
    with dspy.context(lm=lm):
        assert run(["doctor", "--offline", "--json"]) == 0
    assert {row["origin"] for row in report(capsys)["roles"]} == {"dspy.configure"}
    assert engine.requests == []


def test_without_detectors_and_without_eyes_nothing_can_be_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "DETECTORS", ("no_such_package",))
    assert run(["doctor", "--offline", "--lm", "ollama/x"]) == 1
    assert "the detectors are not installed: name a --vision-lm, or  pip install 'videohv[local]'" in (
        capsys.readouterr().out
    )
    assert run(["doctor", "--offline", "--lm", "ollama/x?images=yes"]) == 0


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    assert machine.size_of(tmp_path / "none") == 0
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"12345")
    (tmp_path / "c").write_bytes(b"123")
    (tmp_path / "d").symlink_to(tmp_path / "gone")
    assert machine.size_of(tmp_path) >= 8
