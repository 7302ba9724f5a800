"""A trace in a notebook: as its report in a frame, and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from videohv.errors import MissingExtra
from videohv.report.page import framed
from videohv.report.single import html_of
from videohv.types import Evidence, Trace

if TYPE_CHECKING:
    import pandas as pd


def notebook_html(trace: Trace) -> str:
    """What a notebook shows of a trace: its report in a frame that cannot reach the notebook around it."""
    return framed(html_of(trace))


def dataframe(trace: Trace) -> pd.DataFrame:
    """Everything that was seen, one observation a row.

    Columns: `round`, `look`, `start` and `end` of the window and `time` of the observation in seconds, `source`,
    `text`, and the `status` of the check after it (None without one).

    Raises:
        MissingExtra: Without pandas.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("pandas", "notebook", "a trace as a data frame") from None
    columns = ["round", "look", "start", "end", "time", "source", "text", "status"]
    rows = [
        _row(r, k, evidence, observation.time, observation.text, look.check.status if look.check else None)
        for r, round_ in enumerate(trace.rounds, start=1)
        for k, look in enumerate(round_.looks, start=1)
        for evidence in look.evidence
        for observation in evidence.observations
    ]
    return pd.DataFrame(rows, columns=columns)


def _row(round_: int, look: int, evidence: Evidence, time: float, text: str, status: str | None) -> tuple[Any, ...]:
    named = str(status) if status is not None else None
    return (round_, look, evidence.window.start, evidence.window.end, time, str(evidence.source), text, named)
