"""Each benchmark gives the same questions from the files of its authors and from the Hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.published import HUB, hub_of, next_rows, put, put_all
from videohv.data import benchmark_cards, load_questions
from videohv.errors import InputError
from videohv.types import Question, Window


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return put_all(tmp_path / "root")


ON_HUB = [(card.name, split.name) for card in benchmark_cards() for split in card.splits if split.hub is not None]
OFF_HUB = [
    (card.name, split.name)
    for card in benchmark_cards()
    for split in card.splits
    if split.hub is None and not card.own_files
]


@pytest.mark.parametrize(("name", "split"), [pair for pair in ON_HUB if "+" not in pair[1]])
def test_files_and_hub_give_the_same_questions(root: Path, name: str, split: str) -> None:
    files = load_questions(f"{name}:{split}", data_root=root, strict=True)
    hub = load_questions(f"{name}:{split}", data_root=root, hub=True, loader=hub_of(HUB), strict=True)
    assert files.questions == hub.questions
    assert files.content_hash == hub.content_hash
    assert files.problems == hub.problems == ()
    assert files.source != hub.source
    assert len(files.questions) > 0


@pytest.mark.parametrize(("name", "split"), OFF_HUB)
def test_what_the_hub_does_not_have(root: Path, name: str, split: str) -> None:
    assert load_questions(f"{name}:{split}", data_root=root, strict=True).questions
    with pytest.raises(InputError, match=f"the Hub has no {name}:{split}: give its files"):
        load_questions(f"{name}:{split}", data_root=root, hub=True, loader=hub_of(HUB))


def test_the_hub_alone_is_enough(tmp_path: Path) -> None:
    """The recordings that EgoSchema's clips were cut from are the one thing that only a file has."""
    alone = load_questions("egoschema", hub=True, loader=hub_of(HUB))
    assert [q.origin for q in alone.questions] == ["", "", ""]
    assert alone.source == ("lmms-lab/egoschema [Subset] test",)
    full = load_questions("egoschema:full", hub=True, loader=hub_of(HUB))
    assert (len(full.questions), full.labelled) == (3, 0)


def test_egoschema(root: Path) -> None:
    data = load_questions("egoschema", data_root=root)
    assert (data.name, data.labelled) == ("egoschema:subset", 3)
    assert data.questions[1] == Question(
        text="Why does C stop?",
        options=("to rest", "to eat", "to call", "to leave", "to rest"),
        id="uid-2",
        video="uid-2",
        answer_index=4,
        origin="film-1",
    )
    assert data.source == ("uid_to_ego4d.json", "subset_anno.json")
    assert load_questions("egoschema:full", data_root=root).labelled == 3


@pytest.mark.parametrize("left", [("subset_anno",), ("questions", "subset_answers")])
def test_the_subset_of_egoschema_from_either_pair_of_files(root: Path, left: tuple[str, ...]) -> None:
    whole = load_questions("egoschema", data_root=root)
    for name in {"subset_anno", "questions", "subset_answers"} - set(left):
        (root / f"egoschema/{name}.json").unlink()
    assert load_questions("egoschema", data_root=root).content_hash == whole.content_hash


def test_nextqa_and_its_relatives(root: Path) -> None:
    data = load_questions("nextqa:val", data_root=root)
    assert [q.id for q in data.questions] == ["100_0", "101_1", "100_2"]
    assert data.questions[1].text == "what did the dog do before, at last"
    assert (data.questions[1].type, data.questions[1].answer_index) == ("TP", 4)
    assert (data.card.group_of("TP"), data.card.reported_as("TP"), data.card.reported_as("CW")) == (
        "temporal",
        "TN",
        "CW",
    )
    assert [q.id for q in load_questions("nextqa:atp-hard", data_root=root).questions] == ["100_0", "100_2"]
    (root / "nextqa/atp-hard-ct4.txt").write_text("101_1\n\n")
    assert [q.id for q in load_questions("nextqa:atp-hard", data_root=root).questions] == ["101_1"]
    intent = load_questions("intentqa:test", data_root=root)
    assert [q.type for q in intent.questions] == ["CW", "TP"]
    assert intent.card.group_of("TP") == "before and after"


def test_nextqa_in_the_layout_of_its_repository(tmp_path: Path) -> None:
    put(tmp_path / "dataset/nextqa/val.csv", next_rows())
    assert len(load_questions("nextqa", data_root=tmp_path).questions) == 3


def test_nextgqa_has_spans_and_only_questions_with_spans(root: Path) -> None:
    data = load_questions("nextgqa:val", data_root=root)
    assert [q.id for q in data.questions] == ["100_0", "100_2"]
    assert data.questions[1].spans == (Window(start=0, end=1), Window(start=3, end=9.5))
    assert data.questions[1].answer_index == 3
    assert "1 questions without an annotated span are left out, as the benchmark does" in data.notes
    assert data.problems == ()
    assert data.card.spans


def test_videomme(root: Path) -> None:
    data = load_questions("videomme", data_root=root)
    assert data.name == "videomme:long"
    assert {q.video for q in data.questions} == {"603"}
    assert [len(load_questions(f"videomme:{s}", data_root=root).questions) for s in ("short", "all")] == [3, 9]
    question = data.questions[1]
    assert question.options == ("One.", "Two.", "Three.", "Two.")
    assert question.facets == (
        ("duration", "long"),
        ("domain", "Knowledge"),
        ("sub category", "Biology"),
        ("task type", "Counting Problem"),
    )
    assert tuple(name for name, _ in question.facets) == data.card.facets
    hub = load_questions("videomme", hub=True, loader=hub_of(HUB))
    assert hub.names_of(question) == ("603", "tube603")
    assert data.names_of(question) == ("603",)


def test_longvideobench(root: Path) -> None:
    question = load_questions("longvideobench", data_root=root).questions[0]
    assert question.options == ("red", "blue", "green", "white")
    assert (question.id, question.video, question.answer_index, question.type) == ("vid_0", "vid", 3, "S2O")
    assert question.facets == (("duration", "15"), ("topic", "KG"))


def test_mlvu(root: Path) -> None:
    data = load_questions("mlvu", data_root=root)
    assert len(data.questions) == 14
    assert [q.id for q in data.questions[:3]] == ["plotQA_0", "plotQA_1", "findNeedle_0"]
    assert (data.questions[0].video, data.questions[0].answer_index) == ("plotQA_0", 2)
    assert {data.card.group_of(q.type) for q in data.questions} == {"holistic", "single detail", "multi detail"}


def test_lvbench(root: Path) -> None:
    data = load_questions("lvbench", data_root=root)
    question = data.questions[0]
    assert question.text == "What is shown?"
    assert question.options == ("a ship", "a (C) sign", "a horse", "nothing")
    assert (question.video, question.answer_index, question.type) == ("tube1", 1, "event understanding")
    assert question.facets == (("ability", "event understanding"), ("ability", "reasoning"), ("domain", "sport"))
    assert [q.spans for q in data.questions] == [
        (Window(start=70, end=85),),
        (Window(start=3605, end=3609),),
        (),
    ]


@pytest.mark.parametrize("card", benchmark_cards(), ids=lambda card: card.name)
def test_cards_hold_together(card) -> None:  # type: ignore[no-untyped-def]
    codes = {code for code, _ in card.types}
    assert card.title
    assert card.default_split == card.splits[0].name
    assert {code for group in card.groups for code in group.types} <= codes
    assert all(code in codes and other in codes for code, other in card.counts_as)
    assert card.own_files or (card.files and card.homepage and card.paper and card.licence)
    assert {split for file in card.files for split in file.splits} <= {split.name for split in card.splits}
