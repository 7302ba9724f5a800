"""Pictures that damage has spoilt, told from whole ones as they come out of a decoder."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from av import Packet, VideoFrame
from av.video.frame import PictureType
from av.video.stream import VideoStream

_LOST_SECONDS = 2
_PATCHED_SECONDS = 1


class Damage:
    """Follows the signs of damage in one decoder.

    After damage a decoder goes on: it fills what is missing from other pictures, and builds the next pictures on that.
    These look real and show another moment, so they count as spoilt: up to the next whole key frame, but no longer than
    two seconds behind a packet that could not be decoded, and one second behind a picture that was patched up, because
    by then what moves has been sent anew. Behind a key frame that could not be decoded at all nothing is whole until
    the next one; a patched B picture spoils only the B pictures that follow it.

    Args:
        tick: Seconds that a tick of the stream lasts.
    """

    def __init__(self, tick: Fraction) -> None:
        self._lost = int(_LOST_SECONDS / tick)
        self._patched = int(_PATCHED_SECONDS / tick)
        self.forget()

    def forget(self) -> None:
        """To be called when the decoder forgets what it has decoded."""
        self._start: int | None = None
        self._end: float = 0
        self._only_b = True

    def failed(self, packet: Packet[VideoStream]) -> None:
        """Notes that a packet could not be decoded."""
        if packet.pts is not None:
            self._mark(packet.pts, inf if packet.is_keyframe else packet.pts + self._lost, only_b=False)

    def spoils(self, frame: VideoFrame) -> bool:
        """Whether a frame is not to be shown; frames are given in the order in which they come out."""
        pts = frame.pts
        if frame.is_corrupt:
            if pts is not None:
                only_b = frame.pict_type == PictureType.B
                self._mark(pts, inf if only_b else pts + self._patched, only_b)
            return True
        if self._start is None or pts is None or pts < self._start:
            return False
        if frame.key_frame or pts > self._end or (self._only_b and frame.pict_type != PictureType.B):
            self.forget()
            return False
        return True

    def _mark(self, start: int, end: float, only_b: bool) -> None:
        if self._start is None:
            self._start, self._end, self._only_b = start, end, only_b
            return
        if self._only_b and not only_b:
            self._end = end
        elif not only_b:
            self._end = max(self._end, end)
        self._start = min(self._start, start)
        self._only_b = self._only_b and only_b
