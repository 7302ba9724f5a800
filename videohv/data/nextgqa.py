"""NExT-GQA: the causal and temporal questions of NExT-QA, with the spans of the video that show the answer.

Form: NExT-QA's columns with `video_id` for `video` and the answer as its **text**, and `gsub_<split>.json`:
`{video: {duration, fps, location: {"<qid>": [[start, end], …]}}}` in seconds. Its authors score the questions that have
spans; so a question without one is left out, and a note says how many were.
"""

from __future__ import annotations

from collections.abc import Iterator

from videohv.data.card import Card, File, Split, TypeGroup
from videohv.data.nextqa import TYPES
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row, answer_by_text, spans_of
from videohv.data.source import Source, read_json
from videohv.errors import InputError

_OFFICIAL = "github.com/doc-doc/NExT-GQA"


@benchmark
class NextGQA:
    """NExT-GQA. A question's id is `<video>_<qid>`, as in NExT-QA."""

    card = Card(
        name="nextgqa",
        title="NExT-GQA",
        splits=(Split(name="val", about="validation", rows=3358), Split(name="test", about="test", rows=5553)),
        types=tuple(pair for pair in TYPES if pair[0][0] in "CT"),
        groups=(TypeGroup(name="causal", types=("CW", "CH")), TypeGroup(name="temporal", types=("TN", "TP", "TC"))),
        counts_as=(("TP", "TN"),),
        options=5,
        scoring=(
            "Acc@QA: share of right options. Acc@GQA: right and intersection over prediction of at least 0.5 with a "
            "span. mIoP, mIoU and the share of both at 0.3 and 0.5."
        ),
        files=(
            File(
                role="questions",
                paths=("nextgqa/{split}.csv", "datasets/nextgqa/{split}.csv"),
                origin=_OFFICIAL,
            ),
            File(
                role="spans",
                paths=("nextgqa/gsub_{split}.json", "datasets/nextgqa/gsub_{split}.json"),
                origin=_OFFICIAL,
            ),
        ),
        homepage=f"https://{_OFFICIAL}",
        paper="arXiv 2309.01327",
        licence="MIT",
        spans=True,
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """Rows that have spans, with them as `spans`."""
        path = source.need("spans")
        videos = read_json(path)
        if not isinstance(videos, dict):
            raise InputError(f"{path} is not a JSON object of videos")
        without = 0
        for row in source.rows("questions"):
            entry = videos.get(row.name("video_id", "video"))
            location = entry.get("location") if isinstance(entry, dict) else None
            spans = location.get(row.name("qid")) if isinstance(location, dict) else None
            if spans is None and row.name("qid"):
                without += 1
            else:
                yield row.plus(spans=spans)
        if without:
            source.notes.append(f"{without} questions without an annotated span are left out, as the benchmark does")

    def draft(self, row: Row) -> Draft:
        """The question of a row."""
        video, options = row.text("video_id", "video"), row.numbered("a{}", 5)
        return Draft(
            f"{video}_{row.text('qid')}",
            video,
            row.text("question"),
            options,
            answer_by_text(row.get("answer"), options),
            type=row.text("type"),
            spans=spans_of(row.get("spans"), "spans"),
        )
