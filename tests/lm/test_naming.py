"""The order in which models are named: command line, environment, profile, DSPy's configuration, the default."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path

import dspy
import pytest

from tests.support.engine import fake_lm
from videohv.errors import InputError
from videohv.lm.naming import Named, by_command_line, by_environment, name_models

SETTINGS = {
    "lm": ("--lm", "VIDEOHV_LM"),
    "vision_lm": ("--vision-lm", "VIDEOHV_VISION_LM"),
    "judge": ("--role judge", "VIDEOHV_ROLE_JUDGE"),
    "verifier.look": ("--role verifier.look", "VIDEOHV_ROLE_VERIFIER_LOOK"),
}


def found(named: tuple[Named, ...]) -> dict[str, tuple[str, str]]:
    return {one.setting: (str(one.spec), one.origin) for one in named}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "lab.toml"
    path.write_text(
        'lm = "p/lm"\nvision_lm = "p/vision_lm"\n[roles]\njudge = "p/judge"\nverifier.look = "p/verifier.look"\n',
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    "said", [set(c) for n in range(4) for c in itertools.combinations(["command", "environment", "profile"], n)]
)
def test_each_setting_by_itself_follows_the_order(
    setting: str, said: set[str], lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    option, variable = SETTINGS[setting]
    if "environment" in said:
        monkeypatch.setenv(variable, f"e/{setting}")
    spec = f"c/{setting}" if "command" in said else None
    with dspy.context(lm=fake_lm()[0]):
        named = found(
            name_models(
                spec if setting == "lm" else None,
                spec if setting == "vision_lm" else None,
                [f"{setting}={spec}"] if spec and setting not in ("lm", "vision_lm") else (),
                "lab.toml" if "profile" in said else None,
            )
        )
    if spec:
        assert named[setting] == (spec, option)
    elif "environment" in said:
        assert named[setting] == (f"e/{setting}", variable)
    elif "profile" in said:
        assert named[setting][0] == f"p/{setting}"
        assert named[setting][1].startswith("lab.toml, ")
    else:
        assert setting not in named
    for other in SETTINGS:
        if other != setting:
            assert (other in named) == ("profile" in said), "the other settings stay with whoever named them"


def test_the_embedded_default_comes_last_and_only_where_dspy_has_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(name_models()) == {"lm": ("embedded", "the default: no --lm was given")}
    assert found(name_models(roles=["judge=a/b"]))["lm"][0] == "embedded"
    with dspy.context(lm=fake_lm()[0]):
        assert name_models() == ()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    assert found(name_models())["lm"][0] == "embedded", "a key changes no model"


def test_the_profile_is_the_one_that_is_given_or_else_the_one_of_the_environment(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.with_name("other.toml").write_text('[n]\nlm = "o/n"\n', encoding="utf-8")
    monkeypatch.setenv("VIDEOHV_PROFILE", "other.toml#n")
    assert found(name_models())["lm"] == ("o/n", "other.toml#n, lm")
    assert found(name_models(profile="lab.toml"))["lm"] == ("p/lm", "lab.toml, lm")
    monkeypatch.setenv("VIDEOHV_PROFILE", " ")
    assert found(name_models())["lm"][0] == "embedded"


def test_variables_name_roles_and_families_and_an_empty_one_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEOHV_ROLE_VERIFIER", "a/family")
    monkeypatch.setenv("VIDEOHV_ROLE_VERIFIER_LOOK", "a/look")
    monkeypatch.setenv("VIDEOHV_ROLE_JUDGE", "")
    assert {one.setting for one in by_environment()} == {"verifier", "verifier.look"}
    monkeypatch.setenv("VIDEOHV_ROLE_JUGDE", "a/b")
    with pytest.raises(InputError, match=r"VIDEOHV_ROLE_JUGDE: no role is called 'jugde'; known: answer"):
        by_environment()


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (["judge"], r"--role judge: expected ROLE=SPEC"),
        (["=a/b"], "expected ROLE=SPEC"),
        (["judge="], "expected ROLE=SPEC"),
        (["jugde=a/b"], "--role: no role is called 'jugde'; known: .*judge"),
        (["lm=a/b"], "no role is called 'lm'"),
        (["judge=a/b", "judge=c/d"], "--role judge is given twice"),
        (["judge=a/b?x=1"], "--role judge: model 'a/b': no option is called 'x'"),
    ],
)
def test_a_wrong_role_option_is_said_in_one_line(roles: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        by_command_line(None, None, roles)


def test_a_key_in_the_place_of_a_model_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    for call in (
        lambda: by_command_line("sk-proj-GEHEIM0123456789", None),
        lambda: by_command_line(None, None, ["judge=sk-proj-GEHEIM0123456789"]),
        lambda: by_command_line(None, None, ["sk-proj-GEHEIM0123456789"]),
    ):
        with pytest.raises(InputError) as raised:
            call()
        assert "GEHEIM" not in str(raised.value)
    monkeypatch.setenv("VIDEOHV_LM", "sk-proj-GEHEIM0123456789")
    with pytest.raises(InputError, match=r"^VIDEOHV_LM: a key stands where a model belongs"):
        by_environment()


def test_names_travel_to_other_processes() -> None:
    named = by_command_line("openai-compatible/m?api_base=http://lab:8000&images=yes", None, ["judge=embedded"])
    assert pickle.loads(pickle.dumps(named)) == named
    for one in named:
        again = Named.model_validate(json.loads(one.model_dump_json()))
        assert again == one
        again.spec.only("api_base", "images")
