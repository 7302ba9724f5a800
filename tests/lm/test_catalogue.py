from __future__ import annotations

import pytest

from videohv.errors import InputError
from videohv.lm.catalogue import DEFAULT, entries, entry, read_parts


def test_the_default_comes_first_and_is_the_larger_model() -> None:
    assert entries()[0].name == DEFAULT == "qwen2.5-coder-1.5b"
    assert [len(e.parts) for e in entries()] == [22, 6]


def test_parts_are_in_the_order_of_their_slices() -> None:
    for e in entries():
        numbers = [int(part.name.rpartition("part")[2]) for part in e.parts]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_part_is_pinned_as_pip_reads_it() -> None:
    part = read_parts("some-part1==0.9.0 --hash=sha256:" + "a" * 64 + "\n\n", "list.txt")[0]
    assert part.line == "some-part1==0.9.0 --hash=sha256:" + "a" * 64


@pytest.mark.parametrize(
    "line", ["some-part1==0.9.0", "some-part1 --hash=sha256:" + "a" * 64, "x==1 --hash=sha256:abc"]
)
def test_a_part_without_its_pin_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"list\.txt, line 2"):
        read_parts("\n" + line, "list.txt")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"qwen2\.5-coder-1\.5b, qwen2\.5-coder-0\.5b"):
        entry("gpt-9")
