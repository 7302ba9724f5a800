"""What a benchmark says of itself, in one frozen value."""

from __future__ import annotations

from typing import Literal

from videohv.types import Value

Labels = Literal["all", "some", "none"]


class HubSet(Value):
    """A data set on the Hugging Face Hub.

    Args:
        repo: Its id.
        config: Its configuration; empty for the only one.
        split: Its split.
        files: The files to read in it, where it does not declare its own.
    """

    repo: str
    config: str = ""
    split: str = "test"
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.repo}{f' [{self.config}]' if self.config else ''} {self.split}"


class Split(Value):
    """A set of questions that a benchmark is reported on.

    Args:
        name: Its name, as in `nextqa:val`.
        about: What it is, in a few words.
        rows: How many questions the published split has, if known.
        labels: Whether the right options are public.
        hub: Where the Hub has it; None if it does not.
        subtitles: Whether what is said in the videos is read from subtitle files beside the questions.
    """

    name: str
    about: str = ""
    rows: int | None = None
    labels: Labels = "all"
    hub: HubSet | None = None
    subtitles: bool = False


class File(Value):
    """A file that is looked for under the data root.

    Args:
        role: What it is for.
        paths: Where it may lie, relative to the data root; the first that is there is read. `{split}` stands for the
            split's name, `{video}` for a video's.
        origin: Who publishes it.
        splits: The splits that read it; empty for all.
        optional: Whether the split can be read without it.
    """

    role: str
    paths: tuple[str, ...]
    origin: str
    splits: tuple[str, ...] = ()
    optional: bool = False


class TypeGroup(Value):
    """Question types that are reported together."""

    name: str
    types: tuple[str, ...]


class Card(Value):
    """What a benchmark is and where its parts come from.

    Args:
        name: What `load_questions` knows it by.
        title: Its published name.
        splits: Its splits; the first is the default.
        types: Codes of question types and what they mean, as (code, words). Empty if it has none or they are open.
        groups: Types that are reported together, in the order of the benchmark's tables.
        counts_as: Types that are reported under another one's code, as (code, the other's code).
        facets: Names of the facets that its questions carry.
        options: How many options each question has; None if that varies.
        scoring: How it is scored.
        files: What is looked for under a data root.
        homepage: Where it is published.
        paper: Where it is described.
        licence: As found in its repository.
        spans: Whether annotated spans of evidence come with it.
        own_files: Whether the split's name is the path of a file with questions of one's own.
    """

    name: str
    title: str
    splits: tuple[Split, ...]
    types: tuple[tuple[str, str], ...] = ()
    groups: tuple[TypeGroup, ...] = ()
    counts_as: tuple[tuple[str, str], ...] = ()
    facets: tuple[str, ...] = ()
    options: int | None = None
    scoring: str = "Share of the questions whose right option was chosen."
    files: tuple[File, ...] = ()
    homepage: str = ""
    paper: str = ""
    licence: str = ""
    spans: bool = False
    own_files: bool = False

    @property
    def default_split(self) -> str:
        """The split that is meant when none is named."""
        return self.splits[0].name

    def split(self, name: str) -> Split | None:
        """The split of that name, or None."""
        return next((split for split in self.splits if split.name == name), None)

    def group_of(self, type_code: str) -> str:
        """The name of the group that a question type belongs to, or an empty text."""
        return next((group.name for group in self.groups if type_code in group.types), "")

    def reported_as(self, type_code: str) -> str:
        """The code under which a question type is reported: its own, unless it counts as another."""
        return dict(self.counts_as).get(type_code, type_code)
