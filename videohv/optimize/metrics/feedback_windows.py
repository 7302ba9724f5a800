"""What can be said of agents that choose windows and look at them: against the annotated moments, if there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from videohv.evaluate.relied import best_overlap
from videohv.optimize.metrics.case import Case, brief, support
from videohv.types import Evidence, Look, Source, Support, Window

Said: TypeAlias = tuple[float, str]
"""How well an agent did, from 0 to 1, and why."""


def choosing(case: Case, windows: Sequence[Window], looked: Sequence[Evidence]) -> Said | None:
    """Whether the windows touch an annotated moment; without annotations, whether anything was seen in them.

    Args:
        case: The question.
        windows: That the agent chose.
        looked: What was seen in them.

    Returns:
        The share of the best window that lies in an annotated span (IoP). None where nothing can be said.
    """
    if not windows:
        return None
    spans = case.question.spans
    if not spans:
        if looked:
            return None
        return 0.0, f"Nothing was seen in the windows that it chose ({_listed(windows)})."
    shares = [(best.iop, window) for window in windows if (best := best_overlap(window, spans)) is not None]
    share, window = max(shares, key=lambda pair: pair[0])
    if share == 0:
        return 0.0, (
            f"Its windows ({_listed(windows)}) missed the moment: the annotators saw the answer at {_listed(spans)}."
        )
    return share, f"Its window {window} lies to {share:.0%} in the moment where the annotators saw the answer."


def looking(case: Case, looks: Sequence[Look]) -> Said | None:
    """Whether the looks at frames showed something, and whether what was seen at the annotated moment served.

    Args:
        case: The question.
        looks: Those in which the agent was asked.

    Returns:
        None where the agent was not asked or nothing can be said.
    """
    seen = [evidence for look in looks for evidence in look.evidence]
    if not looks or any(evidence.source is not Source.FRAMES for evidence in seen):
        return None
    if not seen:
        return 0.0, "The look saw nothing in any window."
    blind = [w for look in looks for w in look.windows if all(e.window != w for e in look.evidence)]
    if blind:
        return 0.5, f"The look saw nothing at {_listed(blind)}."
    there = [e for e in seen if e.observations and any(e.window.overlap(span) > 0 for span in case.question.spans)]
    if not there or case.check is None:
        return None
    stands = support(case.check, case.right)
    if stands is Support.SUPPORTED:
        return 1.0, "What it described at the annotated moment supported the right option."
    if stands is None:
        return None
    return 0.5, (
        f"It looked at the right moment ({there[-1].window}), but what it described did not support {case.answer}: "
        f'"{brief(there[-1].observations[-1].text)}".'
    )


def _listed(windows: Sequence[Window]) -> str:
    return ", ".join(str(window) for window in dict.fromkeys(windows))
