"""Every program that comes with the package has a card that is its own, and fits the present signatures."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from tests.support.artifacts import an_artifact
from videohv.compiled import load_program, program_hash, read_artifact, shipped, shipped_card, write_artifact
from videohv.optimize.run.card import card_of, write_card


def complaints(folder: Path) -> list[str]:
    """What is wrong with the programs and cards of a folder."""
    found = []
    for path in sorted(folder.glob("*.json")):
        artifact = read_artifact(path)
        if artifact is None:
            found.append(f"{path.name}: how it was made is not recorded")
            continue
        if artifact.name != path.stem:
            found.append(f"{path.name}: it calls itself {artifact.name!r}")
        if program_hash(load_program(path)) != artifact.program_hash:
            found.append(f"{path.name}: what is loaded is not what was recorded")
        if not artifact.scores:
            found.append(f"{path.name}: it has no score")
        card = path.with_suffix(".md")
        if not card.is_file():
            found.append(f"{path.name}: it has no card")
        elif not card.read_text(encoding="utf-8").startswith(card_of(artifact)):
            found.append(f"{card.name}: it is not the card of its program, followed by whatever else there is to say")
    programs = {path.stem for path in folder.glob("*.json")}
    found += [f"{path.name}: it is the card of nothing" for path in folder.glob("*.md") if path.stem not in programs]
    return sorted(found)


def test_what_is_shipped_is_in_order() -> None:
    with resources.as_file(resources.files("videohv.compiled")) as folder:
        assert complaints(folder) == []
        assert {path.stem for path in folder.glob("*.json")} == set(shipped())
    assert all(shipped_card(name) for name in shipped())


def test_what_is_not_in_order_would_be_noticed(tmp_path: Path) -> None:
    path = tmp_path / "judge-bootstrap.json"
    write_card(path, write_artifact(path, an_artifact()))
    assert complaints(tmp_path) == []
    with path.with_suffix(".md").open("a") as card:
        card.write("\n## Beside\n\nMade on a train.\n")
    assert complaints(tmp_path) == []
    write_artifact(path, an_artifact(seed=9))
    write_artifact(tmp_path / "bare.json", an_artifact(name="other", scores=()))
    (tmp_path / "alone.md").write_text("# alone\n")
    assert complaints(tmp_path) == [
        "alone.md: it is the card of nothing",
        "bare.json: it calls itself 'other'",
        "bare.json: it has no card",
        "bare.json: it has no score",
        "judge-bootstrap.md: it is not the card of its program, followed by whatever else there is to say",
    ]


@pytest.mark.parametrize("name", ["no-such-program", "../artifact", ""])
def test_a_name_that_is_not_shipped_has_no_card(name: str) -> None:
    assert shipped_card(name) == ""
