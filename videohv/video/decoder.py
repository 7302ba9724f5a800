"""The seam between videos and the libraries that decode them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from videohv.errors import InputError
from videohv.types import VideoInfo
from videohv.video.frame import Frame

AUTO = "auto"
_DEFAULT = "pyav"

Mode = Literal["exact", "near", "key"]
"""Which frame stands for a time: the one on screen (`exact`), whichever of those shown from then on and before the next
time is cheapest (`near`), or the last key frame at or before it (`key`)."""


class Decoder(Protocol):
    """Reads frames out of video files. Holds no state between calls, so that threads may share one."""

    name: str

    def probe(self, path: Path) -> VideoInfo:
        """Reads what there is to know about a file without decoding it.

        The `decoder` of the result names the decoder by which the file is to be read, which may be another one.

        Raises:
            NotVideo: It cannot be read, or holds no video.
            DecodeError: No frame of it can be decoded.
        """
        ...

    def frames(self, path: Path, times: Iterable[float], short_side: int, mode: Mode = "exact") -> Iterator[Frame]:
        """Streams the frame on screen at each time: the last one whose presentation time is not later.

        The other modes are for decoders that save work by them; `exact` is right for each.

        Args:
            path: The file.
            times: Seconds from the first shown frame, ascending, read as they are needed.
            short_side: The shorter side of the frames at most, in pixels; they are never scaled up.
            mode: Which frame may stand for a time.

        Yields:
            A frame for each time before the end of the video, in their order. A time is left out when damage leaves no
            frame that could stand for it.

        Raises:
            InputError: A time is negative, not finite, or smaller than the one before.
            NotVideo: The file cannot be read.
            DecodeError: No frame at all could be decoded, or the decoder gave up.
        """
        ...


Factory = TypeVar("Factory", bound=Callable[[], Decoder])
_factories: dict[str, Callable[[], Decoder]] = {}


def decoder(name: str) -> Callable[[Factory], Factory]:
    """Registers a decoder class, or any function that makes a decoder, under a name.

    To be imported from this module: the package does not offer it, lest it hide the module of the same name.

    Raises:
        InputError: The name is taken.
    """

    def register(factory: Factory) -> Factory:
        if name == AUTO or name in _factories:
            raise InputError(f"there is already a decoder named {name!r}; choose another name")
        _factories[name] = factory
        return factory

    return register


def decoders() -> tuple[str, ...]:
    """The names that `get_decoder` knows, sorted, without `auto`."""
    return tuple(sorted(_factories))


def get_decoder(name: str = AUTO) -> Decoder:
    """Makes the decoder of that name; `auto` is PyAV.

    Raises:
        InputError: No decoder has that name, or it does not exist for this machine.
        MissingExtra: Its package is not installed; the message says which extra to install.
    """
    factory = _factories.get(_DEFAULT if name == AUTO else name)
    if factory is None:
        raise InputError(f"there is no decoder named {name!r}; known are {', '.join((AUTO, *decoders()))}")
    return factory()
