"""How large the frames are that a model is shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from videohv.types.base import Value

Pixels = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, Field(ge=1_000)]


class FrameLimits(Value):
    """Bounds for frames on their way to a vision model; a frame meets all of them, and is never enlarged.

    Args:
        short_side: Pixels of the shorter side at most.
        long_side: Pixels of the longer side at most.
        pixels: Pixels in all at most.
        frame_bytes: Bytes of a frame's JPEG file at most, before base64.
        request_bytes: Bytes of all frames of one request at most, as base64. Where they would be more, the largest of
            them are made smaller; none is left out.
        images: Frames in one request that the provider is known to take; None if nothing is known.
    """

    short_side: Pixels = 448
    long_side: Pixels = 1024
    pixels: Pixels = 600_000
    frame_bytes: Bytes = 200_000
    request_bytes: Bytes = 20_000_000
    images: Pixels | None = None

    def with_short_side(self, pixels: int) -> FrameLimits:
        """The same with another short side; the long side and the number of pixels change in proportion."""
        share = pixels / self.short_side
        return self.model_copy(
            update={
                "short_side": pixels,
                "long_side": max(1, round(self.long_side * share)),
                "pixels": max(1, round(self.pixels * share**2)),
                "frame_bytes": max(self.frame_bytes, round(self.frame_bytes * share**2)),
            }
        )

    def size(self, width: int, height: int) -> tuple[int, int]:
        """The (width, height) in pixels to which a picture of `width` and `height` is scaled."""
        scale = min(
            1.0,
            self.short_side / min(width, height),
            self.long_side / max(width, height),
            (self.pixels / (width * height)) ** 0.5,
        )
        across, down = max(1, round(width * scale)), max(1, round(height * scale))
        if across * down > self.pixels:
            across, down = max(1, int(width * scale)), max(1, int(height * scale))
        # A side of one pixel cannot shrink further; then the other one has to.
        return min(across, max(1, self.pixels // down)), min(down, max(1, self.pixels // across))
