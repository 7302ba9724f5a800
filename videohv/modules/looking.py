"""A look: windows in, evidence out, by the best means that there are, and openly when it is not the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import dspy

from videohv.errors import MissingExtra, VideoError
from videohv.lm.roles import eyes
from videohv.modules.ask import StepFailed
from videohv.modules.observe import Sighting, captions_in, seen_in_frames, tags_in
from videohv.modules.parallel import side_by_side
from videohv.modules.recorder import current
from videohv.modules.render import read_windows
from videohv.modules.timeline import Timeline
from videohv.signatures.fields import Span
from videohv.types import Clue, Evidence, Window
from videohv.video import Video


def look_at(
    step: str,
    predictor: dspy.Predict,
    windows: Sequence[Window],
    clue: Clue,
    timeline: Timeline,
    video: Video | None,
    *,
    frames: int,
    workers: int,
) -> tuple[Evidence, ...]:
    """Look at the windows side by side.

    Frames go to the vision LM when there is one, at most five a call; without one, objects, text and light are
    detected in the same frames; without a video, or where its frames cannot be had, the captions of the window have
    to do, and the recorder says so.

    Args:
        step: Name of the looking step.
        predictor: The agent that looks; its signature is `signatures.Look`.
        windows: Where to look.
        clue: What to look for. What the hypotheses predict is kept from the looking model: it shall not find what it
            was told to expect.
        timeline: The captions of the video.
        video: None when there are only captions.
        frames: A window, at most 5.
        workers: Windows looked at side by side.

    Returns:
        One piece of evidence for every window that showed anything.
    """
    lm = eyes(predictor.lm, step) if video is not None else None
    recorder = current()

    def observe(window: Window) -> Sighting:
        try:
            if video is not None and lm is not None:
                return seen_in_frames(step, predictor, lm, clue, video.window(window, frames))
            if video is not None:
                return tags_in(video.window(window, frames))
        except StepFailed as failure:
            if failure.hopeless:
                raise
            if recorder:
                recorder.degrade(failure.step, f"captions of {window} used instead of frames: {failure.why}")
        except (VideoError, MissingExtra) as failure:
            if recorder:
                recorder.degrade(step, f"captions of {window} used instead of frames: {failure}")
        return captions_in(window, timeline)

    if video is None and recorder:
        recorder.warn("no frames: the evidence consists of the captions of the windows")
    elif lm is None and recorder:
        recorder.warn("no vision model: the evidence consists of objects, text and light detected in the frames")
    # Captions are at hand; threads would only cost.
    return _evidence(windows, observe, workers if video is not None else 1)


def captions_at(windows: Sequence[Window], timeline: Timeline) -> tuple[Evidence, ...]:
    """The captions of the windows as evidence, where frames are left out on purpose."""
    return _evidence(windows, lambda window: captions_in(window, timeline), 1)


def usable_windows(step: str, spans: Iterable[Span], duration: float, limit: int) -> tuple[Window, ...]:
    """As `read_windows`; the recorder says so if none of what a model wrote lies in the video."""
    spans = list(spans)
    windows = read_windows(spans, duration, limit)
    if spans and not windows and (recorder := current()):
        recorder.warn(f"{step}: none of the windows {[(s.start, s.end) for s in spans[:5]]} lies in the video")
    return windows


def spread(duration: float, count: int) -> tuple[float, ...]:
    """So many moments of a video, in seconds, each in the middle of its share of it."""
    return tuple(duration * (i + 0.5) / count for i in range(count))


def _evidence(windows: Sequence[Window], observe: Callable[[Window], Sighting], workers: int) -> tuple[Evidence, ...]:
    recorder = current()
    round_, look = recorder.position if recorder else (1, 1)
    looked = side_by_side(observe, windows, workers)
    return tuple(
        Evidence(
            window=window,
            times=sighting.times,
            observations=sighting.observations,
            source=sighting.source,
            round=max(1, round_),
            look=max(1, look),
        )
        for window, sighting in zip(windows, looked, strict=True)
        if sighting.observations
    )
