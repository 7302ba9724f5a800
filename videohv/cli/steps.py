"""The steps of a running question as lines, each as it ends; on a terminal, below them, what is going on right now."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from videohv.cli.console import clean
from videohv.cli.now import Now
from videohv.cli.progress import Counting
from videohv.modules.recorder import Event, EventKind, Progress
from videohv.types import (
    Answer,
    CaptionInfo,
    Check,
    Clue,
    Degradation,
    Draft,
    Evidence,
    Mode,
    Question,
    Segment,
    Status,
    Trace,
    Window,
    clock,
    letter,
)

_INDENT = 14
_REFINED = {
    Mode.SPECIFICITY: "the evidence did not decide: narrower hypotheses and a new clue",
    Mode.DISCRIMINABILITY: "the hypotheses overlap: ones that differ more, and a new clue",
}
_STYLE = {Status.VERIFIED: "bold green", Status.PARTIAL: "bold yellow", Status.NOT_VERIFIED: "bold red"}


_IN_BETWEEN = (EventKind.DEGRADED, EventKind.WARNING)
"""Events that come in the middle of a step."""


class Steps:
    """A listener that prints each event.

    Args:
        console: Where.

    Attributes:
        now: The last line of a terminal; a listener for the LM calls.
    """

    def __init__(self, console: Console) -> None:
        self.now = Now(console)
        self._console = console
        self._progress = Counting(console)
        self._round = 0

    def __call__(self, event: Event) -> None:
        """Print one event."""
        value = event.value
        if isinstance(value, Progress):
            self.now.hide()
            self._progress(value.step, value.done, value.total)
            return
        self._progress.close()
        if event.kind not in _IN_BETWEEN:
            self.now.end()
        if event.round != self._round:
            self._round = event.round
            self._console.rule(Text(f"round {event.round}"), align="left", characters="─")
        if isinstance(value, CaptionInfo):
            self._line(str(event.kind), f"{value.count} from {value.captioner}")
        elif isinstance(value, Question):
            self._line(
                "options", "\n".join(f"{letter(i)}. {text}" for i, text in enumerate(value.options)) + "\n(proposed)"
            )
        elif isinstance(value, Draft):
            self._draft(value)
        elif isinstance(value, Evidence):
            self._evidence(value)
        elif isinstance(value, Check):
            self._check(value)
        elif isinstance(value, Degradation):
            self._line("went without", f"{value.step}: {value.why}", "yellow")
        elif isinstance(value, Answer):
            self._line("answer", value.reasoning)
        elif isinstance(value, str):
            self._line("note", value, "dim")
        else:
            self._spans(event.kind, value)
            if event.kind is EventKind.WINDOWS:
                self.now.begin("frames")

    def close(self) -> None:
        """Take away what is still drawn."""
        self.now.end()
        self._progress.close()

    def _spans(self, kind: EventKind, spans: Iterable[Any]) -> None:
        if kind is EventKind.SUMMARY:
            lines = [f"{s.window}  {s.text}" for s in spans if isinstance(s, Segment)]
            self._line("summary", "\n".join(lines) or "(none)")
        else:
            self._line("looking at", ", ".join(str(w) for w in spans if isinstance(w, Window)))

    def _draft(self, draft: Draft) -> None:
        if draft.mode in _REFINED:
            self._line("refined", _REFINED[draft.mode], "magenta")
        lines = [
            f"{letter(h.option_index)}. {h.statement}{'  (set aside)' if h.pruned else ''}" for h in draft.hypotheses
        ]
        self._line("hypotheses", "\n".join(lines))
        if draft.clue is not None:
            note = f"  [{draft.quality}]" if draft.quality else ""
            self._line("clue", draft.clue.observation + note, "bold")
            self._line("", "\n".join(_predictions(draft.clue)), "dim")

    def _evidence(self, evidence: Evidence) -> None:
        lines = [f"{clock(o.time):>7}  {o.text}" for o in evidence.observations]
        self._line("seen" if evidence.source == "frames" else f"seen ({evidence.source})", "\n".join(lines))

    def _check(self, check: Check) -> None:
        self._line("status", str(check.status), _STYLE[check.status])
        self._line("because", check.rationale)
        if check.wanted:
            self._line("still wanted", ", ".join(str(w) for w in check.wanted))

    def _line(self, name: str, text: str, style: str = "") -> None:
        """Print a named block: wrapped and indented on a terminal, long lines elsewhere."""
        width = self._console.width - _INDENT - 1 if self._console.is_terminal else 100_000
        lines = [part for line in clean(text).splitlines() for part in textwrap.wrap(line, max(20, width)) or [""]]
        for i, line in enumerate(lines):
            head = Text(f"{name if i == 0 else '':<{_INDENT}}", style="cyan")
            self._console.print(head.append(line, style=style or "default"), soft_wrap=True)


def _predictions(clue: Clue) -> list[str]:
    return [f"if {letter(p.option_index)}: {p.expectation}" for p in clue.predictions]


def print_result(console: Console, trace: Trace) -> None:
    """The answer with its evidence as times, what was gone without, and what it cost."""
    answer = trace.answer
    if answer is not None and answer.option_index is not None:
        sure = f"  (confidence {answer.confidence:.0%})" if answer.confidence is not None else ""
        option = clean(trace.question.options[answer.option_index])
        console.print(Text(f"Answer: {letter(answer.option_index)}. {option}{sure}", style="bold"))
    elif answer is not None:
        console.print(Text("Abstained: the evidence does not decide.", style="bold yellow"))
    else:
        console.print(Text(f"No answer ({trace.outcome}): {clean(trace.error)}", style="bold red"))
    if trace.question.proposed and trace.question.options:
        others = " / ".join(clean(text) for text in trace.question.options)
        console.print(Text(f"Options: none were given; proposed: {others}"))
    if answer is not None and answer.reasoning:
        console.print(Text(f"Because: {clean(answer.reasoning)}"))
    if trace.status is not None:
        console.print(Text(f"Status: {trace.status}"))
    for item in trace.evidence:
        console.print(Text(f"Evidence {item.window} ({item.source}):"))
        for observation in item.observations:
            console.print(Text(f"  {clock(observation.time):>7}  {clean(observation.text)}"))
    for conflict in answer.conflicts if answer is not None else ():
        console.print(Text(f"Conflict: {clean(conflict)}", style="yellow"))
    for degradation in trace.degraded:
        console.print(Text(f"Went without: {degradation.step}: {clean(degradation.why)}", style="yellow"))
    tokens = sum(u.prompt_tokens + u.completion_tokens for u in trace.usage)
    cached = sum(u.cached_calls for u in trace.usage)
    again = f" and {cached} from the cache" if cached else ""
    console.print(
        Text(f"{len(trace.rounds)} rounds, {trace.calls} LM calls{again}, {tokens} tokens, {trace.seconds:.1f} s")
    )
