"""A trace as a table: everything that was seen, one observation a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from videohv.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd

    from videohv.types.trace import Trace

COLUMNS = ("round", "look", "start", "end", "time", "source", "text", "status")


def table(trace: Trace) -> pd.DataFrame:
    """See `Trace.to_dataframe`."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("pandas", "notebook", "a trace as a data frame") from None
    return pd.DataFrame(_rows(trace), columns=list(COLUMNS))


def _rows(trace: Trace) -> list[tuple[Any, ...]]:
    return [
        (
            *(r, k, evidence.window.start, evidence.window.end, observation.time),
            *(str(evidence.source), observation.text, str(look.check.status) if look.check else None),
        )
        for r, round_ in enumerate(trace.rounds, start=1)
        for k, look in enumerate(round_.looks, start=1)
        for evidence in look.evidence
        for observation in evidence.observations
    ]
