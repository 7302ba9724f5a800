"""Backends that other installed packages bring along."""

from __future__ import annotations

import sys
from pathlib import Path

import dspy
import pytest

from videohv.errors import InputError, MissingExtra, ModelError
from videohv.lm import backends, lm_name, make_lm
from videohv.lm.backends import backend_names

CODE = """
import dspy
from videohv.lm.backends import backend

class Engine:
    def complete(self, request):
        raise NotImplementedError

{decorator}
def lab(spec, seed):
    return dspy.LM(f"lab/{{spec.model}}", engine=Engine())
"""


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    backend_names()
    monkeypatch.setattr(backends, "_backends", dict(backends._backends))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Put a distribution with an entry point on the path, as pip would."""

    def put(name: str, points: str, code: str) -> None:
        module = name.replace("-", "_")
        site = tmp_path / name
        info = site / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[videohv.backends]\n{points}\n", encoding="utf-8")
        (site / f"{module}.py").write_text(code, encoding="utf-8")
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, module, raising=False)

    return put


@pytest.mark.parametrize("decorator", ['@backend("my-lab")', ""])
def test_an_installed_backend_is_found_by_its_name(install, decorator: str) -> None:  # type: ignore[no-untyped-def]
    install("lab-one", "my-lab = lab_one:lab", CODE.format(decorator=decorator))
    assert "my-lab" in backend_names()
    assert "lab_one" not in sys.modules, "its code is not imported before it is named"
    lm = make_lm("my-lab/big")
    assert isinstance(lm, dspy.LM)
    assert lm_name(lm) == "lab/big"


def test_a_built_in_name_stays_with_the_built_in(install) -> None:  # type: ignore[no-untyped-def]
    install("lab-two", "ollama = lab_two:lab", CODE.format(decorator=""))
    assert lm_name(make_lm("ollama/x")) == "ollama/x"
    assert "lab_two" not in sys.modules


def test_two_packages_with_one_name_are_named(install) -> None:  # type: ignore[no-untyped-def]
    install("lab-three", "my-lab = lab_three:lab", CODE.format(decorator=""))
    install("lab-four", "my-lab = lab_four:lab", CODE.format(decorator=""))
    with pytest.raises(InputError, match="'my-lab' is brought along by lab-four and lab-three"):
        make_lm("my-lab/x")


def test_a_broken_one_is_named_and_hinders_no_other(install) -> None:  # type: ignore[no-untyped-def]
    install("lab-five", "my-lab = lab_five:lab", "import no_such_package")
    with pytest.raises(ModelError, match=r"'my-lab' of lab-five could not be loaded \(ModuleNotFoundError"):
        make_lm("my-lab/x")
    assert make_lm("ollama/x")


def test_one_that_asks_for_an_extra_says_so_itself(install) -> None:  # type: ignore[no-untyped-def]
    code = 'from videohv.errors import MissingExtra\nraise MissingExtra("tools", "lab", "the lab")'
    install("lab-six", "my-lab = lab_six:lab", code)
    with pytest.raises(MissingExtra, match="the lab needs"):
        make_lm("my-lab/x")
