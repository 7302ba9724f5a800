"""The values of `videohv.types` as the text that a prompt shows, and letters and windows read back from replies."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from videohv.modules.ask import Unusable
from videohv.types import Caption, Clue, Evidence, Hypothesis, Question, Round, Segment, Source, Window, letter, whole

_QUOTES = " \t\r\n\"'`*_“”‘’"
_PUNCTUATION = ".:,;!()[]{}<>"
_INTRODUCTION = re.compile(
    r"^(?:the\s+)?(?:(?:correct|best|right)\s+)?(?:option|answer)\b\s*(?:is\b|:)?\s*", re.IGNORECASE
)
_LETTER_AND_TEXT = re.compile(r"^[(\[]?([A-Za-z])\s*[.):\]]+\s+(\S.*)$", re.ASCII | re.DOTALL)
MOST_CHARACTERS = 4_000
"""Characters of one text in a reply that are kept."""
MOST_ITEMS = 50
"""Items of one list in a reply that are read."""
_NONE = "none"


class _SpanLike(Protocol):
    start: float
    end: float


def options_text(question: Question) -> str:
    """One option a line, each with its letter."""
    return "\n".join(f"{letter(i)}. {' '.join(option.split())}" for i, option in enumerate(question.options))


class Line(NamedTuple):
    """A line of a prompt about a span of time, in seconds."""

    start: float
    end: float
    text: str

    @classmethod
    def of(cls, start: float, end: float, text: str) -> Line:
        """`[12s] text`, or `[12-15s] text` for more than a moment."""
        span = _seconds(start) if start == end else f"{_seconds(start)}-{_seconds(end)}"
        return cls(start, end, f"[{span}s] {text}")


def captions_lines(captions: Sequence[Caption]) -> list[Line]:
    """One line a moment; moments that follow each other with the same text share one."""
    lines: list[Line] = []
    i = 0
    while i < len(captions):
        j = i
        while j + 1 < len(captions) and captions[j + 1].text == captions[i].text:
            j += 1
        lines.append(Line.of(captions[i].time, captions[j].time, captions[i].text))
        i = j + 1
    return lines


def summary_text(summary: Iterable[Segment]) -> str:
    """One passage a line with its span in seconds."""
    lines = [Line.of(s.window.start, s.window.end, s.text).text for s in summary]
    return "\n".join(lines) or "(no summary could be made)"


def hypotheses_text(hypotheses: Iterable[Hypothesis], question: Question) -> str:
    """One hypothesis a line: its option, with the letter, and what must be visible for it."""
    lines = []
    for h in hypotheses:
        option = " ".join(question.options[h.option_index].split())
        stated = "" if _folded(h.statement) == _folded(option) else f" (must show: {h.statement})"
        lines.append(f"{letter(h.option_index)}. {option}{stated}")
    return "\n".join(lines)


def clue_text(clue: Clue | None) -> str:
    """The clue, and below it what each hypothesis predicts."""
    if clue is None:
        return _NONE
    lines = [clue.observation]
    lines += [f"- if {letter(p.option_index)}: {p.expectation}" for p in clue.predictions]
    return "\n".join(lines)


def evidence_text(evidence: Iterable[Evidence]) -> str:
    """One observation a line with its time, grouped by the window that was looked at."""
    kinds = {Source.FRAMES: "frames", Source.TAGS: "objects and text detected", Source.CAPTIONS: "captions only"}
    lines: list[str] = []
    for item in evidence:
        span = f"{_seconds(item.window.start)}-{_seconds(item.window.end)}s"
        lines.append(f"Looked at {span} ({kinds[item.source]}):")
        lines += [f"  [{_seconds(o.time)}s] {o.text}" for o in item.observations]
    return "\n".join(lines) or "(nothing was seen)"


def rounds_text(rounds: Iterable[Round]) -> str:
    """What was supposed, tested and found, round by round: the reasoning trace that Answer reads."""
    lines: list[str] = []
    for number, round_ in enumerate(rounds, start=1):
        lines.append(f"Round {number}. Hypotheses:")
        for h in round_.hypotheses:
            lines.append(f"  {letter(h.option_index)}. {h.statement}{' (set aside, not tested)' if h.pruned else ''}")
        for k, look in enumerate(round_.looks, start=1):
            spans = ", ".join(f"{_seconds(w.start)}-{_seconds(w.end)}s" for w in look.windows)
            lines.append(f"  Look {k} at {spans}.")
            if look.check:
                lines.append(f"  {look.check.status}: {look.check.rationale}")
                lines += [f"    {letter(v.option_index)} {v.support}: {v.why}" for v in look.check.verdicts]
    return "\n".join(lines) or _NONE


_ECHO = "# note: the value you produce"


def read_letter(text: str, question: Question) -> int:
    """The option that a reply names: by its letter, by its text, or by both if they agree.

    Anything else is unusable rather than guessed at: `A dog runs` is a sentence and no choice of A, `A, B` and
    `A: no, B` name two options, and a letter with a text that is not its option's says two things at once.

    Raises:
        Unusable: It names none of the options, or more than one.
    """
    # A small model copies what DSPy's prompt says of a field behind the value that it gives for it.
    own = text.partition(_ECHO)[0]
    whole_reply = "".join(c for c in own if unicodedata.category(c) != "Cf").strip(_QUOTES)
    texts = [_folded(option) for option in question.options]
    said = whole_reply if _folded(whole_reply) in texts else _INTRODUCTION.sub("", whole_reply)
    alone = said.strip(_QUOTES + _PUNCTUATION)
    if len(alone) == 1 and alone.isascii() and alone.isalpha():
        return _existing(alone.upper(), text, question)
    if (wanted := _folded(said)) in texts:
        return texts.index(wanted)
    if not (match := _LETTER_AND_TEXT.match(said)):
        raise Unusable(f"{text[:60]!r} names no option")
    index = _existing(match.group(1).upper(), text, question)
    rest = _folded(match.group(2))
    if not (texts[index].startswith(rest) or rest.startswith(texts[index])):
        raise Unusable(f"{text[:60]!r} gives a letter with a text that is not that option's")
    return index


def _existing(option_letter: str, text: str, question: Question) -> int:
    index = ord(option_letter) - ord("A")
    if index >= len(question.options):
        raise Unusable(f"{text[:60]!r} names an option that does not exist; there are {len(question.options)}")
    return index


def tidy(text: str) -> str:
    """What a model said as one line of whole characters, cut where no prompt could use more of it."""
    line = " ".join(whole(text[: 2 * MOST_CHARACTERS]).split())
    if line in ("None", "null"):  # what DSPy makes of a field that a model left out
        return ""
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " …"


def read_windows(spans: Iterable[_SpanLike], duration: float, limit: int) -> tuple[Window, ...]:
    """Usable windows out of what a model wrote: cut to the video, at least a second long, no two alike, in its order.

    Spans that are reversed are turned round; spans without finite times or wholly outside of the video are left out.
    """
    windows: list[Window] = []
    for span in islice(spans, MOST_ITEMS):
        if not (math.isfinite(span.start) and math.isfinite(span.end)):
            continue
        low, high = sorted((span.start, span.end))
        if high < 0 or low > duration:
            continue
        low, high = max(0.0, low), min(duration, high)
        if high - low < 1.0:
            middle = (low + high) / 2
            low, high = max(0.0, middle - 0.5), min(duration, middle + 0.5)
        window = Window(start=round(low, 3), end=round(high, 3))
        if not any(seen(window, earlier) for earlier in windows):
            windows.append(window)
    return tuple(windows[:limit])


def seen(window: Window, earlier: Window) -> bool:
    """Whether a look at `window` would show little that a look at `earlier` did not."""
    return window.overlap(earlier) >= 0.8 * max(window.duration, earlier.duration, 1e-9)


def thinned(items: Sequence[Caption], limit: int) -> tuple[Caption, ...]:
    """At most `limit` of the captions, evenly spread."""
    if len(items) <= limit:
        return tuple(items)
    return tuple(items[i * len(items) // limit] for i in range(limit))


def _seconds(time: float) -> str:
    return str(int(time)) if time == int(time) else f"{time:.2f}".rstrip("0").rstrip(".")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")
