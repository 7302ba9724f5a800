"""Video-MME: 900 videos of up to an hour, three questions each, with and without what is said in them.

Files: the official evaluation form, a list of `{video_id, duration, domain, sub_category, questions: [{question_id,
task_type, question, options: ["A. …"], answer: "C"}]}`; or the Parquet file of the Hub. Hub form: one row a question
with the same fields and `videoID`, the name under which the Hub has the video's file and subtitles.
"""

from __future__ import annotations

from collections.abc import Iterator

from videohv.data.card import Card, File, HubSet, Split
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row, answer_by_letter, without_prefixes
from videohv.data.source import Source

_HUB = HubSet(repo="lmms-lab/Video-MME", config="videomme", split="test")
_SPLITS = (
    ("long", "30 to 60 minutes", 900),
    ("medium", "4 to 15 minutes", 900),
    ("short", "up to 2 minutes", 900),
    ("all", "all three", 2700),
)
_TASKS = (
    "Temporal Perception",
    "Spatial Perception",
    "Attribute Perception",
    "Action Recognition",
    "Object Recognition",
    "OCR Problems",
    "Counting Problem",
    "Temporal Reasoning",
    "Spatial Reasoning",
    "Action Reasoning",
    "Object Reasoning",
    "Information Synopsis",
)


@benchmark
class VideoMME:
    """Video-MME. A question's id is its `question_id`, its video the `video_id` (`001` to `900`)."""

    card = Card(
        name="videomme",
        title="Video-MME",
        splits=tuple(
            Split(
                name=f"{name}{with_text}",
                about=f"{about}{', with subtitles' if with_text else ''}",
                rows=rows,
                hub=_HUB,
                subtitles=bool(with_text),
            )
            for with_text in ("", "+subtitles")
            for name, about, rows in _SPLITS
        ),
        types=tuple((name, name) for name in _TASKS),
        facets=("duration", "domain", "sub category", "task type"),
        options=4,
        scoring="Share of right options, without and with subtitles, by duration.",
        files=(
            File(
                role="questions",
                paths=(
                    "videomme/videomme_annotations.json",
                    "videomme/test-00000-of-00001.parquet",
                    "videomme/videomme/test-00000-of-00001.parquet",
                ),
                origin="the official evaluation form, or the Hub's lmms-lab/Video-MME",
            ),
            File(
                role="subtitles",
                paths=("videomme/subtitle/{video}.srt", "videomme/subtitle/{video}.vtt", "subtitle/{video}.srt"),
                origin="subtitle.zip of the Hub's lmms-lab/Video-MME",
                optional=True,
            ),
        ),
        homepage="https://video-mme.github.io",
        paper="arXiv 2405.21075",
        licence="academic research only, as its page says; none stated with the annotations",
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """A row a question, of the split's duration."""
        wanted = source.split.name.partition("+")[0]
        for row in source.rows("questions"):
            if wanted == "all" or row.name("duration") in (wanted, ""):
                yield from row.each("questions")

    def draft(self, row: Row) -> Draft:
        """The question of a row of either form."""
        options = without_prefixes(row.texts("options"))
        return Draft(
            row.text("question_id"),
            row.text("video_id"),
            row.text("question"),
            options,
            answer_by_letter(row.get("answer"), options),
            type=row.text("task_type"),
            facets=(
                ("duration", row.text("duration")),
                ("domain", row.text("domain")),
                ("sub category", row.text("sub_category")),
                ("task type", row.text("task_type")),
            ),
            alias=row.text("videoID", default=""),
        )
