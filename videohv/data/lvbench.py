"""LVBench: questions about videos of half an hour to two hours.

Form, as file and on the Hub alike: `video_info.meta.jsonl`, a video a line: `{key, type, qa: [{uid, question, answer,
question_type: […], time_reference}]}`. The options stand in the question's text, each on a line of its own as `(A) …`;
the answer is a letter. A question may have several types: the facet `ability` names each, `type` the first.
`time_reference` becomes a span where it is two times (`01:10-01:25`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from videohv.data.card import Card, File, HubSet, Split
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row, Wrong, answer_by_letter, without_prefixes
from videohv.data.source import Source
from videohv.types import Window

_OPTION = re.compile(r"^\s*(?=\([A-Z]\)(?:\s|$))", re.MULTILINE)
_CLOCK = r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2}(?:\.\d+)?)"
_SPAN = re.compile(rf"\s*{_CLOCK}\s*[-–~]\s*{_CLOCK}\s*")


@benchmark
class LVBench:
    """LVBench. A question's id is its `uid`, its video the `key`."""

    card = Card(
        name="lvbench",
        title="LVBench",
        splits=(
            Split(
                name="test",
                about="all questions",
                rows=1549,
                hub=HubSet(repo="zai-org/LVBench", split="train", files=("video_info.meta.jsonl",)),
            ),
        ),
        types=tuple(
            (name, name)
            for name in (
                "key information retrieval",
                "event understanding",
                "summarization",
                "entity recognition",
                "reasoning",
                "temporal grounding",
            )
        ),
        facets=("ability", "domain"),
        options=4,
        scoring="Share of right options, in all and by ability; a question counts under each of its abilities.",
        files=(
            File(
                role="questions",
                paths=("lvbench/video_info.meta.jsonl", "LVBench/video_info.meta.jsonl", "video_info.meta.jsonl"),
                origin="the Hub's zai-org/LVBench",
            ),
        ),
        homepage="https://lvbench.github.io",
        paper="arXiv 2406.08035",
        licence="CC-BY-NC-SA-4.0",
        spans=True,
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """A row a question, with its video's `key` and, as `domain`, its video's type."""
        for row in source.rows("questions"):
            yield from row.plus(domain=row.name("type")).each("qa")

    def draft(self, row: Row) -> Draft:
        """The question of a row."""
        text, *rest = _OPTION.split(row.text("question"))
        if not text.strip() or not rest:
            raise Wrong("question", "has no options: lines that begin with (A), (B) and so on were expected")
        options = without_prefixes([option.strip() for option in rest])
        abilities = row.texts("question_type")
        facets = [("ability", ability) for ability in abilities]
        return Draft(
            row.text("uid"),
            row.text("key"),
            text,
            options,
            answer_by_letter(row.get("answer"), options),
            type=abilities[0] if abilities else "",
            facets=tuple(pair for pair in (*facets, ("domain", row.text("domain", default=""))) if pair[1]),
            spans=_spans(row.name("time_reference")),
        )


def _spans(reference: str) -> tuple[Window, ...]:
    match = _SPAN.fullmatch(reference)
    if match is None:
        return ()
    h1, m1, s1, h2, m2, s2 = (float(part or 0) for part in match.groups())
    start, end = 3600 * h1 + 60 * m1 + s1, 3600 * h2 + 60 * m2 + s2
    return (Window(start=start, end=end),) if start <= end else ()
