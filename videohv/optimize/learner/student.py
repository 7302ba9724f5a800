"""What a DSPy optimizer is handed: a module that shows the agents that may be changed, and nothing else.

An optimizer rewrites all that `named_predictors` names, resets it, binds models to it and saves it. A `Student` names
only the agents that were chosen, by the names that they have in the program; the others are there and stay as they are.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Self

import dspy

from videohv.errors import InputError
from videohv.modules.program import VideoProgram
from videohv.optimize.guard import Guard
from videohv.types import Trace

_SAMPLING = ("rollout_id", "temperature")


class Student(dspy.Module):
    """A copy of a program, of which DSPy sees some agents.

    `named_parameters` and all that DSPy makes of it (`named_predictors`, `predictors`, `dump_state`, `load_state`,
    `save`, `reset_copy`) are about the chosen agents only. Calling it calls the whole program.

    Models are not the student's: each agent is asked with the one that the program or `dspy.settings` name for its
    role. `reset_copy` leaves models that are bound to agents, and `set_lm`, by which optimizers ask for another sample,
    takes over the sample (`rollout_id`, `temperature`) and not the model.

    Args:
        program: Copied; never changed.
        roles: Agents to show, as in `program.named_predictors()`.
        guard: Told how each question ended; None for none.

    Raises:
        InputError: If there is no such agent, or none is named.
    """

    def __init__(self, program: VideoProgram, roles: Iterable[str], guard: Guard | None = None) -> None:
        super().__init__()
        known = dict(program.named_predictors())
        self.roles = tuple(name for name in known if name in set(roles))
        if unknown := sorted(set(roles) - set(known)):
            raise InputError(f"no agent is called {', '.join(unknown)}; {program.method!r} has: {', '.join(known)}")
        if not self.roles:
            raise InputError(f"no agent is named that may be changed; {program.method!r} has: {', '.join(known)}")
        self.program = copied(program)
        self.guard = guard if guard is not None else Guard()
        self._configs = {name: dict(predictor.config) for name, predictor in known.items()}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made: Self = self.__class__.__new__(self.__class__)
        memo |= {id(self): made, **_models(self.program)}
        made.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return made

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Answer one question, as the program does.

        Raises:
            Tripped: If the guard has tripped, or does now.
        """
        with self.guard.inside():
            try:
                prediction = self.program(**inputs)
            except Exception as error:
                self.guard.crashed(error)
                raise
            trace = prediction.trace
            assert isinstance(trace, Trace)
            self.guard.saw(trace)
            return prediction

    def named_parameters(self) -> list[tuple[str, Any]]:
        """The agents that may be changed, by the program's own names and in its order."""
        return [(name, predictor) for name, predictor in self.program.named_predictors() if name in self.roles]

    def reset_copy(self) -> Self:
        """A copy whose chosen agents have no demonstrations."""
        made: Self = self.deepcopy()
        for _, predictor in made.named_parameters():
            lm = predictor.lm
            predictor.reset()
            predictor.lm = lm
        return made

    def set_lm(self, lm: dspy.BaseLM) -> None:
        """Have the chosen agents sampled as `lm` would be; every one keeps its own model."""
        sampling = {key: lm.kwargs[key] for key in _SAMPLING if key in lm.kwargs}
        for _, predictor in self.named_parameters():
            predictor.config = {**predictor.config, **sampling}

    def get_lm(self) -> dspy.BaseLM | None:
        """The general model, from which optimizers make others to sample with."""
        bound = (predictor.lm for _, predictor in self.named_parameters() if predictor.lm is not None)
        return dspy.settings.lm or next(bound, None)

    def give_back(self) -> VideoProgram:
        """The program: a copy with what the chosen agents have learnt, and no model bound to any."""
        program = copied(self.program)
        for name, predictor in program.named_predictors():
            predictor.lm = None
            predictor.config = dict(self._configs[name])
            if name in self.roles:
                predictor.demos = [dict(demo) for demo in predictor.demos]
        return program


def copied(program: VideoProgram) -> VideoProgram:
    """A copy of a program that shares its models: they hold connections and locks."""
    return copy.deepcopy(program, _models(program))


def _models(program: VideoProgram) -> dict[int, Any]:
    return {id(predictor.lm): predictor.lm for predictor in program.predictors() if predictor.lm is not None}


def alike(program: VideoProgram, roles: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of an agent that may be changed and another with the same prompt.

    An optimizer that tells agents by their signature (GEPA does, in traces) would take one for the other.
    """
    chosen = set(roles)
    agents = list(program.named_predictors())
    return tuple(
        (one, other)
        for place, (one, a) in enumerate(agents)
        for other, b in agents[place + 1 :]
        if {one, other} & chosen and a.signature.equals(b.signature)
    )
