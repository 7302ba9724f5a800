"""A compiled program with everything that is known of how it was made: the values, as they lie in its file."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from videohv.types import Estimate, Model, Value

SEED = "seed"
"""What the prompts are called that the package comes with."""


class AgentField(Value):
    """A field of an agent's signature.

    Args:
        name: In the signature.
        kind: Direction and type, as `field_kinds` says them: a program fits where they are the same.
        prefix: How the field is announced.
        description: What the agent is told about it.
    """

    name: str
    kind: str
    prefix: str
    description: str


class Demo(Value):
    """A demonstration.

    Args:
        values: By field name; plain JSON. `augmented` beside them says that it was taken from a trace.
        question: Id of the question that it was taken from; empty if it is not known.
    """

    values: dict[str, Any]
    question: str = ""


class Agent(Value):
    """What one agent is told.

    Args:
        name: As in `named_predictors()`.
        instructions: The task.
        fields: In the signature's order.
        demos: Demonstrations, in the order in which they are shown.
    """

    name: str
    instructions: str
    fields: tuple[AgentField, ...]
    demos: tuple[Demo, ...] = ()


class Step(Value):
    """An optimizer as it was used: its name and all its options, those of the preset filled in."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)


class Data(Value):
    """The questions that it was compiled with.

    Args:
        benchmark: Name in the registry.
        split: Of the benchmark.
        source: Where they came from: file names without directories, or Hub ids.
        content_hash: Over the questions, as they were asked.
        partition: Hash of the partition of the split (`videohv.data.partition`).
        split_hash: Over the partition and the ids of all three parts.
        train: Ids of those that were learnt from.
        dev: Ids of those that candidates were chosen by.
        test: Ids of the held-out ones that the scores are of.
        seed: The partition was drawn with.
        captions: Name of the published captions; empty for none.
        captions_hash: Over their content.
        stride: Of these captions every n-th one was used.
        captioner: Who captioned what had no captions; empty where no video was given.
    """

    benchmark: str
    split: str = ""
    source: str = ""
    content_hash: str = ""
    partition: str = ""
    split_hash: str = ""
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    seed: int = 0
    captions: str = ""
    captions_hash: str = ""
    stride: int = 1
    captioner: str = ""

    @property
    def title(self) -> str:
        """Benchmark and split as the command line names them."""
        return self.benchmark + (f":{self.split}" if self.split else "")


class Scored(Value):
    """Seed and compiled program on the held-out questions.

    Args:
        metric: What was measured; a question that failed counts 0.
        seed: Mean of the program that the compile began with.
        compiled: Mean of the compiled one.
        difference: compiled - seed, paired; interval by resampling whole recordings.
        p: Two-sided, by flipping the sign of whole recordings; None where it was not tested.
    """

    metric: str
    seed: Estimate
    compiled: Estimate
    difference: Estimate
    p: float | None = None


class Cost(Value):
    """What the compile took, scoring included; None is not known.

    Args:
        calls: LM calls that were sent.
        tokens: Of prompts and replies.
        dollars: By the listed prices.
        seconds: Of all sittings.
    """

    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None


class Versions(Value):
    """What it was compiled with."""

    videohv: str = ""
    dspy: str = ""
    python: str = ""


class Parent(Value):
    """The program that a compile began with: `seed`, or a compiled one."""

    name: str
    program_hash: str


class Artifact(Value):
    """A compiled program.

    Args:
        name: What it is called.
        method: Name in the registry of methods.
        settings: Of the method, as it was compiled and scored with.
        agents: All of them, in the program's order.
        program_hash: Over what the agents are told; that of the loaded program is the same.
        roles: Agents that the optimizers were let at.
        optimizers: In the order in which they worked.
        preset: light, medium or heavy; empty where none was used.
        metric: What was to become better.
        data: The questions.
        models: Which role used which.
        prompt_model: Who wrote instructions; None for the roles' own or where nobody did.
        seed: For everything random.
        scores: On the held-out questions, that of `metric` first.
        cost: Of the compile.
        versions: Of what it was compiled with.
        parents: What it was made from, the nearest first.
        created: ISO 8601, UTC.
        notes: What a reader must know beside, a sentence each.
    """

    name: str
    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    agents: tuple[Agent, ...]
    program_hash: str
    roles: tuple[str, ...] = ()
    optimizers: tuple[Step, ...] = ()
    preset: str = ""
    metric: str = ""
    data: Data
    models: tuple[Model, ...] = ()
    prompt_model: Model | None = None
    seed: int = 0
    scores: tuple[Scored, ...] = ()
    cost: Cost = Cost()
    versions: Versions = Versions()
    parents: tuple[Parent, ...] = ()
    created: str = ""
    notes: tuple[str, ...] = ()
