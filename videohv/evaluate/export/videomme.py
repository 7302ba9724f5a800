"""Video-MME's result file: the authors' annotation file with a `response` for each question, a letter.

The form that `evaluation/eval_your_results.py` of BradyFU/Video-MME reads. Its releases differ in the names of other
fields (`duration` or `duration_category`, `options` or `choices`), so the annotation file is copied and only
`response` is put in. The script leaves a question without a letter out of its accuracy, and wants all 300 videos of
each duration that it is asked about.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from videohv.errors import InputError
from videohv.evaluate.export.formats import Answers, export_format
from videohv.types import letter


@export_format(
    "videomme",
    benchmark="videomme",
    suffix=".json",
    about="for Video-MME's evaluation script; needs --annotations",
    complete=False,
)
def write(answers: Answers) -> str:
    """The annotation file with responses; empty ones where there is no answer. Videos that were not asked are left out.

    Raises:
        InputError: If the annotation file is not given, cannot be read, or is not the one that the run was made from;
            if questions are not finished, or of some video only a part was asked.
    """
    if answers.annotations is None:
        raise InputError("the format videomme copies the annotation file: give it as --annotations FILE")
    if unfinished := [name for name, how in answers.without.items() if how == "not finished"]:
        raise InputError(f"{len(unfinished)} questions are not finished, such as {unfinished[0]}: finish the run first")
    asked, written, kept = set(answers.ids), set(), []
    for video in _read(answers.annotations):
        questions = video["questions"]
        ids = [str(question["question_id"]) for question in questions]
        if not asked.intersection(ids):
            continue
        if left := [name for name in ids if name not in asked]:
            raise InputError(
                f"question {left[0]} of video {video.get('video_id')} was not asked, but others of it were"
            )
        responses = (answers.given.get(name) for name in ids)
        kept.append(
            {
                **video,
                "questions": [
                    {**question, "response": letter(index) if index is not None else ""}
                    for question, index in zip(questions, responses, strict=True)
                ],
            }
        )
        written.update(ids)
    if absent := [name for name in answers.ids if name not in written]:
        raise InputError(f"{len(absent)} questions of the run are not in {answers.annotations}, such as {absent[0]}")
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        videos = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error})") from error
    if not isinstance(videos, list):
        raise InputError(f"{path} is not Video-MME's annotation file: a list of videos was expected")
    for number, video in enumerate(videos):
        questions = video.get("questions") if isinstance(video, dict) else None
        if not isinstance(questions, list) or not all(isinstance(q, dict) and "question_id" in q for q in questions):
            raise InputError(f"{path}, item {number}: a video with 'questions' that have a 'question_id' was expected")
    return videos
