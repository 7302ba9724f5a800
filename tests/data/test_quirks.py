"""What bites in real releases, each on rows of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.published import (
    EGO,
    ego_hub,
    ego_official,
    ego_recordings,
    hub_of,
    lettered,
    mme_videos,
    next_rows,
    put,
    put_ego,
    put_next,
)
from videohv.data import load_questions, partition
from videohv.data.partition import overlap
from videohv.data.row import without_prefixes
from videohv.errors import InputError


def test_clips_of_one_recording_stay_together(tmp_path: Path) -> None:
    data = load_questions("egoschema", data_root=put_ego(tmp_path))
    assert [q.recording for q in data.questions] == ["film-1", "film-1", "film-2"]
    for seed in range(20):
        made = partition(data.questions, seed=seed)
        assert made.part_of(data.questions[0]) == made.part_of(data.questions[1])


def test_a_clip_that_the_recordings_do_not_have_is_left_out(tmp_path: Path) -> None:
    put_ego(tmp_path)
    put(tmp_path / "egoschema/uid_to_ego4d.json", {k: v for k, v in ego_recordings().items() if k != "uid-2"})
    data = load_questions("egoschema", data_root=tmp_path)
    assert [q.id for q in data.questions] == ["uid-1", "uid-3"]
    assert "uid_to_ego4d.json" in data.problems[0].why


def test_equal_options_are_legal_and_either_is_right(tmp_path: Path) -> None:
    question = load_questions("egoschema", data_root=put_ego(tmp_path)).questions[1]
    assert question.duplicates == ((0, 4),)
    assert question.answer_index == 4
    assert question.is_right(0)
    put(tmp_path / "egoschema/subset_anno.json", [ego_official()[0] | {f"option {i}": "same" for i in range(5)}])
    question = load_questions("egoschema", data_root=tmp_path).questions[0]
    assert question.duplicates == ((0, 1, 2, 3, 4),)
    assert all(question.is_right(i) for i in range(5))


def test_where_the_letter_decides_nothing_the_text_does(tmp_path: Path) -> None:
    put(tmp_path / "videomme/videomme_annotations.json", mme_videos())
    questions = load_questions("videomme", data_root=tmp_path).questions
    assert questions[1].answer_index == 1
    assert questions[1].is_right(3)


@pytest.mark.parametrize("gone", ["subset_anno", "subset_answers"])
def test_the_order_of_options_differs_between_releases(tmp_path: Path, gone: str) -> None:
    """The label goes with the option's text: the Hub's full set has another order than the file with the answers."""
    put_ego(tmp_path)
    (tmp_path / f"egoschema/{gone}.json").unlink()
    rows = [
        row | {"option": lettered(options[::-1])}
        for row, (_, _, options, _, _) in zip(ego_hub(answers=False), EGO, strict=True)
    ]
    hub = hub_of({"lmms-lab/egoschema [MC] test": rows})
    data = load_questions("egoschema:full", data_root=tmp_path, hub=True, loader=hub)
    for question, (_, _, options, truth, _) in zip(data.questions, EGO, strict=True):
        assert question.answer_index is not None
        assert question.options[question.answer_index] == options[truth]
    assert data.questions[0].answer_index == 3


def test_a_label_whose_option_is_gone_is_reported(tmp_path: Path) -> None:
    put_ego(tmp_path)
    rows = ego_hub(False)
    rows[0]["option"] = ["A. swims", *rows[0]["option"][1:]]
    rows[0]["option"][1] = "B. flies"
    data = load_questions(
        "egoschema:full", data_root=tmp_path, hub=True, loader=hub_of({"lmms-lab/egoschema [MC] test": rows})
    )
    assert [q.id for q in data.questions] == ["uid-2", "uid-3"]
    assert data.problems[0].why == "'cleans dishes' is not among the options"


def test_prefixes_go_only_where_every_option_has_its_own() -> None:
    assert without_prefixes(["A. one", "B. two"]) == ("one", "two")
    assert without_prefixes(["(A) one", "(B) two", "C) three", "D: four"]) == ("one", "two", "three", "four")
    for kept in (["A. one", "two"], ["B. one", "A. two"], ["A.M. noon", "B. two"], ["one", "B. two"], []):
        assert without_prefixes(kept) == tuple(kept)
    assert without_prefixes(["A. ", "B."]) == ("", "")


def test_files_without_prefixes_keep_texts_that_look_like_them(tmp_path: Path) -> None:
    options = ["A. Lincoln", "B. Obama", "C. Dion", "D. Bowie", "E. Zola"]
    row = ego_official()[0] | {f"option {i}": option for i, option in enumerate(options)}
    put(tmp_path / "egoschema/subset_anno.json", [row])
    assert load_questions("egoschema", data_root=tmp_path).questions[0].options == tuple(options)


def test_the_full_set_is_unlabelled_but_for_the_public_ones(tmp_path: Path) -> None:
    put_ego(tmp_path)
    put(tmp_path / "egoschema/subset_answers.json", {"uid-2": 4})
    data = load_questions("egoschema:full", data_root=tmp_path, strict=True)
    assert [q.answer_index for q in data.questions] == [None, 4, None]
    (tmp_path / "egoschema/subset_answers.json").unlink()
    (tmp_path / "egoschema/subset_anno.json").unlink()
    assert load_questions("egoschema:full", data_root=tmp_path).labelled == 0


def test_a_subset_that_lost_a_row_says_so(tmp_path: Path) -> None:
    data = load_questions("egoschema", data_root=put_ego(tmp_path))
    assert data.notes == ("3 rows; the published egoschema:subset has 500",)


def test_an_answer_that_is_not_among_the_options(tmp_path: Path) -> None:
    put_next(tmp_path)
    rows = next_rows("video_id", text_answers=True)
    put(tmp_path / "nextgqa/val.csv", [rows[0] | {"answer": "@"}, rows[2]])
    data = load_questions("nextgqa", data_root=tmp_path)
    assert [q.id for q in data.questions] == ["100_2"]
    assert (data.problems[0].field, data.problems[0].why) == ("answer", "'@' is not among the options")


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ([[5, 2]], "[5, 2] ends before it starts"),
        ([[-1, 2]], "[-1, 2] is not a span of seconds from 0 on"),
        ([[0, 1], [1]], "[1] is not a [start, end] pair"),
        ([["0", "1"]], "['0', '1'] are not numbers of seconds"),
        ({}, "is not a list of [start, end] pairs"),
    ],
)
def test_spans_that_are_none(tmp_path: Path, spans: object, why: str) -> None:
    put_next(tmp_path)
    location = {"0": spans, "2": [[0, 1]]}
    put(tmp_path / "nextgqa/gsub_val.json", {"100": {"duration": 3, "fps": 1, "location": location}})
    data = load_questions("nextgqa", data_root=tmp_path)
    assert [q.id for q in data.questions] == ["100_2"]
    assert (data.problems[0].field, data.problems[0].why) == ("spans", why)


def test_a_video_that_the_map_does_not_have(tmp_path: Path) -> None:
    put_next(tmp_path)
    put(tmp_path / "nextqa/map_vid_vidorID.json", {"100": "0101/100"})
    data = load_questions("nextqa", data_root=tmp_path)
    assert [q.id for q in data.questions] == ["100_0", "100_2"]
    assert (data.problems[0].field, data.problems[0].question_id) == ("video", "101_1")


def test_broken_json_names_the_file(tmp_path: Path) -> None:
    put_ego(tmp_path)
    put(tmp_path / "egoschema/uid_to_ego4d.json", '{"uid-1": {"video_uid": "film", }')
    with pytest.raises(InputError, match=r"uid_to_ego4d\.json is not JSON"):
        load_questions("egoschema", data_root=tmp_path)


def test_two_benchmarks_that_share_questions(tmp_path: Path) -> None:
    put_next(tmp_path)
    next_val = load_questions("nextqa:val", data_root=tmp_path).questions
    rows = next_rows("video_id")
    moved = rows[0] | {
        "question": "Why did  the boy RUN",
        "a0": rows[0]["a1"],
        "a1": rows[0]["a0"],
        "answer": 1,
        "qid": 77,
    }
    put(tmp_path / "intentqa/test.csv", [moved, rows[1] | {"a2": "another"}])
    intent_test = load_questions("intentqa:test", data_root=tmp_path).questions
    assert overlap(intent_test, next_val) == (("100_77", "100_0"),)
    assert overlap(next_val, next_val) == tuple((q.id, q.id) for q in next_val)
