"""The card of a compiled program: what it is, how it came about, its figures and their limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from videohv.compiled.artifact import Artifact, Data, Scored, Step
from videohv.data.whole import write_whole
from videohv.evaluate.columns import bounds, number, percent, plain, probability
from videohv.modules.videohv import VideoHV
from videohv.types import Estimate, Model, clock

ABSENT = "not known"


class Fact(NamedTuple):
    """A line of a card."""

    name: str
    text: str


def card_of(artifact: Artifact) -> str:
    """The card in Markdown, ending in a line break. The same artifact has the same card, whenever it is made."""
    lines = [f"# {plain(artifact.name)}", "", about(artifact), ""]
    lines += ["```bash", f"videohv ask VIDEO {_arguments(artifact)} …", "```", ""]
    if artifact.scores:
        lines += ["## Figures", "", *_figures(artifact.scores), ""]
    lines += ["## How", "", "| | |", "|---|---|"]
    lines += [f"| {fact.name} | {_cell(fact.text)} |" for fact in facts(artifact)]
    lines += ["", "## Limits", "", *(f"- {limit}" for limit in limits(artifact))]
    return "\n".join(lines) + "\n"


def write_card(path: Path, artifact: Artifact) -> Path:
    """Write the card beside a compiled program, under its name with `.md`.

    Args:
        path: The program's file.
        artifact: What is in it.

    Raises:
        InputError: It cannot be written.
    """
    write_whole(card_path(path), card_of(artifact))
    return card_path(path)


def card_path(path: Path) -> Path:
    """Where the card of a compiled program lies: beside it."""
    return path.with_suffix(".md")


def about(artifact: Artifact) -> str:
    """What it is, in a sentence."""
    by = " and then ".join(step.name for step in artifact.optimizers) or "hand"
    models = " and ".join(dict.fromkeys(model.name for model in artifact.models)) or "no recorded model"
    data = artifact.data.title
    return plain(
        f"Prompts of the method {artifact.method}, made by {by} for {models}, on {data} against {artifact.metric}."
    )


def facts(artifact: Artifact) -> tuple[Fact, ...]:
    """How it came about, line by line."""
    return tuple(Fact(name, plain(text)) for name, text in _facts(artifact) if text)


def score_line(score: Scored) -> str:
    """A score of seed and compiled program in one line."""
    n = score.compiled
    return (
        f"{score.metric} {percent(score.compiled.value)} ({bounds(score.compiled)}), the seed "
        f"{percent(score.seed.value)}: {points(score.difference)} on {n.n} questions of {n.clusters} recordings"
    )


def points(difference: Estimate) -> str:
    """A difference with its interval, in points of a hundred."""
    return f"{100 * difference.value:+.1f} points ({100 * difference.low:+.1f} to {100 * difference.high:+.1f})"


def limits(artifact: Artifact) -> tuple[str, ...]:
    """What the figures do not say, a sentence each."""
    return tuple(dict.fromkeys(plain(sentence) for sentence in (*artifact.notes, *_limits(artifact))))


def optimizers_text(steps: Sequence[Step], preset: str = "") -> str:
    """The optimizers with their options."""
    named = [
        step.name + (f" ({', '.join(f'{k}={v}' for k, v in step.options.items())})" if step.options else "")
        for step in steps
    ]
    return ", then ".join(named) + (f"; preset {preset}" if preset else "")


def _facts(artifact: Artifact) -> Iterator[tuple[str, str]]:
    data, cost, versions = artifact.data, artifact.cost, artifact.versions
    yield "method", artifact.method
    yield (
        "settings",
        ", ".join(f"{name}={_value(value)}" for name, value in artifact.settings.items() if value not in (None, [])),
    )
    yield "optimizers", optimizers_text(artifact.optimizers, artifact.preset)
    yield "metric", artifact.metric
    yield "agents", ", ".join(role.removesuffix(".predict") for role in artifact.roles)
    demos = {agent.name.removesuffix(".predict"): len(agent.demos) for agent in artifact.agents if agent.demos}
    yield "demonstrations", ", ".join(f"{name} {count}" for name, count in demos.items()) or "none"
    yield "models", _models(artifact.models)
    yield "prompts by", artifact.prompt_model.name if artifact.prompt_model else ""
    yield "data", _data(data)
    yield "captions", data.captions + (f", one in {data.stride}" if data.stride > 1 else "") or data.captioner
    yield "seed", str(artifact.seed)
    yield "cost", _cost(cost.calls, cost.tokens, cost.dollars, cost.seconds)
    yield (
        "made with",
        ", ".join(
            f"{name} {version}"
            for name, version in (("videohv", versions.videohv), ("DSPy", versions.dspy), ("Python", versions.python))
            if version
        ),
    )
    yield "made from", ", ".join(f"{parent.name} ({parent.program_hash})" for parent in artifact.parents)
    yield "created", artifact.created
    yield "program", artifact.program_hash


def _data(data: Data) -> str:
    sizes = ", ".join(
        f"{len(ids)} {name}" for name, ids in (("train", data.train), ("dev", data.dev), ("test", data.test))
    )
    drawn = f"; partition {data.partition[:12]}, no recording in two parts" if data.partition else ""
    return f"{data.title}: {sizes} questions{drawn}"


def _models(models: Sequence[Model]) -> str:
    roles: dict[str, list[str]] = {}
    for model in models:
        roles.setdefault(model.name, []).append(model.role)
    if len(roles) == 1:
        return f"{next(iter(roles))} for all"
    return "; ".join(f"{name} for {', '.join(of)}" for name, of in roles.items())


def _cost(calls: int | None, tokens: int | None, dollars: float | None, seconds: float | None) -> str:
    parts = [f"{calls:,} calls"] if calls is not None else []
    parts += [f"{tokens:,} tokens"] if tokens is not None else []
    parts.append(number(dollars, money=True) if dollars is not None else f"price {ABSENT}")
    parts += [clock(float(round(seconds)))] if seconds is not None else []
    return ", ".join(parts)


def _figures(scores: Sequence[Scored]) -> Iterator[str]:
    yield "On questions that no optimizer saw, with 95 % intervals; a question that failed counts 0."
    yield ""
    yield "| | questions | recordings | seed | compiled | difference | p |"
    yield "|---|---|---|---|---|---|---|"
    for score in scores:
        cells = [
            score.metric,
            str(score.compiled.n),
            str(score.compiled.clusters),
            f"{percent(score.seed.value)} ({bounds(score.seed)})",
            f"{percent(score.compiled.value)} ({bounds(score.compiled)})",
            points(score.difference),
            probability(score.p) if score.p is not None else "",
        ]
        yield f"| {' | '.join(map(_cell, cells))} |"


def _limits(artifact: Artifact) -> Iterator[str]:
    if artifact.scores:
        test = artifact.scores[0].difference
        least = 100 * (test.high - test.low) / 2
        yield (
            f"{test.n} held-out questions tell apart programs that differ by more than about {least:.0f} points, and "
            "no closer ones."
        )
    if artifact.models:
        yield "The prompts were chosen for the models above; with others they may help less, or do harm."
    if artifact.data.captions:
        yield f"The captions were {plain(artifact.data.captions)}; other captions read differently."
    if artifact.data.train:
        yield (
            f"What was learnt is from {len(artifact.data.train)} questions of {artifact.data.title}, and was measured "
            "on no other benchmark."
        )


def _arguments(artifact: Artifact) -> str:
    method = "" if artifact.method == VideoHV.method else f"--method {plain(artifact.method)} "
    return f"{method}--program {plain(artifact.name) or 'FILE'}"


def _value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _cell(text: str) -> str:
    return plain(text).replace("|", "\\|")
