"""Frame captions of a video: which captioner makes them, and the store that makes sure it is done once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from videohv.captioners.registry import Captioner as CaptionerProtocol
from videohv.captioners.registry import get_captioner
from videohv.captioners.run import caption_video
from videohv.data.store import CaptionStore
from videohv.errors import InputError
from videohv.lm.roles import eyes
from videohv.modules.captioner import Captioner, LMCaptioner
from videohv.modules.settings import MethodSettings
from videohv.types import Caption, CaptionInfo
from videohv.video import Video


def choose_captioner(name: str, module: Captioner, workers: int = 4) -> CaptionerProtocol:
    """The captioner of that name; `auto` is the vision LM if there is one, else detectors.

    Args:
        name: `auto`, `lm`, or a registered name such as `tags`.
        module: Whose prompt and LM the `lm` captioner uses.
        workers: LM calls side by side.

    Raises:
        InputError: If the name is unknown, or `lm` is asked for and no model sees images.
        MissingExtra: If its packages are not installed.
    """
    lm = eyes(module.predict.lm, "captioner") if name in ("auto", "lm") else None
    if lm is not None:
        return LMCaptioner(module, lm, workers)
    if name == "lm":
        raise InputError("the captioner 'lm' needs a vision model: give --vision-lm, or videohv.configure(vision_lm=…)")
    return get_captioner("tags" if name == "auto" else name)


def captions_of(
    video: Video,
    name: str,
    module: Captioner,
    settings: MethodSettings,
    store: Path | None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[tuple[Caption, ...], CaptionInfo]:
    """The captions of a video, out of the store as far as they are there.

    Args:
        video: Whose frames are captioned.
        name: As `choose_captioner`.
        module: As `choose_captioner`.
        settings: For the sampling rate and the workers.
        store: SQLite file; None is the one in the user's cache.
        on_progress: Called with moments done and moments in all.

    Raises:
        InputError, MissingExtra: As `choose_captioner`.
        VideoError: If frames can't be read.
        StepFailed: If the vision LM fails for good.
    """
    captioner = choose_captioner(name, module, settings.workers)
    captions = caption_video(video, captioner, settings.fps, CaptionStore(store), on_progress)
    return captions, caption_info(captioner.identity, captions, settings.fps)


def caption_info(origin: str, captions: tuple[Caption, ...], fps: float | None = None) -> CaptionInfo:
    """Where captions came from, with a hash of their times and texts."""
    digest = hashlib.sha256("\n".join(f"{c.time}\t{c.text}" for c in captions).encode()).hexdigest()
    return CaptionInfo(captioner=origin, count=len(captions), fps=fps, content_hash=digest)
