"""How a step fails."""

from __future__ import annotations

from videohv.errors import VideoHVError
from videohv.types import Outcome


class Unusable(ValueError):
    """A reply that parsed but cannot be used; the message says why. The model is told, and asked again."""


class StepFailed(VideoHVError):
    """A step failed for good.

    Attributes:
        step: The name of the step.
        outcome: How a question ends if it cannot do without this step.
        hopeless: True if every later call would fail in the same way (no key, unknown model, nothing left to spend).
    """

    def __init__(self, step: str, outcome: Outcome, why: str, hopeless: bool = False) -> None:
        super().__init__(f"{step}: {why}")
        self.step, self.outcome, self.why, self.hopeless = step, outcome, why, hopeless


class TooLong(StepFailed):
    """The prompt does not fit the model. A step that chose its length can try with less."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(step, Outcome.LM_FAILED, f"the prompt is too long for the model: {why}")
