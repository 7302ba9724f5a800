"""A run that is on disk, finished or not, as a value: its figures, its traces one at a time, and a dataset of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from videohv.errors import MissingExtra
from videohv.evaluate.journal import NAME, read_rows, read_traces
from videohv.evaluate.manifest import Manifest, read_manifest
from videohv.evaluate.results import Results, results_of
from videohv.evaluate.row import Row
from videohv.types import Trace

if TYPE_CHECKING:
    import datasets


@dataclass(frozen=True)
class Run:
    """A run's directory.

    Args:
        folder: As `videohv eval --out` or `run_benchmark` wrote it.

    Raises:
        InputError: From each of its parts, if there is no run or it is damaged.
    """

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
        read_manifest(self.folder)

    @property
    def manifest(self) -> Manifest:
        """What makes it what it is."""
        return read_manifest(self.folder)

    @property
    def rows(self) -> list[Row]:
        """The latest figures of every question."""
        return read_rows(self.folder)

    @property
    def results(self) -> Results:
        """Its tables, as `videohv results` prints them."""
        return results_of(self.folder)

    def traces(self) -> Iterator[tuple[Row, Trace]]:
        """Row and trace of every question, one at a time."""
        return read_traces(self.folder)

    def to_dataset(self, cache_dir: Path | None = None) -> datasets.Dataset:
        """The run as a Hugging Face dataset, a question a row; traces go through memory one at a time.

        Columns: `id`, `video`, `type`, `question`, `options`, `answer` and `answer_index` (None without an answer),
        `right_index` and `right` (None where the right option is not known), `outcome`, `status`, `confidence`,
        `rounds`, `looks`, `calls`, `prompt_tokens`, `completion_tokens`, `cost` in US dollars, `seconds`, `evidence` (a
        list of `start`, `end`, `time` in seconds, `source`, `text`), `error`, and `trace`, the whole as JSON.

        Args:
            cache_dir: Where its Arrow file is written; None is the cache of `datasets`.

        Raises:
            MissingExtra: Without `datasets`.
        """
        try:
            import datasets
        except ImportError:
            raise MissingExtra("datasets", "hub", "a run as a dataset") from None
        file = (self.folder / NAME).stat()
        made: datasets.Dataset = datasets.Dataset.from_generator(
            _records,
            features=_features(datasets),
            cache_dir=str(cache_dir) if cache_dir is not None else None,
            # Part of the name under which it is cached: a run that has grown is another dataset.
            gen_kwargs={"folder": str(self.folder.absolute()), "state": f"{file.st_size} {file.st_mtime_ns}"},
        )
        return made


def _records(folder: str, state: str) -> Iterator[dict[str, Any]]:
    for row, trace in read_traces(Path(folder)):
        question, index = trace.question, row.answer_index
        # Of an order that was shuffled the options are told as the benchmark has them.
        places = row.permutation or tuple(range(len(question.options)))
        options = [text for _, text in sorted(zip(places, question.options, strict=True))]
        right = places[question.answer_index] if question.answer_index is not None else None
        yield {
            "id": row.id,
            "video": row.video,
            "type": row.type,
            "question": question.text,
            "options": options,
            "answer": options[index] if index is not None else None,
            "answer_index": index,
            "right_index": right,
            "right": row.right,
            "outcome": str(row.outcome),
            "status": str(row.status) if row.status is not None else None,
            "confidence": row.confidence,
            "rounds": row.rounds,
            "looks": row.looks,
            "calls": row.calls,
            "prompt_tokens": row.prompt_tokens,
            "completion_tokens": row.completion_tokens,
            "cost": row.cost,
            "seconds": row.seconds,
            "evidence": [
                {
                    "start": evidence.window.start,
                    "end": evidence.window.end,
                    "time": observation.time,
                    "source": str(evidence.source),
                    "text": observation.text,
                }
                for evidence in trace.evidence
                for observation in evidence.observations
            ],
            "error": row.error,
            "trace": trace.model_dump_json(),
        }


def _features(datasets: Any) -> Any:
    value = datasets.Value
    texts = ("id", "video", "type", "question", "answer", "outcome", "status", "error", "trace")
    numbers = ("answer_index", "right_index", "rounds", "looks", "calls", "prompt_tokens", "completion_tokens")
    seen = {"start": value("float64"), "end": value("float64"), "time": value("float64")}
    return datasets.Features(
        {
            **{name: value("string") for name in texts},
            **{name: value("int64") for name in numbers},
            **{name: value("float64") for name in ("confidence", "cost", "seconds")},
            "right": value("bool"),
            "options": datasets.List(value("string")),
            "evidence": datasets.List({**seen, "source": value("string"), "text": value("string")}),
        }
    )
