"""How a run answers its questions, in names and paths: any process can be set up from it alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy

from videohv.compiled import load_program
from videohv.errors import InputError
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.limits import NO_LIMITS, Limits
from videohv.lm import pace
from videohv.lm.budget import Budget, spending
from videohv.lm.naming import Named
from videohv.lm.team import make_team
from videohv.modules.methods import make_method
from videohv.modules.program import VideoProgram


@dataclass(frozen=True)
class Setup:
    """Everything that says how questions are answered.

    Args:
        models: Which models were named, as `name_models` gives them.
        method: Name in the registry of methods.
        settings: Of the method; what is left out has its default.
        captioner: Who captions videos that have no captions.
        store: Caption store; None is the one in the user's cache.
        program: A compiled program, by name or path; empty for none.
        captions: Published captions, file or folder.
        videos: Folder of the video files.
        decoder: Who decodes them.
        stride: Of the published captions every n-th one is used.
        seed: For sampling.
        concurrency: LM calls at once to any one server, over all processes.
        cache: Whether replies are kept in DSPy's response cache and taken from it, in the whole process.
        budget: Of the run; its counter is shared by all processes.
        a_question: Limits of each question.
    """

    models: tuple[Named, ...]
    method: str = "videohv"
    settings: Mapping[str, Any] = field(default_factory=dict)
    captioner: str = "auto"
    store: Path | None = None
    program: str = ""
    captions: Path | None = None
    videos: Path | None = None
    decoder: str = "auto"
    stride: int = 1
    seed: int = 0
    concurrency: int = 1
    cache: bool = True
    budget: Budget | None = None
    a_question: Limits = NO_LIMITS

    def make(self, **changes: Any) -> VideoProgram:
        """The program, with single settings changed.

        Raises:
            VideoHVError: If something named here is not there or doesn't fit.
        """
        settings = {**self.settings, "seed": self.seed, **changes}
        program = make_method(self.method, captioner=self.captioner, store=self.store, **settings)
        return load_program(self.program, into=program) if self.program else program

    @contextmanager
    def open(self, processes: int = 1) -> Iterator[Answerer]:
        """Load program, models and inputs; they are in use inside the block, in threads with a copy of its context too.

        Args:
            processes: How many share the concurrency.

        Raises:
            VideoHVError: If something named here is not there or doesn't fit.
        """
        if self.captions is None and self.videos is None:
            raise InputError("give --captions, --videos or both: there is nothing to answer from")
        inputs = Inputs(self.captions, self.videos, self.decoder, self.stride)
        program = self.make()
        team = make_team(self.models, self.seed)
        budget = self.budget or Budget("run")
        budget.require_prices(tuple(team.lms.values()))
        if not self.cache:
            dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
        pace.limit(max(1, self.concurrency // processes))
        # DSPy keeps every call's prompt for inspection, a megabyte each with frames: a long run would drown in it.
        with team.at_work(), spending(budget), dspy.context(disable_history=True, max_trace_size=0):
            yield Answerer(program, inputs, self.a_question)
