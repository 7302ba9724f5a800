"""The two calls for the commonest case: choose the models, and ask one question about one video."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy

from videohv.lm.team import configure
from videohv.modules.videohv import VideoHV
from videohv.types import Caption, Question
from videohv.video import Video

# From here, because the steps that a profile may name are known once the methods are imported.
__all__ = ["answer", "configure"]


def answer(
    video: str | Path | Video | None,
    question: str | Question,
    options: Sequence[str] | None = None,
    *,
    captions: Sequence[Caption | str] | None = None,
    **settings: Any,
) -> dspy.Prediction:
    """Answer a multiple-choice question about a video, with the models that are configured.

    Args:
        video: A file; None when only captions are given.
        question: The text, or a `Question` that carries its options.
        options: 2 to 26 answer texts; without them some are proposed from the video, and the answer may be declined.
        captions: Made before; a plain list of texts has one a second.
        **settings: As for `VideoHV`, such as `rounds=1` or `captioner="tags"`.

    Returns:
        As `VideoHV.forward`: `answer`, `answer_index`, `outcome`, `confidence`, `evidence`, `status`, `error`, `trace`.

    Raises:
        InputError: If something given is unusable.
    """
    program = VideoHV(**settings)
    return program(question=question, options=options, video=video, captions=captions)
