"""A trace in a notebook: as its report in a frame, and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from videohv.report.page import framed
from videohv.report.single import html_of
from videohv.types import Trace

if TYPE_CHECKING:
    import pandas as pd


def notebook_html(trace: Trace) -> str:
    """What a notebook shows of a trace: its report in a frame that cannot reach the notebook around it."""
    return framed(html_of(trace))


def dataframe(trace: Trace) -> pd.DataFrame:
    """The same as `Trace.to_dataframe`."""
    return trace.to_dataframe()
