"""Three ways to see what a window shows: a vision LM on its frames, detectors on its frames, or its captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import dspy

from videohv.captioners.tags import TagCaptioner
from videohv.lm.frames import limits_of
from videohv.modules.ask import Unusable, ask
from videohv.modules.recorder import current
from videohv.modules.render import MOST_ITEMS, thinned, tidy
from videohv.modules.settings import MAX_FRAMES_A_LOOK
from videohv.modules.timeline import Timeline, booked
from videohv.signatures.verifier import Sight
from videohv.types import Clue, Observation, Source, Window
from videohv.video import Frame, pictures

CAPTIONS_A_WINDOW = 20
"""Captions shown as evidence of one window, evenly thinned."""


class Sighting(NamedTuple):
    """What a window showed: by which means, at which moments it was looked at (seconds), and what was seen."""

    source: Source
    times: tuple[float, ...]
    observations: tuple[Observation, ...]


def frame_inputs(frames: Sequence[Frame], lm: dspy.BaseLM | None, most: int = MAX_FRAMES_A_LOOK) -> dict[str, object]:
    """The two input fields that every signature with frames has: their times as text, and the pictures.

    The pictures are as large as the model's limits allow; the recorder says so where they had to be made smaller
    because of each other, or where more are sent than the provider is known to take.

    Args:
        frames: In the order of time.
        lm: The model that they are sent to.
        most: Frames that this call may have.
    """
    if len(frames) > most:
        raise ValueError(f"{len(frames)} frames for one vision call; at most {most} are allowed")
    limits = limits_of(lm)
    sent = pictures(frames, limits)
    if recorder := current():
        if sent.shrunk:
            recorder.warn(
                f"frames are sent smaller than usual: {len(frames)} at once would be more than the "
                f"{limits.request_bytes} bytes of a request"
            )
        if limits.images is not None and len(frames) > limits.images:
            recorder.warn(
                f"{len(frames)} frames in one request: of this provider {limits.images} are known to be taken"
            )
    return {
        "times": ", ".join(f"{frame.time:.2f}s" for frame in frames),
        "frames": [dspy.Image(uri) for uri in sent.uris],
    }


def read_sights(sights: Sequence[Sight], times: Sequence[float]) -> list[Observation]:
    """What a model said of frames, each sight booked to the frame whose time it means.

    Raises:
        Unusable: If none of it is about any of the frames.
    """
    read = [(booked(sight.time, times), tidy(sight.seen)) for sight in sights[:MOST_ITEMS]]
    seen = [Observation(time=time, text=text) for time, text in read if text and time is not None]
    if not seen:
        raise Unusable("no frame was described, or none by its own time")
    return seen


def seen_in_frames(
    step: str, predictor: dspy.Predict, lm: dspy.BaseLM, clue: Clue, frames: Sequence[Frame]
) -> Sighting:
    """What the vision LM sees in at most five frames as far as the clue is concerned.

    Each sight is booked to the frame whose time is nearest to the one that the model names, never by its position in
    the
    list: a model that merges or skips frames shifts nothing.

    Raises:
        StepFailed: If no usable reply came.
    """
    times = sorted(frame.time for frame in frames)

    def read(prediction: dspy.Prediction) -> tuple[Observation, ...]:
        return tuple(sorted(read_sights(prediction.sights, times), key=lambda o: o.time))

    # One picture is about a megabyte in DSPy's history; the trace keeps what was seen instead.
    with dspy.context(disable_history=True):
        seen = ask(step, predictor, read, lm=lm, clue=clue.observation, **frame_inputs(frames, lm))
    return Sighting(Source.FRAMES, tuple(times), seen)


def tags_in(frames: Sequence[Frame]) -> Sighting:
    """Objects, readable text and light detected in the frames.

    Raises:
        MissingExtra: If the detectors are not installed.
    """
    return Sighting(Source.TAGS, tuple(frame.time for frame in frames), TagCaptioner().observe(frames))


def captions_in(window: Window, timeline: Timeline) -> Sighting:
    """The captions of the window; the nearest one if the window lies between two."""
    inside = timeline.inside(window) or (timeline.nearest((window.start + window.end) / 2),)
    kept = thinned(inside, CAPTIONS_A_WINDOW)
    observations = tuple(Observation(time=c.time, text=c.text) for c in kept)
    return Sighting(Source.CAPTIONS, tuple(c.time for c in kept), observations)
