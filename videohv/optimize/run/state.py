"""Where a compile stands: what it is, and the phases that are finished, in one file that is replaced as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from videohv.compiled.artifact import Agent, Step
from videohv.data.taken import take
from videohv.data.whole import write_whole
from videohv.errors import InputError
from videohv.evaluate.manifest import Manifest
from videohv.optimize.run.forecast import Forecast
from videohv.optimize.run.preflight import Measured
from videohv.optimize.run.scoring import Proof
from videohv.optimize.run.split import Split
from videohv.optimize.task import Trial
from videohv.types import Model, Value

NAME = "compile.json"


class Compilation(Value):
    """What makes a compile what it is: two of one identity ask the same questions and come to the same program.

    Args:
        run: Program, models, data, settings and versions, as of a run over the questions of all three parts.
        split: Which of them are in which part.
        optimizers: In the order in which they work.
        metric: What is to become better.
        roles: Agents that may be changed.
        prompt_model: Who writes instructions; None if no model was named for it.
    """

    schema_version: int = 1
    run: Manifest
    split: Split
    optimizers: tuple[Step, ...]
    metric: str
    roles: tuple[str, ...]
    prompt_model: Model | None = None

    def differences(self, other: Compilation) -> list[str]:
        """A line for everything that counts and is not the same in `other`."""
        lines = self.run.differences(other.run)
        for part in ("train", "dev", "test"):
            ours, theirs = getattr(self.split, part), getattr(other.split, part)
            if ours != theirs:
                lines.append(f"{part}: {len(ours)} questions then, {len(theirs)} now (or others)")
        ours, theirs = dict(self._flat()), dict(other._flat())
        lines += [
            f"{name}: {ours.get(name, '(none)')} then, {theirs.get(name, '(none)')} now"
            for name in dict.fromkeys([*ours, *theirs])
            if ours.get(name) != theirs.get(name)
        ]
        return lines

    def _flat(self) -> Iterator[tuple[str, str]]:
        yield "optimizer", ",".join(step.name for step in self.optimizers)
        for number, step in enumerate(self.optimizers, start=1):
            place = step.name if len(self.optimizers) == 1 else f"{step.name} ({number})"
            for option, value in step.options.items():
                yield f"option {option} of {place}", json.dumps(value, default=str)
        yield "metric", self.metric
        yield "roles", ",".join(role.removesuffix(".predict") for role in self.roles)
        model = self.prompt_model
        yield "prompt model", f"{model.identity} {json.dumps(model.parameters)}" if model else "that of the roles"


class Learnt(Value):
    """What the optimizers came to.

    Args:
        agents: What each agent of the compiled program is told.
        trials: Candidates that were scored.
        changed: Agents whose prompts or demonstrations are no longer those of the seed.
    """

    agents: tuple[Agent, ...]
    trials: tuple[Trial, ...] = ()
    changed: tuple[str, ...] = ()


class State(Value):
    """Where a compile stands. What is None is still to be done.

    Args:
        what: What it is.
        measured: Of the preflight.
        agreed: The forecast that somebody agreed to.
        learnt: Of the optimizers.
        proof: Of the two scorings.
        seconds: Of all sittings so far, those that were killed left out.
    """

    what: Compilation
    measured: Measured | None = None
    agreed: Forecast | None = None
    learnt: Learnt | None = None
    proof: Proof | None = None
    seconds: float = 0.0


def work_folder(out: Path) -> Path:
    """Where everything that an artifact's compile has learnt on the way is kept."""
    return out.with_name(f"{out.name}.work")


class Work:
    """The work directory of a compile. Only one process can have it open.

    Args:
        out: The artifact that the compile is for; the directory is named after it.

    Raises:
        InputError: Another process has it open, or it can't be used.
    """

    def __init__(self, out: Path) -> None:
        self.folder = work_folder(out)
        try:
            self._lock = take(self.folder)
        except OSError as error:
            raise InputError(f"the work directory {self.folder} cannot be used ({error.strerror})") from error

    def begin(self, wanted: Compilation) -> State:
        """The state of this compile: a new one, or that of earlier sittings.

        Raises:
            InputError: The directory holds another compile (the message names every difference), or is damaged.
        """
        path = self.folder / NAME
        if not path.is_file():
            return self.keep(State(what=wanted))
        try:
            state = State.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            why = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise InputError(f"{path} is no state of a compile that this version knows ({why})") from error
        if differences := state.what.differences(wanted):
            raise InputError(
                f"{self.folder} holds a compile that was made differently; name another --out, or ask as it did:\n  "
                + "\n  ".join(differences)
            )
        return state

    def keep(self, state: State) -> State:
        """Write the state; it is on disk when this returns.

        Raises:
            InputError: It cannot be written.
        """
        write_whole(self.folder / NAME, state.model_dump_json(indent=1))
        return state

    def close(self) -> None:
        """Let others have it."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
