"""What sending would mean, before anything is sent: requests, pictures, tokens, money.

Moments are counted from the durations of the videos. A few requests are made to measure text and pictures. Tokens of
pictures follow OpenAI's published rules where the model has one of those (tiles of 512 pixels, or patches of 32);
prices are those that DSPy's list has for batches.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import dspy

from videohv.batch.captions import CaptionJob, Moments
from videohv.batch.journal import Journal
from videohv.batch.outbox import Limits
from videohv.batch.wire import pictures_of
from videohv.batch.work import Request
from videohv.errors import VideoError
from videohv.lm.about import published
from videohv.lm.frames import limits_of
from videohv.modules.settings import MAX_FRAMES_A_LOOK
from videohv.types import Value

CHARS_A_TOKEN = 4.0
"""Characters a token of English prompts, about."""

TOKENS_A_CAPTION = 40
"""Tokens of one sentence with its time in JSON, about."""

_MEASURED = 3

_TILES = {"gpt-4o-mini": (2833, 5667), "gpt-4o": (85, 170), "gpt-4.1": (85, 170)}
_PATCHES = {"gpt-4.1-mini": 1.62, "gpt-4.1-nano": 2.46, "o4-mini": 1.72}


class Estimate(Value):
    """What sending would mean.

    Args:
        videos: Videos with something to send.
        moments: Frames to be captioned, those to be sent again with them.
        requests: In all batches.
        batches: At least.
        upload_bytes: About.
        text_tokens: Of prompts, about.
        picture_tokens: By the model's rule, or None if it is not known.
        reply_tokens: About.
        price: US dollars at batch rates, or None if they, or the tokens, are not known.
        rates: US dollars a million tokens of prompt and reply in batches, or None.
    """

    videos: int = 0
    moments: int = 0
    requests: int = 0
    batches: int = 0
    upload_bytes: int = 0
    text_tokens: int = 0
    picture_tokens: int | None = None
    reply_tokens: int = 0
    price: float | None = None
    rates: tuple[float, float] | None = None


def estimate(job: CaptionJob, journal: Journal, lm: dspy.LM, limits: Limits) -> Estimate:
    """Go through the videos and count what a run would send. Nothing is sent, and nothing is noted.

    Args:
        job: The captions that are wanted.
        journal: What is in flight already, and what waits to be sent again.
        lm: For rules and prices.
        limits: Of a batch.
    """
    videos = moments = requests = 0
    sizes: list[tuple[int, int, int]] = []
    tokens: int | None = 0

    def add(frames: int, width: int, height: int, make: Callable[[], Request | None]) -> None:
        nonlocal moments, requests, tokens
        moments, requests = moments + frames, requests + math.ceil(frames / MAX_FRAMES_A_LOOK)
        each = picture_tokens(str(lm.model), width, height)
        tokens = tokens + frames * each if tokens is not None and each is not None else None
        if len(sizes) < _MEASURED and (request := make()) is not None:
            sizes.append(_measured(request.body))

    for line in journal.waiting():
        memo = Moments.model_validate_json(line.memo)
        add(len(memo.frames), memo.width, memo.height, partial(job.again, line))
    for path in job.videos:
        try:
            found = job.missing(path, journal)
            if found is None:
                continue
            (info, done) = found[0].info, found[1]
            missing = max(1, math.ceil(info.duration * job.fps)) - len(done)
            if missing > 0:
                add(missing, *shown(info.width, info.height), partial(job.first_request, *found))
                videos += 1
        except VideoError:
            continue  # The run itself says so.
    job.problems.clear()
    text = sum(size[0] for size in sizes) / max(1, len(sizes))
    picture = sum(size[1] for size in sizes) / max(1, sum(size[2] for size in sizes))
    upload = int(requests * text + moments * picture)
    text_tokens, reply_tokens = int(requests * text / CHARS_A_TOKEN), moments * TOKENS_A_CAPTION
    rates = batch_rates(lm.model)
    price = None
    if rates is not None and tokens is not None:
        price = ((text_tokens + tokens) * rates[0] + reply_tokens * rates[1]) / 1e6
    return Estimate(
        videos=videos,
        moments=moments,
        requests=requests,
        batches=max(math.ceil(requests / limits.requests), math.ceil(upload / limits.size)),
        upload_bytes=upload,
        text_tokens=text_tokens,
        picture_tokens=tokens,
        reply_tokens=reply_tokens,
        price=price,
        rates=rates,
    )


def picture_tokens(model: str, width: int, height: int) -> int | None:
    """Tokens of one picture by OpenAI's rule for the model, or None if it is not one whose rule is known here.

    Args:
        model: `provider/model`; a date behind the name does not matter.
        width: Pixels.
        height: Pixels.
    """
    provider, _, name = model.partition("/")
    known = sorted((*_TILES, *_PATCHES), key=len, reverse=True)
    base = next((n for n in known if name == n or name.startswith(f"{n}-20")), None) if provider == "openai" else None
    if base in _PATCHES:
        patches = math.ceil(width / 32) * math.ceil(height / 32)
        return math.ceil(min(patches, 1536) * _PATCHES[base])
    if base in _TILES:
        scale = min(1.0, 2048 / max(width, height))
        scale *= min(1.0, 768 / (min(width, height) * scale))
        tiles = math.ceil(width * scale / 512) * math.ceil(height * scale / 512)
        return _TILES[base][0] + tiles * _TILES[base][1]
    return None


def shown(width: int, height: int) -> tuple[int, int]:
    """Pixels of a frame as it is sent."""
    return limits_of().size(max(1, width), max(1, height))


def batch_rates(model: str) -> tuple[float, float] | None:
    """US dollars a million tokens of prompt and reply in batches, as DSPy's list has them, or None."""
    listed = published(model)
    rates = [listed.get(f"{kind}_cost_per_token_batches") for kind in ("input", "output")]
    return (rates[0] * 1e6, rates[1] * 1e6) if rates[0] is not None and rates[1] is not None else None


def _measured(body: bytes) -> tuple[int, int, int]:
    """Characters of text, bytes of pictures, and pictures in a request."""
    parsed: dict[str, Any] = json.loads(body)
    pictures = pictures_of(parsed)
    size = sum(len(picture) for picture in pictures)
    return len(body) - size, size, len(pictures)
