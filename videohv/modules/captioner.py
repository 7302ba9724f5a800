"""Captioner: frame captions through a vision LM, behind the same protocol as every other captioner."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

import dspy

from videohv import signatures
from videohv.lm import lm_name
from videohv.lm.frames import limits_of
from videohv.lm.roles import lm_for
from videohv.modules.ask import StepFailed, ask
from videohv.modules.observe import frame_inputs, read_sights
from videohv.modules.parallel import side_by_side
from videohv.modules.recorder import current
from videohv.modules.settings import MAX_FRAMES_A_LOOK
from videohv.modules.timeline import nearest
from videohv.types import Caption, FrameLimits, Outcome
from videohv.video import Frame

STEP = "captioner"


class Captioner(dspy.Module):
    """Describes frames, five a call."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.Describe)

    def forward(self, frames: list[Frame], lm: dspy.BaseLM | None = None) -> tuple[Caption, ...]:
        """Caption at most five frames in one call.

        Returns:
            One caption a frame, in order, its time the one that was wanted. Frames that the model merged share its
            sentence.

        Raises:
            StepFailed: If no usable reply came.
        """
        times = [frame.time for frame in frames]

        def read(prediction: dspy.Prediction) -> tuple[Caption, ...]:
            said = {sight.time: sight.text for sight in read_sights(prediction.captions, times)}
            known = sorted(said)
            return tuple(Caption(time=f.wanted, text=said[nearest(f.time, known)]) for f in frames)

        with dspy.context(disable_history=True):
            return ask(STEP, self.predict, read, lm=lm, **frame_inputs(frames, lm_for(STEP, self.predict.lm, lm)))


class LMCaptioner:
    """The `Captioner` module as a captioner for `caption_video`.

    Args:
        module: Whose prompt and demonstrations to use.
        lm: The vision LM.
        workers: Calls side by side.
    """

    def __init__(self, module: Captioner, lm: dspy.BaseLM, workers: int = 4) -> None:
        self._module, self._lm, self._workers = module, lm, workers
        signature = module.predict.signature
        short_side = limits_of(lm).short_side
        size = () if short_side == FrameLimits().short_side else (short_side,)
        prompt = repr((signature.instructions, list(signature.fields), module.predict.demos, *size))
        self.identity = f"lm:{lm_name(lm)}@{hashlib.sha256(prompt.encode()).hexdigest()[:12]}"

    def caption(self, frames: Iterable[Frame]) -> Iterator[Caption]:
        """Caption a stream of frames, holding no more of them than the calls in flight need.

        Frames of which the model gave nothing readable get an empty caption, which says that they are still to do.
        """
        stream = iter(frames)
        while batch := list(islice(stream, MAX_FRAMES_A_LOOK * self._workers)):
            calls = [batch[i : i + MAX_FRAMES_A_LOOK] for i in range(0, len(batch), MAX_FRAMES_A_LOOK)]
            for captions in side_by_side(self._readable, calls, self._workers):
                yield from captions

    def _readable(self, frames: list[Frame]) -> tuple[Caption, ...]:
        try:
            captions: tuple[Caption, ...] = self._module(frames, lm=self._lm)
        except StepFailed as failure:
            if failure.outcome is not Outcome.PARSE_FAILED:
                raise
            if recorder := current():
                recorder.degrade(
                    STEP, f"no captions from {frames[0].wanted:g} s to {frames[-1].wanted:g} s: {failure.why}"
                )
            return tuple(Caption(time=frame.wanted, text="") for frame in frames)
        return captions
