"""Prompts of agents on a terminal: whole or shortened, and side by side with what another program has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from rich.text import Text

from videohv.cli.console import clean
from videohv.compiled.artifact import Agent, Demo
from videohv.compiled.changes import AgentChange, Texts

_SHOWN = 100
"""Characters of a value that are shown where it is shortened."""
_AROUND = 2
"""Lines that are the same and shown before and after one that is not."""
_ALIKE = 0.5
"""Share of words in common from which on a line counts as changed, and not as another one."""

_LESS, _MORE = "red", "green"


def agent_lines(agent: Agent, *, full: bool) -> Iterator[Text]:
    """What an agent is told."""
    yield Text(agent.name, style="bold cyan")
    for line in clean(agent.instructions).splitlines():
        yield Text(f"  {line}")
    if full:
        for field in agent.fields:
            yield Text(clean(f"  {field.prefix} ({field.name}: {field.kind}) {field.description}"), style="dim")
    if agent.demos:
        yield Text(f"  {len(agent.demos)} demonstrations")
    for number, demo in enumerate(agent.demos, start=1):
        yield Text(f"  {number}. {_source(demo)}")
        yield from _values(demo, "     ", full)


def change_lines(change: AgentChange, *, full: bool) -> Iterator[Text]:
    """What one agent is told in only one of two programs."""
    yield Text(change.agent, style="bold cyan")
    if change.instructions is not None:
        yield Text("  instructions")
        yield from _diff(change.instructions, full)
    for field in change.fields:
        for what, texts in (("prefix", field.prefix), ("description", field.description)):
            if texts is not None:
                yield Text(f"  {what} of {field.name}")
                yield from _diff(texts, full)
    for sign, style, demos in (("-", _LESS, change.removed), ("+", _MORE, change.added)):
        for demo in demos:
            yield Text(f"  {sign} demonstration {_source(demo)}", style=style)
            yield from _values(demo, "      ", full)
    if change.reordered:
        yield Text(f"  the {change.kept} demonstrations that are in both are in another order")


def _diff(texts: Texts, full: bool) -> Iterator[Text]:
    a, b = clean(texts.before).splitlines(), clean(texts.after).splitlines()
    for kind, a_from, a_to, b_from, b_to in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from _same(a[a_from:a_to], full, first=a_from == 0, last=a_to == len(a))
            continue
        before, after = a[a_from:a_to], b[b_from:b_to]
        if len(before) == len(after) and all(map(_alike, before, after)):
            yield from (_words(old, new) for old, new in zip(before, after, strict=True))
            continue
        yield from (Text(f"  - {line}", style=_LESS) for line in before)
        yield from (Text(f"  + {line}", style=_MORE) for line in after)


def _same(lines: Sequence[str], full: bool, *, first: bool, last: bool) -> Iterator[Text]:
    head, tail = 0 if first else _AROUND, 0 if last else _AROUND
    if full or len(lines) <= head + tail + 1:
        yield from (Text(f"    {line}") for line in lines)
        return
    yield from (Text(f"    {line}") for line in lines[:head])
    yield Text(f"    … {len(lines) - head - tail} lines that are the same", style="dim")
    yield from (Text(f"    {line}") for line in lines[len(lines) - tail :])


def _alike(old: str, new: str) -> bool:
    return SequenceMatcher(None, old.split(), new.split(), autojunk=False).ratio() >= _ALIKE


def _words(old: str, new: str) -> Text:
    """A changed line, word by word."""
    a, b = old.split(), new.split()
    parts: list[Text] = []
    for kind, a_from, a_to, b_from, b_to in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(Text(" ".join(a[a_from:a_to])))
            continue
        if a_to > a_from:
            parts.append(Text(f"[-{' '.join(a[a_from:a_to])}-]", style=_LESS))
        if b_to > b_from:
            parts.append(Text(f"{{+{' '.join(b[b_from:b_to])}+}}", style=_MORE))
    return Text("  ~ ").append(Text(" ").join(parts))


def _source(demo: Demo) -> str:
    kind = "from a trace" if demo.values.get("augmented") else "given"
    return clean(f"of question {demo.question}, {kind}" if demo.question else kind)


def _values(demo: Demo, indent: str, full: bool) -> Iterator[Text]:
    shown = {name: value for name, value in demo.values.items() if name != "augmented"}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        text = clean(_said(value))
        if full:
            lines = text.splitlines() or [""]
            yield Text(f"{indent}{name:<{width}}  {lines[0]}")
            yield from (Text(f"{indent}{'':<{width}}  {line}") for line in lines[1:])
        else:
            line = " ".join(text.split())
            yield Text(f"{indent}{name:<{width}}  {line if len(line) <= _SHOWN else line[: _SHOWN - 2] + ' …'}")


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
