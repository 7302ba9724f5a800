"""Compiled programs made by hand."""

from __future__ import annotations

import sys
from typing import Any

import dspy

from videohv.compiled.agents import SOURCE, agents_hash, agents_of
from videohv.compiled.artifact import Artifact, Cost, Data, Parent, Scored, Step, Versions
from videohv.compiled.fingerprint import program_hash
from videohv.modules import VideoHV, VideoProgram, make_method
from videohv.types import Estimate, Model

JUDGED = {
    "question": "What does the person do?",
    "hypotheses": "A. cooks: a pan is on a stove\nB. reads: a book is open",
    "summary": "0:00-1:00 someone stands in a kitchen",
    "earlier_clue": "none",
    "comparison": "they differ in what the hands hold",
    "clue": "what the hands hold",
    "predictions": [{"option": "A", "expectation": "a pan"}, {"option": "B", "expectation": "a book"}],
    "quality": "DISTINCT",
}
"""A demonstration of the Judge."""


def judged(question: str = "", **changes: Any) -> dspy.Example:
    """A demonstration of the Judge as DSPy keeps it, taken from a question."""
    source = {SOURCE: question} if question else {}
    return dspy.Example(augmented=True, **{**JUDGED, **changes}, **source)


def a_compiled_program(method: str = "videohv", **settings: Any) -> VideoProgram:
    """A program with an instruction and demonstrations that are not the seed's."""
    program = make_method(method, **settings)
    if isinstance(program, VideoHV):
        program.judge.predict.signature = program.judge.predict.signature.with_instructions(
            "Find the clue.\nName one thing that a few frames show."
        )
        program.judge.predict.demos = [judged("q0001"), judged(clue="another thing")]
    else:
        name, predictor = program.named_predictors()[-1]
        predictor.signature = predictor.signature.with_instructions(f"Answer as {name} should.")
    return program


def scored(metric: str = "accuracy", seed: float = 0.4, compiled: float = 0.5) -> Scored:
    """Scores on forty questions of twenty recordings."""

    def about(value: float) -> Estimate:
        return Estimate(value=value, low=value - 0.15, high=value + 0.15, n=40, clusters=20)

    return Scored(metric=metric, seed=about(seed), compiled=about(compiled), difference=about(compiled - seed), p=0.21)


def an_artifact(program: VideoProgram | None = None, **changes: Any) -> Artifact:
    """A compiled program with everything that is recorded of one."""
    made = program or a_compiled_program(rounds=1)
    agents = agents_of(made)
    return Artifact(
        **{
            "name": "judge-bootstrap",
            "method": made.method,
            "settings": made.settings.model_dump(mode="json", exclude={"workers"}),
            "agents": agents,
            "program_hash": agents_hash(agents),
            "roles": ("judge.predict",),
            "optimizers": (Step(name="bootstrap", options={"demos": 4, "rounds": 1}),),
            "preset": "light",
            "metric": "accuracy",
            "data": Data(
                benchmark="egoschema",
                split="subset",
                source="subset_anno.json",
                partition="ab" * 32,
                train=("q0001", "q0002"),
                dev=("q0003",),
                test=tuple(f"q{i:04d}" for i in range(10, 50)),
                captions="lavila.json",
            ),
            "models": (Model(role="judge", name="embedded/tiny", identity="embedded/tiny"),),
            "seed": 3,
            "scores": (scored(),),
            "cost": Cost(calls=1234, tokens=567_890, dollars=0.0, seconds=3600.0),
            "versions": Versions(videohv="0.1.0+abc", dspy="3.4.1", python=sys.version.split()[0]),
            "parents": (Parent(name="seed", program_hash=program_hash(make_method(made.method))),),
            "created": "2026-12-01T02:00:00+00:00",
            **changes,
        }
    )
