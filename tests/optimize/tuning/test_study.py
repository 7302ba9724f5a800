from __future__ import annotations

import sys
from pathlib import Path

import pytest

from videohv.errors import InputError, MissingExtra
from videohv.optimize.tuning.front import Tried
from videohv.optimize.tuning.space import Scalar, make_space
from videohv.optimize.tuning.study import Asked, Study
from videohv.types import Estimate

SPACE = make_space("videohv", ["rounds=1..4"], ["stretches", "stride", "regenerations"], captions=True, videos=False)
USUAL = {"rounds": 3, "looks": 2, "windows": 3, "prune_below": 0.1}


def opened(folder: Path, seed: int = 0) -> Study:
    return Study(folder / "study.sqlite3", SPACE, seed, USUAL)


def outcome(study: Study, asked: Asked) -> Tried:
    value = 0.2 + 0.1 * float(asked.settings["rounds"])
    return Tried(
        number=len(study.tried) + 1,
        settings=asked.settings,
        accuracy=Estimate(value=value, low=value, high=value, n=1, clusters=1),
        tokens=1000.0 * float(asked.settings["rounds"]) * float(asked.settings["looks"]),
    )


def advance(study: Study, count: int) -> list[dict[str, Scalar]]:
    for _ in range(count):
        asked = study.ask()
        assert asked is not None
        study.tell(asked, outcome(study, asked))
    return [one.settings for one in study.tried]


def test_the_usual_settings_are_tried_first_and_none_twice(tmp_path: Path) -> None:
    settings = advance(opened(tmp_path), 12)
    assert settings[0] == USUAL
    assert len({tuple(one.values()) for one in settings}) == 12


def test_it_goes_on_as_if_it_had_never_been_interrupted(tmp_path: Path) -> None:
    for name in ("whole", "halves", "other"):
        (tmp_path / name).mkdir()
    whole = advance(opened(tmp_path / "whole"), 13)
    assert advance(opened(tmp_path / "other", seed=1), 4) != whole[:4]
    advance(opened(tmp_path / "halves"), 5)
    killed = opened(tmp_path / "halves").ask()
    assert killed is not None
    again = opened(tmp_path / "halves")
    assert [one.settings for one in again.tried] == whole[:5]
    asked = again.ask()
    assert asked is not None
    assert asked.settings == killed.settings == whole[5]
    again.tell(asked, outcome(again, asked))
    assert advance(opened(tmp_path / "halves"), 7) == whole


def test_what_is_postponed_comes_next(tmp_path: Path) -> None:
    study = opened(tmp_path)
    advance(study, 3)
    asked = study.ask()
    assert asked is not None
    study.postpone(asked)
    again = opened(tmp_path).ask()
    assert again is not None
    assert again.settings == asked.settings


def test_a_trial_that_failed_is_kept_and_not_tried_again(tmp_path: Path) -> None:
    study = opened(tmp_path)
    asked = study.ask()
    assert asked is not None
    study.tell(asked, Tried(number=1, settings=asked.settings, why="it failed"))
    again = opened(tmp_path)
    assert [one.why for one in again.tried] == ["it failed"]
    assert all(settings != asked.settings for settings in advance(again, 10)[1:])


def test_a_small_space_comes_to_its_end(tmp_path: Path) -> None:
    space = make_space("captions", ["stretches=1..3"], ["stride"], captions=True, videos=False)
    study = Study(tmp_path / "s.sqlite3", space, 0, {"stretches": 8})
    count = 0
    while (asked := study.ask()) is not None:
        count += 1
        tried = Tried(
            number=count,
            settings=asked.settings,
            accuracy=Estimate(value=0.5, low=0.4, high=0.6, n=9, clusters=9),
            tokens=10.0,
        )
        study.tell(asked, tried)
    assert sorted(int(one.settings["stretches"]) for one in study.tried) == [1, 2, 3]


def test_a_space_that_is_nearly_known_is_filled_by_chance(tmp_path: Path) -> None:
    space = make_space("captions", ["stretches=1..12"], ["stride"], captions=True, videos=False)
    study = Study(tmp_path / "s.sqlite3", space, 0, {"stretches": 4})
    for count in range(1, 13):
        asked = study.ask()
        assert asked is not None
        best = float(asked.settings["stretches"] == 4)
        about = Estimate(value=best, low=best, high=best, n=9, clusters=9)
        study.tell(asked, Tried(number=count, settings=asked.settings, accuracy=about, tokens=10.0))
    assert sorted(int(one.settings["stretches"]) for one in study.tried) == list(range(1, 13))
    assert study.ask() is None


def test_a_file_that_is_no_study_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.sqlite3").write_text("not a database, but long enough to be looked at by whoever opens it")
    with pytest.raises(InputError, match=r"study\.sqlite3 is no study that can be used"):
        opened(tmp_path)


def test_without_optuna_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"videohv\[optuna\]"):
        opened(tmp_path)


def test_the_command_line_needs_no_optuna() -> None:
    import subprocess

    code = "import sys, videohv.cli, videohv.optimize.tune; print('optuna' in sys.modules, 'sqlalchemy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
