"""How a compile is shown: what it will take, how far it has come, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from videohv.cli.oneline import OneLine
from videohv.optimize.run.card import points
from videohv.optimize.run.forecast import Forecast
from videohv.optimize.run.progress import Phase, Progress
from videohv.optimize.run.scoring import Proof
from videohv.types import clock


class Compiling(OneLine):
    """A listener for the progress of a compile: each phase and each trial is worth a line."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._said: tuple[object, ...] = ()

    def __call__(self, progress: Progress) -> None:
        """Show how far it has come."""
        scored = progress.scored
        news = (progress.phase, progress.trials, progress.doing, scored is not None and scored.done == scored.total)
        self.show(line(progress), news=news != self._said)
        self._said = news


def line(progress: Progress) -> str:
    """How far a compile has come, in one line."""
    parts = [str(progress.phase)]
    if progress.doing:
        parts.append(progress.doing)
    trial, scored = progress.trial, progress.scored
    if scored is not None:
        parts.append(f"{scored.done}/{scored.total} questions, {scored.right} right")
    elif trial is not None and progress.phase is Phase.OPTIMISE:
        parts.append(f"trial {trial.number}" + (f"/{trial.of}" if trial.of else ""))
        parts.append(f"{trial.score:.1%} on {trial.examples}, best {trial.best:.1%}")
    parts.append(f"{progress.calls} calls, {progress.tokens:,} tokens")
    if progress.cost:
        parts.append(f"${progress.cost:.2f}")
    if progress.left is not None:
        parts.append(f"at most {clock(float(round(progress.left)))} left")
    return ", ".join(parts)


def foretold(found: Forecast) -> Iterator[tuple[str, str]]:
    """An estimate in lines."""
    prompts = f" and {found.prompts:,} prompts to be written" if found.prompts else ""
    yield "at most", f"{found.questions:,} runs of the program{prompts}; what is in the cache makes it less"
    yield "calls", f"about {found.calls:,}, {found.tokens:,} tokens"
    yield "price", f"about ${found.cost:,.2f}" if found.cost is not None else "not known"
    yield "time", f"about {clock(float(round(found.seconds)))}"


def verdict(proof: Proof) -> Iterator[tuple[str, str]]:
    """What the two scorings came to, in lines."""
    for name, mean in (("seed", proof.seed), ("compiled", proof.compiled)):
        yield name, f"{mean.value:.1%} ({mean.low:.1%} to {mean.high:.1%}), {mean.n} test questions"
    yield "difference", f"{points(proof.difference)}, paired"
    contrast = proof.accuracy.contrast
    if contrast is not None and proof.metric != "accuracy":
        yield "accuracy", f"{contrast.a.value:.1%} seed, {contrast.b.value:.1%} compiled"
    if contrast is not None:
        yield "pairs", f"{contrast.only_b} right only compiled, {contrast.only_a} only as seed, p {contrast.p:.2f}"
