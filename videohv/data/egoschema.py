"""EgoSchema: questions about three-minute clips that were cut from Ego4D recordings.

Files: the official list `questions.json` (`q_uid`, `question`, `option 0` to `option 4`), the answers of the public 500
(`subset_answers.json`: uid to number), or both in one as `subset_anno.json` (uid to the same with `truth`). Hub form:
`question_idx, question, video_idx, option` (a list, `A. …`), `answer` (a digit as text, or null).

Releases differ in the order of the options: a label is carried from one file to another by the option's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from videohv.data.card import Card, File, HubSet, Split
from videohv.data.registry import benchmark
from videohv.data.row import Draft, Row, Wrong, answer_by_index, answer_by_text, without_prefixes
from videohv.data.source import Source, read_rows

_OFFICIAL = "github.com/egoschema/EgoSchema"


@benchmark
class EgoSchema:
    """EgoSchema. A question's id and its video are both the `q_uid`."""

    card = Card(
        name="egoschema",
        title="EgoSchema",
        splits=(
            Split(
                name="subset",
                about="the 500 questions with public answers",
                rows=500,
                hub=HubSet(repo="lmms-lab/egoschema", config="Subset", split="test"),
            ),
            Split(
                name="full",
                about="all questions; only the answers of the 500 are public",
                rows=5031,
                labels="some",
                hub=HubSet(repo="lmms-lab/egoschema", config="MC", split="test"),
            ),
        ),
        options=5,
        scoring="Share of right options. The full set is scored by its authors' server from {q_uid: number}.",
        files=(
            File(
                role="subset",
                paths=("egoschema/subset_anno.json", "subset_anno.json"),
                origin="questions with `truth` in one file, as LLoVi and VideoTree publish it",
                optional=True,
            ),
            File(
                role="questions",
                paths=("egoschema/questions.json", "questions.json"),
                origin=_OFFICIAL,
                optional=True,
            ),
            File(
                role="answers",
                paths=("egoschema/subset_answers.json", "subset_answers.json"),
                origin=_OFFICIAL,
                optional=True,
            ),
            File(
                role="recordings",
                paths=("egoschema/uid_to_ego4d.json", "uid_to_ego4d.json"),
                origin=_OFFICIAL,
                optional=True,
            ),
        ),
        homepage="https://egoschema.github.io",
        paper="arXiv 2308.09126",
        licence="none stated with the annotations; Ego4D's own licence holds for the videos",
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """Rows with `recording` (uid_to_ego4d.json's entry) and, where another file has the label, `label`."""
        recordings = source.json("recordings")
        subset = source.split.name == "subset"
        role = "subset" if subset and (source.hub or source.find("subset")) else "questions"
        if role == "questions" and subset:
            source.need("subset", "questions")
            source.need("subset", "answers")
        labels = {} if role == "subset" else _labels(source)
        for row in source.rows(role):
            uid = row.name("q_uid", "video_idx")
            if role == "subset" or not subset or uid in labels:
                recording = recordings.get(uid, "unknown") if recordings else None
                yield row.plus(label=labels.get(uid), recording=recording)

    def draft(self, row: Row) -> Draft:
        """The question of a row of either form."""
        uid = row.text("q_uid", "video_idx")
        if row.get("option") is not None:
            options = without_prefixes(row.texts("option"))
        else:
            options = row.numbered("option {}", 5)
        answer = answer_by_index(row.get("truth", "answer"), options, "truth" if row.get("truth") else "answer")
        label = row.get("label")
        if answer is None and label is not None:
            text, number = label
            index = answer_by_index(number, options, "answer")
            answer = index if text is None else answer_by_text(text, options, hint=index)
        recording = row.get("recording")
        if recording == "unknown":
            raise Wrong("q_uid", "is unknown to uid_to_ego4d.json: which recording it was cut from cannot be told")
        origin = Row(row.file, row.place, recording).text("video_uid") if recording is not None else ""
        return Draft(uid, uid, row.text("question"), options, answer, origin=origin)


def _labels(source: Source) -> dict[Any, tuple[str | None, Any]]:
    """The public answers as (text, number). Without text the number counts in the official order."""
    answers = source.json("answers")
    if answers and not source.hub:
        return {uid: (None, number) for uid, number in answers.items()}
    if answers and (path := source.find("questions")):
        rows = {row.name("q_uid"): row.data for row in read_rows(path) if isinstance(row.data, dict)}
        return {uid: (rows[uid].get(f"option {number}"), number) for uid, number in answers.items() if uid in rows}
    rows = {uid: data for uid, data in source.json("subset").items() if isinstance(data, dict)}
    return {uid: (data.get(f"option {data.get('truth')}"), data.get("truth")) for uid, data in rows.items()}
