"""NExT-QA: why, how, before, after and what, about short clips of daily life.

Form, as files and on the Hub alike: `video, frame_count, width, height, question, answer, qid, type, a0` to `a4`, with
the answer's number. `map_vid_vidorID.json` names each video's place (`0101/2909445186`) and so all known videos. The
ATP-hard subset is a text file with a row number of `val.csv` (from 0) a line, or a question id a line.
"""

from __future__ import annotations

from collections.abc import Iterator

from videohv.data.card import Card, File, HubSet, Split, TypeGroup
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row, Wrong, answer_by_index
from videohv.data.source import Source, read_text
from videohv.errors import InputError

TYPES = (
    ("CW", "why"),
    ("CH", "how"),
    ("TN", "after"),
    ("TP", "before"),
    ("TC", "when, at the same time"),
    ("DC", "counting"),
    ("DL", "where"),
    ("DO", "other descriptions"),
)
_HARD = "atp-hard"
_OFFICIAL = "github.com/doc-doc/NExT-QA"


@benchmark
class NextQA:
    """NExT-QA, multiple choice. A question's id is `<video>_<qid>`."""

    card = Card(
        name="nextqa",
        title="NExT-QA",
        splits=(
            Split(name="val", about="validation", rows=4996),
            Split(name="test", about="test", rows=8564, hub=HubSet(repo="lmms-lab/NExTQA", config="MC", split="test")),
            Split(name=_HARD, about="the questions of val that no single frame answers"),
        ),
        types=TYPES,
        groups=(
            TypeGroup(name="causal", types=("CW", "CH")),
            TypeGroup(name="temporal", types=("TN", "TP", "TC")),
            TypeGroup(name="descriptive", types=("DO", "DL", "DC")),
        ),
        counts_as=(("TP", "TN"),),
        options=5,
        scoring="Share of right options, in all and by group; TP counts as TN.",
        files=(
            File(
                role="questions",
                paths=("nextqa/{split}.csv", "dataset/nextqa/{split}.csv", "datasets/nextqa/{split}.csv"),
                origin=_OFFICIAL,
                splits=("val", "test"),
            ),
            File(
                role="questions",
                paths=("nextqa/val.csv", "dataset/nextqa/val.csv", "datasets/nextqa/val.csv"),
                origin=_OFFICIAL,
                splits=(_HARD,),
            ),
            File(
                role="hard",
                paths=("nextqa/atp-hard-ct4.txt", "dataset/nextqa/atp-hard-ct4.txt", "nextqa/atp-hard.txt"),
                origin="stanfordvl.github.io/atp-revisit-video-lang",
                splits=(_HARD,),
            ),
            File(
                role="videos",
                paths=("nextqa/map_vid_vidorID.json", "dataset/nextqa/map_vid_vidorID.json"),
                origin=_OFFICIAL,
                optional=True,
            ),
        ),
        homepage=f"https://{_OFFICIAL}",
        paper="arXiv 2105.08276",
        licence="MIT",
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """Rows with `known`: False for a video that the map of videos does not have."""
        wanted = _hard(source) if source.split.name == _HARD else None
        videos = source.json("videos")
        for number, row in enumerate(source.rows("questions")):
            if wanted is None or str(number) in wanted or f"{row.name('video')}_{row.name('qid')}" in wanted:
                yield row.plus(known=not videos or row.name("video") in videos)

    def draft(self, row: Row) -> Draft:
        """The question of a row of either form."""
        return draft(row)


def draft(row: Row) -> Draft:
    """A question in the columns of NExT-QA, as its relatives have them too."""
    video = row.text("video", "video_id")
    if row.get("known") is False:
        raise Wrong("video", f"{video} is unknown to map_vid_vidorID.json")
    options = row.numbered("a{}", 5)
    answer = answer_by_index(row.get("answer"), options)
    code = row.text("type")
    if code not in dict(TYPES):
        raise Wrong("type", f"{code!r} is none of {', '.join(known for known, _ in TYPES)}")
    return Draft(f"{video}_{row.text('qid')}", video, row.text("question"), options, answer, type=code)


def _hard(source: Source) -> set[str]:
    """Row numbers and question ids of the ATP-hard file."""
    path = source.need("hard")
    lines = {line.strip() for line in read_text(path).splitlines() if line.strip()}
    if not lines:
        raise InputError(f"{path} is empty: a row number of val.csv or a question id a line was expected")
    return lines
