"""The registry of benchmarks, and the one way from a name to questions.

A benchmark is a class with a card, a way to its rows, and a way from a row to a draft of a question:

    @benchmark
    class MyBenchmark:
        card = Card(name="mine", title="…", splits=(Split(name="test"),), files=(…))

        def rows(self, source: Source) -> Iterable[Row]: ...
        def draft(self, row: Row) -> Draft: ...
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar, cast

from videohv.data.card import Card, Split
from videohv.data.dataset import Collector, Dataset, content_hash
from videohv.data.partition import PARTS, PartName, partition
from videohv.data.row import Draft, Row, Wrong
from videohv.data.source import HubLoader, Source, hub_rows
from videohv.data.subtitles import Subtitles
from videohv.errors import InputError
from videohv.types import Question


class Benchmark(Protocol):
    """A source of questions."""

    @property
    def card(self) -> Card:
        """What it says of itself."""
        ...

    def rows(self, source: Source) -> Iterable[Row]:
        """The rows of `source.split`, out of files or of the Hub, with what belongs to them from other files."""
        ...

    def draft(self, row: Row) -> Draft:
        """The question that a row stands for, whichever form it has.

        Raises:
            Wrong: The row stands for none; it is reported and left out.
        """
        ...


Class = TypeVar("Class", bound=type)

_SHOWN = 5
_benchmarks: dict[str, Benchmark] = {}
_BUILT_IN = (
    "custom",
    "egoschema",
    "intentqa",
    "longvideobench",
    "lvbench",
    "mlvu",
    "nextgqa",
    "nextqa",
    "videomme",
)


def benchmark(made: Class) -> Class:
    """Register a class of benchmark under the name on its card. A later one replaces an earlier one."""
    instance: Benchmark = made()
    _benchmarks[instance.card.name] = instance
    return made


def benchmark_cards() -> tuple[Card, ...]:
    """The cards of all benchmarks, by name."""
    for module in _BUILT_IN:
        importlib.import_module(f"videohv.data.{module}")
    return tuple(_benchmarks[name].card for name in sorted(_benchmarks))


def get_benchmark(name: str) -> Benchmark:
    """The benchmark of that name.

    Raises:
        InputError: There is none; the message lists those there are.
    """
    names = [card.name for card in benchmark_cards()]
    if name not in _benchmarks:
        raise InputError(f"no benchmark is called {name!r}; known benchmarks: {', '.join(names)}")
    return _benchmarks[name]


def load_questions(
    name: str,
    *,
    data_root: Path | None = None,
    hub: bool = False,
    strict: bool = False,
    part: str = "",
    loader: HubLoader = hub_rows,
) -> Dataset:
    """Load a benchmark's questions.

    Rows that cannot become a question are left out, named in `problems` with file, row and field.

    Args:
        name: `benchmark`, `benchmark:split`, either with `/train`, `/dev` or `/test` for one part of the split's
            `partition` (`egoschema:subset/test`); or `custom:FILE`.
        data_root: The folder with the files that the authors publish. With `hub` only what the Hub lacks (such as the
            recordings that EgoSchema's clips were cut from) is taken from it.
        hub: Take the rows from the Hugging Face Hub.
        strict: Raise for rows that cannot become a question, instead of leaving them out.
        part: The part, when the name does not say it.
        loader: Gives the rows of the Hub.

    Raises:
        InputError: The benchmark, split or part is unknown; files are missing or have another form (the message says
            which were looked for and where they come from); no question is left; or, with `strict`, rows are wrong.
        MissingExtra: `datasets` or `pyarrow` is needed and not installed.
        VideoHVError: The Hub cannot be read.
    """
    found, split, wanted = _meant(name, part)
    card = found.card
    if card.own_files:
        path = Path(split.name)
        split, data_root = split.model_copy(update={"name": path.name}), path.parent
    source = Source(card, split, data_root, loader if hub else None)
    collector = Collector(card, split)
    for row in found.rows(source):
        draft: Draft | None = None
        try:
            draft = found.draft(row)
            collector.add(row, draft)
        except Wrong as wrong:
            collector.leave_out(row, draft.id if draft is not None else _id(row), wrong)
    problems = collector.problems
    if problems and (strict or not collector.questions):
        shown = "; ".join(str(problem) for problem in problems[:_SHOWN])
        raise InputError(
            f"{name}: {len(problems)} rows cannot be used: {shown}{'; …' if len(problems) > _SHOWN else ''}"
        )
    questions = tuple(collector.questions)
    count = len(questions) + len(problems)
    if split.rows is not None and count != split.rows:
        source.notes.append(f"{count} rows; the published {card.name}:{split.name} has {split.rows}")
    if wanted:
        questions = partition(questions).select(cast(PartName, wanted), questions)
    if not questions:
        raise InputError(f"{name}: there is no question in it")
    subtitles = _subtitles(source, questions, collector.aliases) if split.subtitles else ()
    return Dataset(
        benchmark=card.name,
        split=split.name,
        part=wanted,
        card=card,
        questions=questions,
        problems=tuple(problems),
        notes=tuple(source.notes),
        source=tuple(source.used),
        aliases=tuple(collector.aliases.items()),
        subtitles=subtitles,
        content_hash=content_hash(questions, subtitles),
    )


def _subtitles(source: Source, questions: Iterable[Question], aliases: dict[str, str]) -> tuple[Subtitles, ...]:
    videos = dict.fromkeys(question.video for question in questions)
    found = []
    for video in videos:
        names = (video, aliases[video]) if video in aliases else (video,)
        path = next((path for name in names if (path := source.find("subtitles", video=name)) is not None), None)
        if path is not None:
            found.append(Subtitles.of(video, path))
    if not found:
        source.need("subtitles")
    if len(found) < len(videos):
        source.notes.append(f"{len(found)} of {len(videos)} videos have subtitles")
    return tuple(found)


def _meant(name: str, part: str) -> tuple[Benchmark, Split, str]:
    """The benchmark, split and part that a name means."""
    first, _, rest = name.partition(":")
    before, slash, last = (rest or first).rpartition("/")
    named = last if slash and last in PARTS else ""
    if named:
        first, rest = (first, before) if rest else (before, "")
    if part and part not in PARTS:
        raise InputError(f"{part!r} is no part of a split; they are {', '.join(PARTS)}")
    if part and named and part != named:
        raise InputError(f"{name} names the part {named} and {part!r} was asked for: give one of them")
    found = get_benchmark(first)
    if found.card.own_files:
        if not rest:
            raise InputError(f"{first} needs a file: {first}:FILE")
        return found, found.card.splits[0].model_copy(update={"name": rest}), named or part
    split = found.card.split(rest or found.card.default_split)
    if split is None:
        splits = ", ".join(split.name for split in found.card.splits)
        raise InputError(f"{first} has no split {rest!r}; it has: {splits}")
    return found, split, named or part


def _id(row: Row) -> str:
    """What a row that could not be read calls itself, for the report."""
    own = row.name("q_uid", "question_id", "id", "uid", "video_idx")
    return own or "_".join(part for part in (row.name("video", "video_id"), row.name("qid")) if part)
