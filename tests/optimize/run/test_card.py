from __future__ import annotations

from pathlib import Path

from tests.support.artifacts import a_compiled_program, an_artifact, scored
from videohv.compiled import read_artifact, write_artifact
from videohv.compiled.artifact import Cost
from videohv.optimize.run.card import card_of, limits, points, write_card
from videohv.types import Model


def test_the_card_has_what_a_reader_asks_for(tmp_path: Path) -> None:
    artifact = an_artifact(notes=("It likes kitchens.",))
    write_artifact(tmp_path / "judge-bootstrap.json", artifact)
    card = write_card(tmp_path / "judge-bootstrap.json", artifact).read_text(encoding="utf-8")
    assert card.startswith("# judge-bootstrap\n")
    assert "videohv ask VIDEO --program judge-bootstrap" in card
    for told in (
        "| accuracy | 40 | 20 | 40.0 % (25.0 to 55.0 %) | 50.0 % (35.0 to 65.0 %) | +10.0 points (-5.0 to +25.0) |",
        "| optimizers | bootstrap (demos=4, rounds=1); preset light |",
        "| data | egoschema:subset: 2 train, 1 dev, 40 test questions; partition abababababab",
        "| demonstrations | judge 2 |",
        "| cost | 1,234 calls, 567,890 tokens, 0.0000 $, 1:00:00 |",
        "| models | embedded/tiny for all |",
        "- It likes kitchens.",
        "tell apart programs that differ by more than about 15 points",
    ):
        assert told in card


def test_a_rival_is_asked_by_its_name() -> None:
    card = card_of(an_artifact(a_compiled_program("captions")))
    assert "videohv ask VIDEO --method captions --program judge-bootstrap" in card


def test_the_card_is_that_of_the_file(tmp_path: Path) -> None:
    artifact = an_artifact()
    write_artifact(tmp_path / "p.json", artifact)
    read = read_artifact(tmp_path / "p.json")
    assert read is not None
    assert card_of(read) == card_of(artifact)


def test_what_is_not_known_is_said_so_and_nothing_is_made_up() -> None:
    bare = an_artifact(scores=(), models=(), cost=Cost(), notes=())
    card = card_of(bare)
    assert "no recorded model" in card
    assert "| cost | price not known |" in card
    assert "## Figures" not in card
    assert not any("held-out" in limit for limit in limits(bare))


def test_models_are_named_with_their_roles_where_they_differ() -> None:
    models = (Model(role="judge", name="big/one"), Model(role="answer", name="small/one"))
    assert "| models | big/one for judge; small/one for answer |" in card_of(an_artifact(models=models))


def test_a_text_cannot_break_the_table() -> None:
    card = card_of(an_artifact(metric="a|b\nc", scores=(scored("a|b"),)))
    assert "| metric | a\\|b c |" in card
    assert "| a\\|b | 40 |" in card


def test_a_worse_program_reads_as_worse() -> None:
    assert points(scored(seed=0.5, compiled=0.4).difference).startswith("-10.0 points")
