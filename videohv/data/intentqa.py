"""IntentQA: why and how people do what they do, about clips of NExT-QA.

Form: NExT-QA's columns with `video_id` for `video`, and `action, lemma, lemma_id` besides. Many questions are literally
NExT-QA's: see `videohv.data.partition.overlap` before tuning on one and reporting on the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from videohv.data.card import Card, File, Split, TypeGroup
from videohv.data.nextqa import TYPES, draft
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row
from videohv.data.source import Source

_OFFICIAL = "github.com/JoseponLee/IntentQA"


@benchmark
class IntentQA:
    """IntentQA. A question's id is `<video>_<qid>`."""

    card = Card(
        name="intentqa",
        title="IntentQA",
        splits=(Split(name="val", about="validation", rows=2044), Split(name="test", about="test", rows=2134)),
        types=tuple(pair for pair in TYPES if pair[0] in ("CW", "CH", "TN", "TP")),
        groups=(
            TypeGroup(name="why", types=("CW",)),
            TypeGroup(name="how", types=("CH",)),
            TypeGroup(name="before and after", types=("TP", "TN")),
        ),
        counts_as=(("TP", "TN"),),
        options=5,
        scoring="Share of right options, in all and by group; TP counts as TN.",
        files=(
            File(
                role="questions",
                paths=("intentqa/{split}.csv", "datasets/IntentQA/{split}.csv", "IntentQA/{split}.csv"),
                origin=_OFFICIAL,
            ),
        ),
        homepage=f"https://{_OFFICIAL}",
        paper="Li et al., IntentQA: Context-aware Video Intent Reasoning, ICCV 2023",
        licence="none stated",
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """The rows of the CSV file."""
        return source.rows("questions")

    def draft(self, row: Row) -> Draft:
        """The question of a row."""
        return draft(row)
