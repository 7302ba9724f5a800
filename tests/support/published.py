"""Small benchmarks of our own in the forms in which the real ones are published: as files, and as rows of the Hub."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def put(path: Path, content: Any) -> Path:
    """Write a text as it is, a list of rows as CSV or JSON Lines by the name's ending, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(content[0]))
            writer.writeheader()
            writer.writerows(content)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    else:
        path.write_text(json.dumps(content), encoding="utf-8")
    return path


def lettered(options: Iterable[str], form: str = "{}. ") -> list[str]:
    """Options with their letters before them."""
    return [form.format(chr(ord("A") + i)) + option for i, option in enumerate(options)]


EGO = [
    ("uid-1", "What does C do?", ["cooks", "cleans dishes", "sleeps", "paints", "reads"], 1, "film-1"),
    ("uid-2", "Why does C stop?", ["to rest", "to eat", "to call", "to leave", "to rest"], 4, "film-1"),
    ("uid-3", "Where is C?", ["A. Lincoln Park", "a kitchen", "a car", "a shop", "a field"], 2, "film-2"),
]


def ego_official(answers: bool = True) -> Rows:
    """Rows as in EgoSchema's questions.json, with `truth` as in subset_anno.json."""
    return [
        {"q_uid": uid, "google_drive_id": "x", "question": text}
        | {f"option {i}": option for i, option in enumerate(options)}
        | ({"truth": truth} if answers else {})
        for uid, text, options, truth, _ in EGO
    ]


def ego_hub(answers: bool = True) -> Rows:
    """Rows as in the Hub's lmms-lab/egoschema."""
    return [
        {
            "question_idx": str(i),
            "question": text,
            "video_idx": uid,
            "option": lettered(options),
            "answer": str(truth) if answers else None,
        }
        for i, (uid, text, options, truth, _) in enumerate(EGO)
    ]


def ego_recordings() -> dict[str, Any]:
    """As EgoSchema's uid_to_ego4d.json."""
    return {uid: {"video_uid": film, "starting_sec": 0, "ending_sec": 180} for uid, *_, film in EGO}


def put_ego(root: Path) -> Path:
    """All files of EgoSchema."""
    put(root / "egoschema/questions.json", ego_official(answers=False))
    put(root / "egoschema/subset_anno.json", {row["q_uid"]: row for row in ego_official()})
    put(root / "egoschema/subset_answers.json", {uid: truth for uid, _, _, truth, _ in EGO})
    put(root / "egoschema/uid_to_ego4d.json", ego_recordings())
    return root


def next_rows(video: str = "video", text_answers: bool = False) -> Rows:
    """Rows as in NExT-QA's CSV; IntentQA and NExT-GQA call the column `video_id`, NExT-GQA has the answer's text."""
    made: Rows = []
    for number, (code, question, options, answer) in enumerate(
        [
            ("CW", "why did the boy run", ["to win", "to hide", "to eat", "to sing", "he fell"], 0),
            ("TP", "what did the dog do before, at last", ["bark", "sit", "eat", "jump", "bark"], 4),
            ("TC", "what does the girl do when the man claps", ["dance", "cry", "run", "wave", "sit"], 3),
        ]
    ):
        made.append(
            {video: f"10{number % 2}", "frame_count": 300, "width": 640, "height": 480, "question": question}
            | {"answer": options[answer] if text_answers else answer, "qid": number, "type": code}
            | {f"a{i}": option for i, option in enumerate(options)}
        )
    return made


def put_next(root: Path) -> Path:
    """NExT-QA, IntentQA and NExT-GQA, validation and test."""
    spans = {"0": [[1, 2.5]], "2": [[0.0, 1.0], [3.0, 9.5]]}
    for split in ("val", "test"):
        put(root / f"nextqa/{split}.csv", next_rows())
        put(root / f"intentqa/{split}.csv", next_rows("video_id")[:2])
        put(root / f"nextgqa/{split}.csv", next_rows("video_id", text_answers=True))
        put(root / f"nextgqa/gsub_{split}.json", {"100": {"duration": 10, "fps": 30.0, "location": spans}})
    put(root / "nextqa/map_vid_vidorID.json", {"100": "0101/100", "101": "0016/101"})
    put(root / "nextqa/atp-hard-ct4.txt", "0\n2\n")
    return root


def mme_videos() -> Rows:
    """As the official evaluation form of Video-MME."""
    return [
        {
            "video_id": f"{601 + number}" if duration == "long" else f"00{number}",
            "duration": duration,
            "domain": "Knowledge",
            "sub_category": "Biology",
            "questions": [
                {
                    "question_id": f"{duration}-{number}-{i}",
                    "task_type": "Counting Problem",
                    "question": f"How many cells, {i}?",
                    "options": lettered(["One.", "Two.", "Three.", "Two."]),
                    "answer": "ABCD"[i],
                }
                for i in range(3)
            ],
        }
        for number, duration in enumerate(("short", "medium", "long"))
    ]


def mme_hub() -> Rows:
    """As the Hub's lmms-lab/Video-MME: a row a question, and the name under which the video's files are there."""
    return [
        {name: value for name, value in video.items() if name != "questions"}
        | question
        | {"videoID": f"tube{video['video_id']}", "url": "https://example.org"}
        for video in mme_videos()
        for question in video["questions"]
    ]


def lvb_rows(hub: bool) -> Rows:
    """LongVideoBench: `candidates` in the file, `option0` to `option4` on the Hub."""
    options = ["red", "blue", "green", "white"]
    listed = {f"option{i}": text for i, text in enumerate([*options, "N/A"])} if hub else {"candidates": options}
    common = {"video_id": "vid", "video_path": "vid.mp4", "subtitle_path": "vid_en.json", "correct_choice": 3}
    return [
        {"id": f"vid_{i}", "question": f"What colour, {i}?", **listed, **common}
        | {"duration": 10.5, "duration_group": 15, "question_category": "S2O", "topic_category": "KG"}
        for i in range(2)
    ]


def mlvu_rows(task: str, count: int = 2) -> Rows:
    """MLVU: the rows of one task."""
    return [
        {"video": f"{task}_{i}.mp4", "duration": 246, "question": f"Which colour, {i}?"}
        | {"candidates": ["Yellow", "Red", "Green", "Blue"], "answer": "Green", "question_type": task}
        for i in range(count)
    ]


MLVU_TASKS = {
    "1_plotQA": "plotQA",
    "2_needle": "findNeedle",
    "3_ego": "ego",
    "4_count": "count",
    "5_order": "order",
    "6_anomaly_reco": "anomaly_reco",
    "7_topic_reasoning": "topic_reasoning",
}


def lvbench_rows() -> Rows:
    """LVBench: a video a row, the options in the question's text."""
    text = "What is shown?\n(A) a ship\n(B) a (C) sign\n(C) a horse\n(D) nothing"
    qa = {"question": text, "answer": "B", "question_type": ["event understanding", "reasoning"]}
    return [
        {"key": "tube1", "type": "sport", "video_info": {"duration_minutes": 61}}
        | {
            "qa": [
                {"uid": "0", "time_reference": "01:10-01:25", **qa},
                {"uid": "1", "time_reference": "1:00:05-1:00:09", **qa},
                {"uid": "2", "time_reference": "whole video", **qa},
            ]
        }
    ]


def put_all(root: Path) -> Path:
    """All built-in benchmarks."""
    put_ego(root)
    put_next(root)
    put(root / "videomme/videomme_annotations.json", mme_videos())
    put(root / "longvideobench/lvb_val.json", lvb_rows(hub=False))
    for name, task in MLVU_TASKS.items():
        put(root / f"mlvu/{name}.json", mlvu_rows(task))
    put(root / "lvbench/video_info.meta.jsonl", lvbench_rows())
    return root


def hub_of(rows: Mapping[str, Rows]) -> Any:
    """A loader of the Hub that has these data sets, by id and configuration as they are written in a card."""

    def loader(where: Any) -> Rows:
        return rows[str(where)]

    return loader


HUB = {
    "lmms-lab/egoschema [Subset] test": ego_hub(),
    "lmms-lab/egoschema [MC] test": ego_hub(answers=False),
    "lmms-lab/NExTQA [MC] test": next_rows(),
    "lmms-lab/Video-MME [videomme] test": mme_hub(),
    "longvideobench/LongVideoBench validation": lvb_rows(hub=True),
    "MLVU/MVLU train": [row for task in MLVU_TASKS.values() for row in mlvu_rows(task)],
    "zai-org/LVBench train": lvbench_rows(),
}
