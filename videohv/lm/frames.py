"""How large the frames may be that a model is shown: what its provider is known to take, unless it is configured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import dspy

from videohv.lm.about import lm_name
from videohv.types import FrameLimits

SETTING, SHORT_SIDE = "videohv_frame_limits", "videohv_frame_short_side"
"""Under which DSPy keeps what the user has set: limits in place of all presets, and the one bound that is changed."""

# What a provider refuses, less some room for the text of a request. Sides, pixels and bytes of a single frame stay
# far below what any of them takes: more would cost tokens and not be seen better by most models.
PRESETS: Mapping[str, FrameLimits] = {
    # Guide "Images and vision": 50 MB and 500 images a request, early in 2026; later 512 MB and 1,500, while requests
    # were still refused with "exceeds the allowed limit of 50MB". Models that see tiles scale to 768 x 2048 at most.
    "openai": FrameLimits(request_bytes=45_000_000, images=500),
    # Guide "Vision" and "Request size limits": 32 MB a request, 100 images for models of 200,000 tokens; 5 MB an image
    # as base64 (10 MB since 2026); 8000 pixels a side, 2000 with more than 20 images; above 1568 it is scaled down.
    "anthropic": FrameLimits(request_bytes=30_000_000, images=100),
    # Guide "Image understanding": 20 MB a request with data inline (100 MB since 2026), 3,600 images.
    "gemini": FrameLimits(request_bytes=18_000_000, images=3600),
    # Vertex AI, "Image understanding": 7 MB an image inline, 3,000 images (900 for some models).
    "vertex_ai": FrameLimits(images=900),
    # API reference, "Message": 20 images of 3.75 MB and 8000 pixels; Claude by InvokeModel: 20 MB a request.
    "bedrock": FrameLimits(request_bytes=18_000_000, images=20),
    # Guide "Vision": 10 MB an image, 8 images a request.
    "mistral": FrameLimits(images=8),
    # Guide "Images and vision": 4 MB a request with base64, 33 megapixels, 5 images recommended at most.
    "groq": FrameLimits(request_bytes=3_800_000, images=5),
    # Guide "Querying vision-language models": 30 images, less than 10 MB as base64.
    "fireworks_ai": FrameLimits(request_bytes=9_500_000, images=30),
    # Servers of one's own publish no limit, but for text-generation-inference: 2 MB a request unless told otherwise.
    # Five frames at the most that `FrameLimits()` allows are 1.34 MB.
    **dict.fromkeys(("openai-compatible", "vllm", "sglang", "ollama", "llamacpp"), FrameLimits()),
}
"""By the provider's name, as it stands before the slash of a model's name."""


def limits_of(lm: dspy.BaseLM | None = None) -> FrameLimits:
    """The limits for frames that a model is shown: what is configured, else its provider's, else `FrameLimits()`.

    Args:
        lm: The model that looks; None if none does.
    """
    limits, short_side = dspy.settings.get(SETTING), dspy.settings.get(SHORT_SIDE)
    if limits is None:
        limits = PRESETS.get(lm_name(lm).partition("/")[0]) if lm is not None else None
    limits = limits or FrameLimits()
    return limits.with_short_side(short_side) if short_side is not None else limits


@contextmanager
def limiting(short_side: int | None) -> Iterator[None]:
    """Use another short side (pixels) for every model inside the block; None leaves what is set."""
    with dspy.context(**({} if short_side is None else {SHORT_SIDE: short_side})):
        yield
