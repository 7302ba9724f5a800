"""The journal: nothing lost, nothing twice, whatever happened to the process that wrote it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videohv.errors import InputError, VideoHVError
from videohv.evaluate import journal as journals
from videohv.evaluate.journal import NAME, Journal, line_of, read_entries, read_rows, read_trace, read_traces
from videohv.evaluate.row import Row
from videohv.types import Answer, Outcome, Question, Trace


def trace(name: str = "q1", outcome: Outcome = Outcome.ANSWERED, **changes: object) -> Trace:
    question = Question(id=name, text='What, if anything, is "trace":{ here?', options=("a", "b"), answer_index=0)
    answer = Answer(option_index=0) if outcome is Outcome.ANSWERED else None
    return Trace(question=question, outcome=outcome, answer=answer, **changes)


def write(folder: Path, *traces: Trace) -> None:
    with Journal(folder) as journal:
        for item in traces:
            journal.append(Row.of(item), item.model_dump_json())


def test_what_is_written_is_read(tmp_path: Path) -> None:
    first, second = trace("q1"), trace("q2", Outcome.PARSE_FAILED, error="the reply was \n no JSON")
    write(tmp_path, first, second)
    assert read_rows(tmp_path) == [Row.of(first), Row.of(second)]
    assert [t for _, t in read_traces(tmp_path)] == [first, second]
    assert read_trace(tmp_path, read_entries(tmp_path)["q2", 0]) == second


def test_a_question_asked_again_has_its_latest_row(tmp_path: Path) -> None:
    write(tmp_path, trace("q1", Outcome.LM_FAILED, error="gone"), trace("q2"))
    write(tmp_path, trace("q1"))
    assert [(row.id, row.outcome) for row in read_rows(tmp_path)] == [("q1", "answered"), ("q2", "answered")]
    assert len((tmp_path / NAME).read_bytes().splitlines()) == 3
    with Journal(tmp_path) as journal:
        assert len(journal.entries) == 2


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_torn_last_line_is_cut_off_wherever_it_was_torn(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    whole = b"".join(line_of(Row.of(t), t.model_dump_json()) for t in (trace("q1"), trace("q2", error="x" * 70_000)))
    last = line_of(Row.of(trace("q3")), trace("q3", error="y" * 70_000).model_dump_json())
    cut = data.draw(st.integers(0, len(last) - 1))
    (folder / NAME).write_bytes(whole + last[:cut])
    assert [row.id for row in read_rows(folder)] == ["q1", "q2"]
    with Journal(folder) as journal:
        assert journal.repaired is (cut > 0)
        journal.append(Row.of(trace("q3")), trace("q3").model_dump_json())
    assert [row.id for row in read_rows(folder)] == ["q1", "q2", "q3"]


@pytest.mark.parametrize("spoil", [b"\xff\xfe\n", b"{}\n", b"\n", b'{"row":{"id":1},"trace":{}}\n'])
def test_a_damaged_line_is_named(tmp_path: Path, spoil: bytes) -> None:
    write(tmp_path, trace("q1"))
    with (tmp_path / NAME).open("ab") as file:
        file.write(spoil)
    for opening in (read_rows, Journal):
        with pytest.raises(InputError, match="line 2 is damaged"):
            opening(tmp_path)


def test_two_processes_are_refused(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from videohv.evaluate.journal import Journal; Journal(Path(sys.argv[1]))"
    )
    with Journal(tmp_path):
        other = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "is in use by another process" in other.stderr
    with Journal(tmp_path):
        pass


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, trace("q1"))
    before = (tmp_path / NAME).read_bytes()
    real = os.write

    def half(file: int, data: bytes) -> int:
        if len(data) > 100:
            return real(file, data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with Journal(tmp_path) as journal:
        monkeypatch.setattr(
            journals.os, "write", lambda file, data: half(file, data[:150] if len(data) > 150 else data)
        )
        with pytest.raises(VideoHVError, match="No space left"):
            journal.append(Row.of(trace("q2")), trace("q2").model_dump_json())
        assert ("q2", 0) not in journal.entries
    assert (tmp_path / NAME).read_bytes() == before


def test_spent_counts_every_line(tmp_path: Path) -> None:
    usage = {"usage": ({"role": "answer", "calls": 2, "prompt_tokens": 10, "completion_tokens": 1, "cost": 0.5},)}
    write(tmp_path, trace("q1", Outcome.LM_FAILED, **usage), trace("q1", **usage))
    with Journal(tmp_path) as journal:
        assert journal.spent == (4, 22, 1.0)


def test_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run"):
        read_rows(tmp_path)
