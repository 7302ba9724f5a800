from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.engine import fake_lm
from tests.support.server import FakeServer
from videohv import VideoHV, configure
from videohv.errors import InputError, MissingExtra, ModelError
from videohv.lm import backends, team
from videohv.lm.naming import by_command_line, name_models
from videohv.lm.probe import known_of
from videohv.lm.roles import assignments, choices, eyes, lm_for
from videohv.lm.team import found_models, make_team

ASKED: dict[str, Any] = {"question": "q", "options": ["a", "b"], "captions": ["x", "y"]}


@pytest.fixture
def configured() -> Iterator[None]:
    """What is configured in a test goes with it."""
    names = ("lm", "videohv_vision_lm", "videohv_role_lms", "videohv_lm_origins")
    before = {name: dspy.settings.get(name) for name in names}
    dspy.configure(**dict.fromkeys(names))
    yield
    dspy.configure(**before)


def origins() -> dict[str, str]:
    return {choice.role: choice.origin for choice in choices()}


def test_equal_specs_share_one_model() -> None:
    made = make_team(by_command_line("ollama/a", "ollama/b", ["judge=ollama/a", "answer=ollama/a?seed=1"]), seed=7)
    assert made.lms["judge"] is made.lms["lm"]
    assert len({id(lm) for lm in made.lms.values()}) == 3
    assert made.lms["lm"].kwargs["seed"] == 7
    assert made.lms["answer"].kwargs["seed"] == 1
    assert set(made.roles) == {"judge", "answer"}


def test_a_missing_key_shows_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.lm.backend_embedded.pull", lambda *_: pytest.fail("fetched"))
    with pytest.raises(InputError, match=r"^--role judge: openai/gpt-4o needs a key: set the environment variable"):
        make_team(by_command_line("embedded", None, ["judge=openai/gpt-4o"]))
    with pytest.raises(ModelError, match=r"^--lm: .*\.gguf: no such file"):
        make_team(by_command_line("embedded/nowhere.gguf", None))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"videohv\[local\]"):
        make_team(by_command_line("embedded", None))


def test_a_tolerant_team_has_stand_ins_that_say_why() -> None:
    made = make_team(by_command_line("opnai/x", None, ["judge=ollama/a"]), tolerant=True, fetch=False)
    assert known_of(made.lms["lm"]).problems[0].startswith("no backend is called 'opnai'")
    assert known_of(made.lms["judge"]).problems == ()
    with dspy.context(lm=None), pytest.raises(dspy.LMError, match="no backend is called 'opnai'"):
        made.lms["lm"]("hello")


def test_without_fetching_an_embedded_model_is_only_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.lm.backend_embedded.pull", lambda *_: pytest.fail("fetched"))
    made = make_team(name_models(), fetch=False)
    assert known_of(made.lms["lm"]).problems == (
        "not in the cache: fetch it with  videohv models pull qwen2.5-coder-1.5b  (1.12 GB)",
    )


def test_dspys_own_configuration_is_enough(configured: None) -> None:
    lm, engine = fake_lm()
    dspy.configure(lm=lm)
    assert VideoHV()(**ASKED).answer == "a"
    assert engine.requests
    assert set(origins().values()) == {"dspy.configure"}


def test_configure_says_the_same_as_options_do(
    configured: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = tmp_path / "lab.toml"
    profile.write_text('[x]\nlm = "ollama/profile"\n[x.roles]\nthinker = "ollama/t"\n', encoding="utf-8")
    monkeypatch.setenv("VIDEOHV_ROLE_SUMMARY", "ollama/s")
    monkeypatch.setenv("VIDEOHV_ROLE_JUDGE", "ollama/j")
    own, _ = fake_lm()
    configure(roles={"judge": own, "a.b": "ollama/ab"}, vision_lm="ollama/v?images=yes", profile=f"{profile}#x")
    assert lm_for("judge") is own
    found = {choice.role: (choice.lm.partition(",")[0], choice.origin) for choice in choices()}
    assert found["judge"] == ("fake/model", "videohv.configure")
    assert found["summary"] == ("ollama/s", "VIDEOHV_ROLE_SUMMARY")
    assert found["thinker"] == ("ollama/t", f"{profile}#x, role thinker")
    assert found["answer"] == ("ollama/profile", f"{profile}#x, lm")
    assert found["captioner"] == ("ollama/v", "videohv.configure")
    assert str(getattr(lm_for("a.b"), "model", "")).endswith("/ab")


def test_configure_leaves_what_it_is_not_told(configured: None) -> None:
    first, judge, vision = fake_lm()[0], fake_lm()[0], fake_lm()[0]
    configure(first, vision, roles={"judge": judge})
    configure(roles={"answer": vision})
    assert (lm_for("judge"), lm_for("answer"), lm_for("summary"), eyes(None)) == (judge, vision, first, vision)


def test_the_environment_counts_more_than_what_was_configured_before(
    configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    dspy.configure(lm=fake_lm()[0])
    monkeypatch.setenv("VIDEOHV_LM", "ollama/e")
    configure()
    assert origins()["answer"] == "VIDEOHV_LM"


@pytest.mark.parametrize("role", ["", "lm", "vision_lm", "a..b"])
def test_configure_takes_any_role_but_none_that_can_not_be_one(role: str) -> None:
    with pytest.raises(InputError, match="is no role"):
        configure(roles={role: "ollama/a"})


def test_a_program_without_any_model_finds_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    general, general_engine = fake_lm()
    judge, judge_engine = fake_lm()
    lms = {"ollama/general": general, "ollama/judge": judge}
    monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: lms[str(spec)])
    monkeypatch.setenv("VIDEOHV_LM", "ollama/general")
    monkeypatch.setenv("VIDEOHV_ROLE_JUDGE", "ollama/judge")
    with found_models():
        assert lm_for("judge") is judge
    assert VideoHV()(**ASKED).answer == "a"
    assert general_engine.requests
    assert set(judge_engine.roles) == {"judge"}
    assert "judge" not in general_engine.roles
    assert dspy.settings.lm is None, "nothing was set for good"


def test_a_program_without_any_model_and_no_name_gets_the_embedded_default(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, _ = fake_lm()
    monkeypatch.setattr(backends, "_default", [lm])
    monkeypatch.setenv("VIDEOHV_ROLE_JUDGE", "ollama/j")
    with found_models():
        assert lm_for("summary") is lm
        assert origins()["summary"] == "the default: no --lm was given"
        first = lm_for("judge")
    with found_models():
        assert lm_for("judge") is first, "made once"


def test_a_team_works_over_http_with_a_model_for_each_role() -> None:
    with FakeServer(lambda r: r.model) as a, FakeServer(lambda r: f"other {r.model}") as b:
        made = make_team(by_command_line(a.spec("m"), None, ["judge=" + b.spec("m")]))
        with made.at_work():
            said = {choice.role: lm("who?") for choice, lm in assignments(["judge", "answer"]) if lm is not None}
    assert said == {"judge": ["other m"], "answer": ["m"]}


def test_configure_knows_the_steps_of_every_method_before_one_was_used(tmp_path: Path) -> None:
    profile = tmp_path / "lab.toml"
    profile.write_text('[roles]\ndirect.answer = "ollama/a"\n', encoding="utf-8")
    code = f"""
import videohv
videohv.configure(lm="ollama/x", profile={str(profile)!r})
from videohv.lm.roles import choices
print([(c.lm.partition(",")[0], c.origin) for c in choices(["direct.answer", "retrieval.seek"])])
"""
    environment = {**os.environ, "VIDEOHV_ROLE_RETRIEVAL_SEEK": "ollama/b"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "ollama/a" in ran.stdout
    assert "('ollama/b', 'VIDEOHV_ROLE_RETRIEVAL_SEEK')" in ran.stdout
