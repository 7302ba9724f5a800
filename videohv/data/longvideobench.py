"""LongVideoBench: questions that first refer to a moment of a video of up to an hour, then ask about it.

File: `lvb_val.json`, a list of `{id, video_id, question, candidates, correct_choice, duration_group, question_category,
topic_category, subtitle_path, …}`. Hub form: the same with `option0` to `option4` for `candidates`, `N/A` where there
are fewer. The Hub asks for its conditions to be accepted first.
"""

from __future__ import annotations

from collections.abc import Iterator

from videohv.data.card import Card, File, HubSet, Split, TypeGroup
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row, answer_by_index
from videohv.data.source import Source

_PERCEPTION = ("S2E", "S2O", "S2A", "E2O", "O2E", "T2E", "T2O", "T2A")
_RELATION = ("E3E", "O3O", "SSS", "SOS", "SAA", "T3E", "T3O", "TOS", "TAA")
_ABSENT = "N/A"


@benchmark
class LongVideoBench:
    """LongVideoBench. A question's id is its `id` (`<video>_<number>`)."""

    card = Card(
        name="longvideobench",
        title="LongVideoBench",
        splits=(
            Split(
                name="val",
                about="validation",
                rows=1337,
                hub=HubSet(repo="longvideobench/LongVideoBench", split="validation"),
            ),
        ),
        types=tuple((code, "perception" if code in _PERCEPTION else "relation") for code in _PERCEPTION + _RELATION),
        groups=(TypeGroup(name="perception", types=_PERCEPTION), TypeGroup(name="relation", types=_RELATION)),
        facets=("duration", "topic"),
        scoring="Share of right options, by duration group (15, 60, 600, 3600 seconds) and by category.",
        files=(
            File(
                role="questions",
                paths=("longvideobench/lvb_val.json", "LongVideoBench/lvb_val.json", "lvb_val.json"),
                origin="the Hub's longvideobench/LongVideoBench",
            ),
        ),
        homepage="https://longvideobench.github.io",
        paper="arXiv 2407.15754",
        licence="CC-BY-NC-SA-4.0",
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """The rows of the file or of the Hub."""
        return source.rows("questions")

    def draft(self, row: Row) -> Draft:
        """The question of a row of either form."""
        if row.get("candidates") is not None:
            options = row.texts("candidates")
        else:
            options = tuple(text for i in range(5) if (text := row.text(f"option{i}", default=_ABSENT)) != _ABSENT)
        facets = (("duration", row.text("duration_group")), ("topic", row.text("topic_category", default="")))
        return Draft(
            row.text("id"),
            row.text("video_id"),
            row.text("question"),
            options,
            answer_by_index(row.get("correct_choice"), options, "correct_choice"),
            type=row.text("question_category"),
            facets=tuple(pair for pair in facets if pair[1]),
        )
