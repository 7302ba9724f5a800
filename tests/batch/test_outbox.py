"""Files for the server, and how little is held of them."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videohv.batch.journal import Journal
from videohv.batch.outbox import Limits, Outbox
from videohv.batch.record import Step
from videohv.batch.work import Line, Request, Whole


def requests(groups: int, each: int, size: int = 50) -> Iterator[Request | Whole]:
    for group in range(groups):
        for item in range(each):
            line = Line(group=f"g{group}", items=(str(item),), memo="{}")
            yield Request(line, json.dumps({"filler": "x" * size}).encode())
        yield Whole(f"g{group}", f"source {group}", each)


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(0, 6), max_size=6),
    limit=st.integers(1, 7),
    size=st.integers(400, 2000),
)
def test_nothing_is_lost_and_no_limit_is_passed(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], limit: int, size: int
) -> None:
    folder = tmp_path_factory.mktemp("state")
    work = [
        item
        for group, each in enumerate(lengths)
        for item in [
            *(Request(Line(group=f"g{group}", items=(str(i),), memo="{}"), b'{"n": %d}' % i) for i in range(each)),
            Whole(f"g{group}", f"source {group}", each),
        ]
    ]
    with Journal(folder, "j") as journal:
        outbox = Outbox(journal, Limits(requests=limit, size=size))
        seen: list[tuple[str, str]] = []
        for number in outbox.parts(work):
            file = journal.file_of(number)
            lines = [json.loads(text) for text in file.read_text().splitlines()]
            assert 1 <= len(lines) <= limit
            assert file.stat().st_size <= size
            assert [line["custom_id"] for line in lines] == [
                f"{journal.name_of(number)}-{i}" for i in range(len(lines))
            ]
            kept = journal.lines(number)
            seen += [(kept[i].group, *kept[i].items) for i in range(len(lines))]  # type: ignore[misc]
            assert [line["body"]["n"] for line in lines] == [int(kept[i].items[0]) for i in range(len(lines))]
            # A group is noted as whole only when all of it is noted.
            for group, each in enumerate(lengths):
                if journal.planned(f"source {group}") is not None:
                    assert len(journal.taken(f"g{group}")) == each
        assert seen == [(f"g{group}", str(i)) for group, each in enumerate(lengths) for i in range(each)]
        assert [journal.planned(f"source {group}") for group in range(len(lengths))] == [
            f"g{group}" for group in range(len(lengths))
        ]
        assert len(journal.parts(Step.WRITTEN)) == len(list(folder.glob("part-*")))


def test_it_knows_what_lies_in_the_file_that_is_not_noted_yet(tmp_path: Path) -> None:
    with Journal(tmp_path, "j") as journal:
        outbox = Outbox(journal, Limits(requests=3))

        def work() -> Iterator[Request | Whole]:
            for i in range(7):
                assert outbox.taken("g") == frozenset(str(n) for n in range(i))
                yield Request(Line(group="g", items=(str(i),), memo="{}"), b"{}")

        assert list(outbox.parts(work())) == [1, 2, 3]


def test_a_run_that_is_given_up_leaves_no_part_behind(tmp_path: Path) -> None:
    with Journal(tmp_path, "j") as journal:
        outbox = Outbox(journal, Limits(requests=2))
        stream = outbox.parts(requests(2, 2))
        next(stream)
        stream.close()
        assert [file.name for file in tmp_path.glob("part*")] == ["part-000001.jsonl"]
        assert journal.planned("source 1") is None
        assert journal.taken("g1") == frozenset()


def test_a_group_is_not_whole_while_its_lines_lie_in_an_unfinished_file(tmp_path: Path) -> None:
    def work() -> Iterator[Request | Whole]:
        yield from requests(1, 2)
        raise RuntimeError("died")

    with Journal(tmp_path, "j") as journal:
        with pytest.raises(RuntimeError, match="died"):
            list(Outbox(journal, Limits()).parts(work()))
        assert journal.planned("source 0") is None
        assert list(Outbox(journal, Limits()).parts(requests(1, 2))) == [1]
        assert journal.planned("source 0") == "g0"


def peak(folder: Path, groups: int) -> int:
    with Journal(folder, "j") as journal:
        outbox = Outbox(journal, Limits(requests=20))
        tracemalloc.start()
        for number in outbox.parts(requests(groups, 5, size=20_000)):
            journal.file_of(number).unlink()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_number_of_videos(tmp_path: Path) -> None:
    peak(tmp_path / "warm", 4)
    few, many = peak(tmp_path / "few", 8), peak(tmp_path / "many", 160)
    assert many < 1.5 * few + 50_000, (few, many)
