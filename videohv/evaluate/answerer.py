"""One question of a run, asked with what there is for it."""

from __future__ import annotations

from videohv.errors import InputError, VideoError
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.jobs import Job
from videohv.evaluate.limits import NO_LIMITS, Limits
from videohv.lm.budget import spending
from videohv.modules.program import VideoProgram
from videohv.types import Outcome, Trace


class Answerer:
    """Asks a program; any number of threads may call it.

    Args:
        program: Any method, compiled or not.
        inputs: Where captions and videos are found.
        limits: What each question may cost, making its captions included.
    """

    def __init__(self, program: VideoProgram, inputs: Inputs, limits: Limits = NO_LIMITS) -> None:
        self.program, self.inputs, self.limits = program, inputs, limits

    def __call__(self, job: Job) -> Trace:
        """Ask one question. Everything expected that goes wrong is the outcome of its trace."""
        with spending(self.limits.budget()):
            return self._ask(job)

    def _ask(self, job: Job) -> Trace:
        try:
            given = self.inputs.of(job)
        except (InputError, VideoError) as error:
            return self._missing(job, str(error))
        if given.captions is None and given.video is None and not job.speech:
            return self._missing(job, self.inputs.why_nothing(job.question))
        trace = self.program(question=job.shown, video=given.video, captions=given.captions, speech=job.speech).trace
        assert isinstance(trace, Trace)
        return trace

    def _missing(self, job: Job, why: str) -> Trace:
        return Trace(question=job.shown, method=self.program.method, outcome=Outcome.MISSING_INPUT, error=why)
