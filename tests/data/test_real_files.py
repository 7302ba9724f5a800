"""The real files, as their authors publish them: only where `VIDEOHV_DATA_ROOT` names the folder that has them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from videohv.data import CaptionLibrary, load_questions, overlap, partition

_NAMED = os.environ.get("VIDEOHV_DATA_ROOT", "")
ROOT = Path(_NAMED)

pytestmark = pytest.mark.skipif(not _NAMED, reason="VIDEOHV_DATA_ROOT does not name a folder with the real files")


@pytest.mark.parametrize(
    ("name", "questions", "labelled", "recordings", "duplicates"),
    [
        ("egoschema:subset", 500, 500, 347, 1),
        ("egoschema:full", 5031, 500, None, None),
        ("nextqa:val", 4996, 4996, 570, 3),
        ("nextgqa:val", 3358, 3358, None, None),
        ("intentqa:val", 2044, 2044, None, None),
        ("videomme:all", 2700, 2700, 900, 10),
        ("videomme:short", 900, 900, 300, None),
        ("videomme:medium", 900, 900, 300, None),
        ("videomme:long", 900, 900, 300, None),
    ],
)
def test_every_row_is_read(
    name: str, questions: int, labelled: int, recordings: int | None, duplicates: int | None
) -> None:
    data = load_questions(name, data_root=ROOT, strict=True)
    assert (len(data.questions), data.labelled) == (questions, labelled)
    assert data.problems == data.notes == ()
    if recordings is not None:
        assert len({question.recording for question in data.questions}) == recordings
    if duplicates is not None:
        assert sum(bool(question.duplicates) for question in data.questions) == duplicates


def test_egoschema() -> None:
    subset = load_questions("egoschema", data_root=ROOT).questions
    full = {question.id: question for question in load_questions("egoschema:full", data_root=ROOT).questions}
    equal = next(question for question in subset if question.id == "0d173aa3-9a94-4ba4-84bc-949d3254a63d")
    assert equal.duplicates == ((2, 4),)
    for question in subset:
        other = full[question.id]
        assert other.answer_index is not None
        assert question.is_right(question.options.index(other.options[other.answer_index]))
    clips: dict[str, int] = {}
    for entry in json.loads((ROOT / "egoschema/uid_to_ego4d.json").read_text()).values():
        clips[str(entry)] = clips.get(str(entry), 0) + 1
    assert sum(count > 1 for count in clips.values()) == 939
    made = partition(subset)
    assert all(made.part_of(question) for question in subset)


def test_nextgqa_spans() -> None:
    questions = load_questions("nextgqa", data_root=ROOT).questions
    assert all(question.spans for question in questions)
    assert sum(len(question.spans) > 1 for question in questions) == 339


def test_questions_that_benchmarks_share() -> None:
    known = load_questions("nextqa", data_root=ROOT).questions
    # Of NExT-GQA's questions, all of them NExT-QA's, one has another text in an option.
    assert len(overlap(load_questions("nextgqa", data_root=ROOT).questions, known)) == 3357
    assert len(overlap(load_questions("intentqa", data_root=ROOT).questions, known)) == 276


@pytest.mark.parametrize(
    ("file", "benchmark", "videos"),
    [("egoschema/lavila_subset.json", "egoschema", 500), ("nextqa/captions_cogagent_val.json", "nextqa", 570)],
)
def test_captions_of_every_question(file: str, benchmark: str, videos: int) -> None:
    library = CaptionLibrary.open(ROOT / file)
    assert len(library) == videos
    for video in {question.video for question in load_questions(benchmark, data_root=ROOT).questions}:
        assert library.captions(video)
