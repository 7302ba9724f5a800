"""MLVU: seven multiple-choice tasks about videos of three minutes to two hours.

Form, as files and on the Hub alike: a JSON list a task, `1_plotQA.json` to `7_topic_reasoning.json`, of `{video,
duration, question, candidates, answer, question_type}` with the answer's text. The two tasks whose answers are written
freely (`8_sub_scene.json`, `9_summary.json`) are not read. There are no ids: `<question_type>_<number>` counts the
questions of a task in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from videohv.data.card import Card, File, HubSet, Split, TypeGroup
from videohv.data.names import stem
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row, answer_by_text, without_prefixes
from videohv.data.source import Source

_FILES = ("1_plotQA", "2_needle", "3_ego", "4_count", "5_order", "6_anomaly_reco", "7_topic_reasoning")
_FOLDERS = ("mlvu", "mlvu/json", "MLVU/json", "MVLU/MLVU/json", "json")
_HUB = "MLVU/MVLU"


@benchmark
class MLVU:
    """MLVU, multiple choice. A question's video is the name of its file without extension."""

    card = Card(
        name="mlvu",
        title="MLVU",
        splits=(
            Split(
                name="dev",
                about="the multiple-choice tasks of the development set",
                rows=2174,
                hub=HubSet(repo=_HUB, split="train", files=tuple(f"MLVU/json/{name}.json" for name in _FILES)),
            ),
        ),
        types=(
            ("topic_reasoning", "what the video is about"),
            ("anomaly_reco", "which anomaly a surveillance video shows"),
            ("findNeedle", "a short clip hidden in another video"),
            ("ego", "first-person videos"),
            ("plotQA", "the plot of films and cartoons"),
            ("order", "the order of actions"),
            ("count", "how often an action is done"),
        ),
        groups=(
            TypeGroup(name="holistic", types=("topic_reasoning", "anomaly_reco")),
            TypeGroup(name="single detail", types=("findNeedle", "ego", "plotQA")),
            TypeGroup(name="multi detail", types=("order", "count")),
        ),
        scoring="M-Avg: the mean over the tasks of the share of right options.",
        files=tuple(
            File(role=name, paths=tuple(f"{folder}/{name}.json" for folder in _FOLDERS), origin=f"the Hub's {_HUB}")
            for name in _FILES
        ),
        homepage="https://github.com/JUNJIE99/MLVU",
        paper="arXiv 2406.04264",
        licence="CC-BY-NC-SA-4.0",
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """The rows of all tasks, each with its `number` in its task."""
        counts: Counter[str] = Counter()
        for row in source.rows() if source.hub else (row for name in _FILES for row in source.rows(name)):
            task = row.name("question_type")
            yield row.plus(number=counts[task])
            counts[task] += 1

    def draft(self, row: Row) -> Draft:
        """The question of a row."""
        task, options = row.text("question_type"), without_prefixes(row.texts("candidates"))
        return Draft(
            f"{task}_{row.text('number')}",
            stem(row.text("video")),
            row.text("question"),
            options,
            answer_by_text(row.get("answer"), options),
            type=task,
        )
