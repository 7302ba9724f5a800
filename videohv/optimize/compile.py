"""A compile from beginning to end: try everything once, agree on the price, optimise, prove it, and only then write.

Everything that a model was asked is kept in the work directory's own response cache, and seeds are fixed. A compile
that was interrupted at any moment goes through the same steps again, and is answered out of the cache up to where it
was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from videohv.compiled import read_artifact, write_artifact
from videohv.data.dataset import Dataset
from videohv.errors import InputError
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.limits import NO_LIMITS, Limits
from videohv.lm.budget import Budget, spending
from videohv.lm.cache import own_cache
from videohv.lm.counter import Amount
from videohv.lm.roles import looks
from videohv.modules.program import VideoProgram
from videohv.optimize.guard import GuardLimits
from videohv.optimize.metrics.metric import make_metric
from videohv.optimize.registry import Preset
from videohv.optimize.run.card import card_path, write_card
from videohv.optimize.run.forecast import Forecast
from videohv.optimize.run.order import Order
from videohv.optimize.run.phases import Phases
from videohv.optimize.run.progress import Progress, Watch
from videohv.optimize.run.record import artifact_of
from videohv.optimize.run.scoring import Proof
from videohv.optimize.run.spent import KeptCounter
from videohv.optimize.run.split import Sizes, parts_of, roles_meant
from videohv.optimize.run.state import NAME, Learnt, Work
from videohv.optimize.run.steps import make_steps

FAILURES = GuardLimits().failed
"""Share of questions that may fail before a compile is stopped."""


@dataclass(frozen=True)
class Compiled:
    """What a compile came to.

    Args:
        program: The compiled program, with the models of the one that it was made from.
        artifact: The file that was written; under another name than was asked for if the program is worse.
        proof: Both scores on the held-out part and their paired difference.
        learnt: What the optimizers did.
        seed_run: Run directory of the seed on the held-out part.
        compiled_run: Of the compiled program.
        spent: Calls, tokens and US dollars of all sittings.
    """

    program: VideoProgram
    artifact: Path
    proof: Proof
    learnt: Learnt
    seed_run: Path
    compiled_run: Path
    spent: Amount


def worse_name(out: Path) -> Path:
    """Where a compiled program is kept that did worse than its seed."""
    return out.with_name(f"{out.stem}.worse{out.suffix}")


def usual_roles(program: VideoProgram, inputs: Inputs) -> tuple[str, ...]:
    """The agents that are asked with what there is to answer from: without videos none that looks at frames."""
    names = {agent: agent.removesuffix(".predict") for agent, _ in program.named_predictors()}
    return tuple(
        agent
        for agent, role in names.items()
        if not (looks(role) and inputs.videos is None) and not (role == "captioner" and inputs.captions is not None)
    )


def compile_program(
    program: VideoProgram,
    dataset: Dataset,
    out: Path,
    *,
    optimizer: str | Sequence[str],
    options: Mapping[str, Any] | None = None,
    preset: Preset = "light",
    roles: Sequence[str] = (),
    metric: str = "accuracy",
    captions: Path | None = None,
    videos: Path | None = None,
    decoder: str = "auto",
    stride: int = 1,
    sizes: Sizes = Sizes(),  # noqa: B008  A frozen value.
    threads: int = 1,
    prompt_lm: dspy.BaseLM | None = None,
    start: str = "",
    limits: Limits = NO_LIMITS,
    failures: float = FAILURES,
    confirm: Callable[[Forecast], bool] = lambda estimate: True,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Compiled:
    """Improve a program's prompts for a benchmark, and prove it on questions that no optimizer saw.

    Called again with the same arguments it goes on where an earlier call stopped, however that ended, and asks no model
    anything twice. The models are those that are configured; each must use the response cache. Only one compile runs in
    a process at a time.

    Args:
        program: Where to begin; it stays as it is.
        dataset: A whole split, as `load_questions` gives it.
        out: The artifact. Beside it, `<out>.work` keeps everything that was learnt on the way.
        optimizer: A name, or several that work one after the other.
        options: Of the optimizers, by name; `gepa.passes` is for that one of several.
        preset: Of the options that are not given.
        roles: Agents or families of agents that may be changed; none means all that are asked.
        metric: What is to become better.
        captions: Published captions: a file that names its videos, or a folder with one file a video.
        videos: Folder of the video files.
        decoder: Who decodes them.
        stride: Of the published captions of a video every n-th one is used.
        sizes: At most so many questions of each part.
        threads: Questions at once.
        prompt_lm: Writes instructions; None is the configured general model.
        start: What the program was loaded from, if it is a compiled one.
        limits: What all sittings together may spend.
        failures: Share of questions that may fail for want of a model before the compile is stopped.
        confirm: Asked once, with the estimate; False ends it.
        on_progress: Told how far it has come, at each step and once a second.

    Raises:
        InputError: Something given cannot be used; `out` exists or belongs to another compile; nobody agreed.
        PreflightFailed: A role or model brought nothing; the message says which.
        CompileStopped: An outage, too many failures or a limit ended it. What was learnt is kept.
        OptimizerFailed: The optimizer ended without a result.
        LeakError: A question of the dev or test part is in the compiled prompts.
    """
    inputs = Inputs(captions, videos, decoder, stride)
    agents = [name for name, _ in program.named_predictors()]
    chosen = roles_meant(roles, agents) if roles else usual_roles(program, inputs)
    steps = make_steps([optimizer] if isinstance(optimizer, str) else optimizer, options or {}, preset)
    parts, scored_by = parts_of(dataset, sizes), make_metric(metric)
    with Work(out) as work, own_cache(work.folder / "cache"), KeptCounter(work.folder / "spent") as counter:
        if out.exists() and not (work.folder / NAME).exists():
            raise InputError(f"{out} exists and no compile in {work.folder} made it: name another --out")
        budget = Budget(
            "compile", max_calls=limits.calls, max_tokens=limits.tokens, max_cost=limits.cost, counter=counter
        )
        watch = Watch(on_progress, budget)
        order = Order(
            program=program,
            dataset=dataset,
            parts=parts,
            inputs=inputs,
            steps=steps,
            roles=chosen,
            metric=scored_by,
            threads=threads,
            prompt_lm=prompt_lm or dspy.settings.lm,
            start=start,
            out=out,
            failures=failures,
            folder=work.folder / "optimizers",
            on_trial=watch.tried,
        )
        phases = Phases(order, work, budget, confirm, watch)
        with spending(budget), dspy.context(disable_history=True):
            state = phases.go()
        assert state.learnt is not None
        assert state.proof is not None
        path = worse_name(out) if state.proof.is_worse else out
        fresh = not path.exists()
        if fresh:
            made = artifact_of(state, path.stem, program, budget.spent, preset=preset, start=start, priced=order.priced)
            write_artifact(path, made)
        if (fresh or not card_path(path).exists()) and (written := read_artifact(path)) is not None:
            write_card(path, written)
        return Compiled(
            program=phases.compiled(state),
            artifact=path,
            proof=state.proof,
            learnt=state.learnt,
            seed_run=phases.seed_run,
            compiled_run=phases.compiled_run,
            spent=budget.spent,
        )
