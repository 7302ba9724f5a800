"""What a batch is asked to do: requests, what is kept about each, and the protocol of a job that makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from videohv.types import Value


class Line(Value):
    """What the state keeps about one request, enough to read its reply and to make it again.

    Args:
        group: What its items belong to, such as a video.
        items: What it asks about, each named once within the group.
        memo: The job's own note, as JSON.
        tries: How often it has been sent and failed.
        replies: Bodies of the replies so far that could not be used; they lead to the next request.
        id: Its number in the state; None before it is sent for the first time.
    """

    group: str
    items: tuple[str, ...]
    memo: str
    tries: int = 0
    replies: tuple[str, ...] = ()
    id: int | None = None


class Request(NamedTuple):
    """A request that is to be sent: what to keep of it, and the JSON that is posted."""

    line: Line
    body: bytes


class Whole(NamedTuple):
    """Says that every request of a group has been made.

    Args:
        group: Which.
        source: Names the file (or other origin) as it is now, so that it need not be opened again.
        size: Items in all, with those that needed no request.
    """

    group: str
    source: str
    size: int


class Ending(StrEnum):
    """How a request ended."""

    STORED = "stored"
    AGAIN = "again"
    LOST = "lost"


class Reading(NamedTuple):
    """What became of a reply.

    Args:
        ending: `stored`, `again` (ask once more, with this reply known), or `lost` (no further request would help).
        why: Where it was not stored.
    """

    ending: Ending
    why: str = ""


class Taken(Protocol):
    """What has been taken care of already."""

    def taken(self, group: str) -> frozenset[str]:
        """Items of a group that are in flight, wait to be sent again, or failed for good."""
        ...

    def planned(self, source: str) -> str | None:
        """The group of a source of which every request has been made; None if it is new."""
        ...


class BatchJob(Protocol):
    """Work that consists of chat requests which do not wait for each other.

    Attributes:
        identity: Names everything that the requests depend on. A state directory belongs to one identity.
        problems: What could not be turned into requests, a line each, filled while `fresh` and `again` run.
    """

    identity: str
    problems: list[str]

    def fresh(self, taken: Taken) -> Iterator[Request | Whole]:
        """Make the requests for everything that is neither done nor taken, as a stream."""
        ...

    def again(self, line: Line) -> Request | None:
        """Make the request of a line again, or the one that its replies lead to; None if its origin is out of reach."""
        ...

    def read(self, line: Line, replies: Sequence[str]) -> Reading:
        """Read the latest of the replies to a line (bodies as JSON) and keep what it says; twice does no harm."""
        ...

    def finish(self, group: str, size: int) -> None:
        """Note that nothing of a group is in flight or failed, if as many items are stored as it has."""
        ...

    def done(self, line: Line) -> bool:
        """Whether all that a line asks for has been stored, by whomever."""
        ...

    def label(self, line: Line) -> str:
        """What a line is about, for people."""
        ...
