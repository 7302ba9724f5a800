from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.evaluate.test_compare import pairs
from tests.support.rows import a_failure, a_row
from videohv.evaluate.columns import number, percent, probability, share, table
from videohv.evaluate.compare import compare
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.statistics import estimate
from videohv.evaluate.summary import summarise
from videohv.evaluate.tables import as_text
from videohv.evaluate.versus import comparison_text
from videohv.types import Model, Outcome, Status, Window

MANIFEST = Manifest(
    benchmark="nextqa",
    split="val",
    method="videohv",
    program="egoschema-v1",
    models=(Model(role="thinker", name="openai/gpt-4o"), Model(role="answer", name="openai/gpt-4o")),
)


def test_a_table_is_aligned_on_both_sides() -> None:
    assert table(("name", "n"), [("a", "1"), ("longer", "1,000")], right=(1,)) == (
        "name        n\na           1\nlonger  1,000"
    )


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), min_size=1, max_size=6))
def test_whatever_is_in_the_cells_columns_stay_aligned_and_lines_are_lines(rows: list[tuple[str, str]]) -> None:
    text = table(("first", "second"), [(a, b + "|") for a, b in rows])
    lines = text.split("\n")
    assert len(lines) == len(rows) + 1
    assert not any(unicodedata.category(c) == "Cc" for line in lines for c in line)
    start = cell_len(lines[0][: lines[0].index("second")])
    assert all(cell_len(line) > start for line in lines)


def test_wide_characters_take_their_room() -> None:
    first, second = table(("", ""), [("漢字", "x"), ("abcd", "x")]).split("\n")[1:]
    assert (first, second) == ("漢字  x", "abcd  x")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (3, "3"), (12.34, "12.3"), (0.123, "0.12"), (123.4, "123"), (1234567.0, "1,234,567"), (0, "0")],
)
def test_quantities(value: float | None, text: str) -> None:
    assert number(value) == text


def test_money_shares_and_probabilities() -> None:
    assert (number(0.00123, money=True), number(12.5, money=True)) == ("0.0012 $", "12.50 $")
    assert (percent(0.12345), percent(None), share(None)) == ("12.3 %", "–", "–")
    assert share(estimate([1.0] + [0.0] * 9, [str(i) for i in range(10)])) == "10.0 % (1.8 to 40.4 %)"
    assert (probability(0.04), probability(1e-5)) == ("0.040", "< 0.001")


ROWS = [
    a_row("1", type="CW", status=Status.VERIFIED, confidence=0.9, calls=3, stages=(("thinker", 2.0),), cost=0.5),
    a_row("2", right=False, type="TN", status=Status.PARTIAL, confidence=0.8, calls=5, prompt_tokens=100),
    a_row("3", right=None, type="TN", status=Status.PARTIAL),
    a_failure("4", error="the reply is \x1b[2Jno JSON\nat all", type="CW", degraded=("verifier.look",)),
]

EXPECTED = """\
nextqa:val, videohv, program egoschema-v1
models: openai/gpt-4o
4 of 9 finished, from 4 recordings; 3 with a known answer, 1 unscored

accuracy          95 % interval  of  what becomes of questions without an answer
strict    33.3 %  6.1 to 79.2 %   3  failures and abstentions are wrong
answered  50.0 %  9.5 to 90.5 %   2  failures and abstentions do not count
chance    40.0 %  8.5 to 82.8 %   3  failures and abstentions get 1 / number of options

outcome
answered      3  75.0 %
parse_failed  1  25.0 %
failure rate 25.0 % (4.6 to 69.9 %); abstained 0.0 % (0.0 to 49.0 %)
"""


def test_the_first_sections_of_a_small_run() -> None:
    assert as_text(summarise(ROWS, expected=9), MANIFEST).startswith(EXPECTED)


def test_every_section_is_there_and_nothing_steers_the_terminal() -> None:
    text = as_text(summarise(ROWS, groups=(("causal", ("CW",)),)))
    for start in ("group   n", "type  n", "last check", "confidence", "a question", "failed with", "went without"):
        assert any(line.lstrip().startswith(start) for line in text.splitlines()), start
    assert "\x1b" not in text
    assert "the reply is [2Jno JSON" in text
    assert "cost (of 1)" in text
    assert "seconds in thinker (of 1)" in text
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_grounding_and_bias_have_their_sections() -> None:
    facts = {"relied": (Window(start=0, end=1),), "iou": 0.4, "iop": 1.0, "union_iou": 0.4, "union_iop": 1.0}
    rows = [a_row("1", order=order, shown_right=order, **facts) for order in range(2)]
    text = as_text(summarise(rows))
    assert "Acc@GQA" in text
    assert "2 with annotated spans; 0 without a window" in text
    assert "1 questions under 2 option orders" in text
    assert "2 finished (1 questions under several option orders)" in text


def test_a_run_without_labels_and_one_without_rows() -> None:
    assert "none of the right answers is known" in as_text(summarise([a_row(right=None)]))
    assert as_text(summarise([], expected=5)) == "0 of 5 finished, from 0 recordings; 0 with a known answer"
    assert as_text(summarise([a_failure(outcome=Outcome.ABSTAINED)])).count("abstained") >= 2


def test_a_comparison_as_text() -> None:
    a, b = pairs(both=5, a=1, b=12, neither=3)
    text = comparison_text(compare([*a, a_row("x")], b, warnings=("other data",)), "runs/a", "runs/b")
    assert text.startswith(
        "warning: other data\n\nA: runs/a\nB: runs/b\n21 questions in both; 1 only in A, 0 only in B\n"
    )
    assert "both right 5, only A 1, only B 12, neither 3" in text
    assert "p: 0.002 by McNemar's test (two-sided mid-p)" in text
    assert "only B is right (12): b0, b1, b10, b11, b2, b3, b4, b5, b6, b7 and 2 more" in text
    assert "only A is right (1): a0\n" in text
    assert "LM calls" in text
    all_line = next(line for line in text.splitlines() if line.startswith("all"))
    assert all_line.split()[:9] == ["all", "21", "28.6", "%", "81.0", "%", "+52.4", all_line.split()[7], "to"]
