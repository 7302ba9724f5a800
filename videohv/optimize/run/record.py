"""A finished compile as a compiled program with everything that is known of it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from videohv.compiled import read_artifact
from videohv.compiled.agents import agents_hash, agents_of
from videohv.compiled.artifact import SEED, Artifact, Cost, Data, Parent, Scored, Versions
from videohv.lm.counter import Amount
from videohv.modules.program import VideoProgram
from videohv.optimize.run.scoring import Proof
from videohv.optimize.run.state import State


def artifact_of(
    state: State, name: str, seed: VideoProgram, spent: Amount, *, preset: str, start: str, priced: bool
) -> Artifact:
    """What is written of a compile once both programs are scored.

    Args:
        state: With everything done.
        name: What the program is to be called.
        seed: What the compile began with.
        spent: Of all sittings.
        preset: Of the optimizers' options.
        start: What the seed was loaded from; empty for the package's own prompts.
        priced: Whether `spent` holds the price of every model.
    """
    assert state.learnt is not None
    assert state.proof is not None
    what, run = state.what, state.what.run
    return Artifact(
        name=name,
        method=run.method,
        settings=run.settings,
        agents=state.learnt.agents,
        program_hash=agents_hash(state.learnt.agents),
        roles=what.roles,
        optimizers=what.optimizers,
        preset=preset,
        metric=what.metric,
        data=Data(
            benchmark=run.benchmark,
            split=run.split,
            source=run.source,
            content_hash=run.data_hash,
            partition=what.split.partition,
            split_hash=what.split.hash,
            train=what.split.train,
            dev=what.split.dev,
            test=what.split.test,
            captions=run.captions,
            captions_hash=run.captions_hash,
            stride=run.stride,
            captioner=run.captioner,
        ),
        models=run.models,
        prompt_model=what.prompt_model,
        seed=run.seed,
        scores=tuple(_scores(state.proof)),
        cost=Cost(
            calls=int(spent.calls),
            tokens=int(spent.tokens),
            dollars=spent.cost if priced else None,
            seconds=state.seconds,
        ),
        versions=Versions(videohv=run.code, dspy=run.dspy, python=platform.python_version()),
        parents=tuple(_parents(start, seed)),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=tuple(_notes(state)),
    )


def _scores(proof: Proof) -> Iterator[Scored]:
    yield Scored(metric=proof.metric, seed=proof.seed, compiled=proof.compiled, difference=proof.difference, p=proof.p)
    contrast = proof.accuracy.contrast
    if contrast is not None and proof.metric != "accuracy":
        yield Scored(
            metric="accuracy",
            seed=contrast.a,
            compiled=contrast.b,
            difference=contrast.difference,
            p=contrast.p_clustered,
        )


def _parents(start: str, seed: VideoProgram) -> Iterator[Parent]:
    yield Parent(name=Path(start).stem or SEED, program_hash=agents_hash(agents_of(seed)))
    made = read_artifact(start) if start else None
    if made is not None:
        yield from made.parents


def _notes(state: State) -> Iterator[str]:
    assert state.learnt is not None
    assert state.proof is not None
    if not state.learnt.changed:
        yield "The optimizers changed nothing."
    if state.proof.is_worse:
        yield "It did worse than the program that it was made from."
    elif state.proof.difference.low <= 0 <= state.proof.difference.high:
        yield "The difference on the held-out questions is within what chance explains."
