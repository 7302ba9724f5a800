"""One picture out of a video."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from videohv.errors import InputError
from videohv.types import FrameLimits
from videohv.video.jpeg import data_uri, encode, room_in_uri, uri_length

_LEAST_BYTES = 1_000


@dataclass(frozen=True, eq=False)
class Frame:
    """The picture that was on screen at a wanted moment.

    Args:
        wanted: The time asked for, in seconds from the first shown frame.
        time: The frame's own presentation time, in seconds from the first shown frame; at most `wanted`.
        rgb: The picture, (height, width, 3), upright and read-only.
    """

    wanted: float
    time: float
    rgb: NDArray[np.uint8]

    @property
    def width(self) -> int:
        """Pixels across."""
        return int(self.rgb.shape[1])

    @property
    def height(self) -> int:
        """Pixels down."""
        return int(self.rgb.shape[0])

    @property
    def jpeg(self) -> bytes:
        """The picture as a JPEG file within the bounds of `FrameLimits()`, made once."""
        return self.within(FrameLimits())

    @property
    def data_uri(self) -> str:
        """`jpeg` as a `data:image/jpeg;base64,` address, as vision models take it."""
        return data_uri(self.jpeg)

    def again(self, wanted: float) -> Frame:
        """The same picture for another wanted time; what has been made of it is shared."""
        frame = Frame(wanted, self.time, self.rgb)
        frame.__dict__["_made"] = self._made
        return frame

    def within(self, limits: FrameLimits) -> bytes:
        """The picture as a JPEG file within these bounds, made once for each of them."""
        made = self._made.get(limits)
        if made is None:
            made = self._made[limits] = encode(self.rgb, limits)
        return made

    @cached_property
    def _made(self) -> dict[FrameLimits, bytes]:
        return {}


class Pictures(NamedTuple):
    """The frames of one request.

    Args:
        uris: A `data:image/jpeg;base64,` address a frame, in their order.
        shrunk: How many of them had to be made smaller for the request's sake.
    """

    uris: tuple[str, ...]
    shrunk: int


def pictures(frames: Sequence[Frame], limits: FrameLimits) -> Pictures:
    """The frames of one request, each and all together within the limits.

    Where they are too large together, the room is shared out evenly: a frame that needs less than its share leaves the
    rest to the others, and each of those is made as small as that share. None is left out.

    Args:
        frames: In the order in which they are sent.
        limits: Of the model that they are sent to.

    Raises:
        InputError: There are so many frames that not even the smallest pictures would fit.
    """
    made = [frame.within(limits) for frame in frames]
    lengths = [uri_length(jpeg) for jpeg in made]
    if sum(lengths) <= limits.request_bytes:
        return Pictures(tuple(map(data_uri, made)), 0)
    share = room_in_uri(_share(lengths, limits.request_bytes))
    if share < _LEAST_BYTES:
        raise InputError(
            f"{len(frames)} frames do not fit into a request of {limits.request_bytes} bytes; ask for fewer frames"
        )
    smaller = limits.model_copy(update={"frame_bytes": min(share, limits.frame_bytes)})
    fitting = [frame.within(smaller) for frame in frames]
    shrunk = sum(len(new) < len(old) for new, old in zip(fitting, made, strict=True))
    return Pictures(tuple(map(data_uri, fitting)), shrunk)


def _share(sizes: Sequence[int], room: int) -> int:
    """The largest size to which all may be cut so that they have room together."""
    left, waiting = room, len(sizes)
    for size in sorted(sizes):
        if size * waiting > left:
            return left // waiting
        left, waiting = left - size, waiting - 1
    return max(sizes, default=0)
