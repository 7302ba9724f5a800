"""A benchmark's questions as they were loaded, with what had to be left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property

from pydantic import ValidationError

from videohv.data.card import Card, Split
from videohv.data.row import Draft, Row, Wrong
from videohv.data.subtitles import Subtitles
from videohv.types import Caption, Question, Value


class Problem(Value):
    """A row that was left out.

    Args:
        file: The file's name without directories, or the Hub's data set.
        row: Where in it, such as `line 7`.
        field: The column, or empty if it is the row as a whole.
        question_id: The question's id, as far as it is known.
        why: What is wrong with it.
    """

    file: str
    row: str
    field: str
    question_id: str
    why: str

    def __str__(self) -> str:
        name = f" ({self.question_id})" if self.question_id else ""
        return f"{self.file}, {self.row}{name}: {self.field + ' ' if self.field else ''}{self.why}"


class Dataset(Value):
    """A benchmark's questions.

    Args:
        benchmark: Its name.
        split: The split's name.
        part: `train`, `dev` or `test`; empty for the whole split.
        card: What the benchmark says of itself.
        questions: In the published order.
        problems: Rows that were left out.
        notes: What is unusual about what was found, such as a number of rows that is not the published one.
        source: What was read: file names without directories, or Hub ids.
        aliases: Other names under which videos' files are published, as (video, alias).
        subtitles: Files with what is said in the videos, for splits that are asked with it.
        content_hash: SHA-256 over the questions in the order of their ids, every field of them, and the subtitles.
    """

    benchmark: str
    split: str
    part: str = ""
    card: Card
    questions: tuple[Question, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    subtitles: tuple[Subtitles, ...] = ()
    content_hash: str

    @property
    def name(self) -> str:
        """What it was loaded by, in full: `egoschema:subset/test`."""
        return f"{self.benchmark}:{self.split}{f'/{self.part}' if self.part else ''}"

    @property
    def labelled(self) -> int:
        """How many of the questions have a known answer."""
        return sum(question.answer_index is not None for question in self.questions)

    def names_of(self, question: Question) -> tuple[str, ...]:
        """The names under which a question's video may be found in a folder or a caption library, in that order."""
        return (question.video, *self._aliases.get(question.video, ()))

    def extra_captions(self, question: Question) -> tuple[Caption, ...]:
        """What is said in a question's video; nothing if the split is asked without it, or there are no subtitles.

        Raises:
            InputError: The subtitles cannot be read, or changed since the questions were loaded.
        """
        found = self._subtitles.get(question.video)
        return found.captions() if found is not None else ()

    @cached_property
    def _aliases(self) -> dict[str, tuple[str, ...]]:
        return {video: (alias,) for video, alias in self.aliases}

    @cached_property
    def _subtitles(self) -> dict[str, Subtitles]:
        return {found.video: found for found in self.subtitles}


def content_hash(questions: Iterable[Question], subtitles: Iterable[Subtitles] = ()) -> str:
    """SHA-256 over questions in the order of their ids: the same whichever form and order they were read from."""
    total = hashlib.sha256()
    for question in sorted(questions, key=lambda q: q.id):
        total.update(question.model_dump_json().encode() + b"\n")
    for found in sorted(subtitles, key=lambda s: s.video):
        total.update(f"{found.video}\t{found.sha256}\n".encode())
    return total.hexdigest()


class Collector:
    """Turns drafts into questions; what cannot become one is noted and left out.

    Args:
        card: Whose questions they are.
        split: Of which split.
    """

    def __init__(self, card: Card, split: Split) -> None:
        self._card, self._split = card, split
        self._seen: dict[str, str] = {}
        self.questions: list[Question] = []
        self.aliases: dict[str, str] = {}
        self.problems: list[Problem] = []

    def add(self, row: Row, draft: Draft) -> None:
        """Take a draft as a question.

        Raises:
            Wrong: It is none; the field and why.
        """
        question = self._checked(draft)
        if question.id in self._seen:
            raise Wrong("id", f"is the same as that of {self._seen[question.id]}")
        self._seen[question.id] = row.place
        self.questions.append(question)
        if draft.alias:
            self.aliases[question.video] = draft.alias

    def leave_out(self, row: Row, question_id: str, wrong: Wrong) -> None:
        """Note a row that cannot be used."""
        self.problems.append(
            Problem(file=row.file, row=row.place, field=wrong.field, question_id=question_id, why=wrong.why)
        )

    def _checked(self, draft: Draft) -> Question:
        options = draft.options
        if self._card.options is not None and len(options) != self._card.options:
            raise Wrong("options", f"are {len(options)}; a question of {self._card.name} has {self._card.options}")
        for field, texts in (("question", (draft.text,)), ("options", options)):
            if any("\\n" in text for text in texts):
                raise Wrong(field, "has a line break that is spelled out: \\n")
        if draft.answer_index is None and self._split.labels == "all":
            raise Wrong("answer", "is missing")
        try:
            return Question(**{field: value for field, value in draft._asdict().items() if field != "alias"})
        except ValidationError as e:
            error = e.errors()[0]
            field = str(error["loc"][0]) if error["loc"] else "answer"
            raise Wrong({"text": "question"}.get(field, field), str(error["msg"]).removeprefix("Value error, ")) from e
