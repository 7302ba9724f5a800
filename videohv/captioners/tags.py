"""Tag captions: things and their number, text on screen, light, colours and movement, without any language model.

They say what can be counted and read, and nothing about actions or relations. They are the captions of a machine that
has no vision model, and the Verifier's eyes there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from videohv.captioners.detector import LABELS, Detection, NanoDet
from videohv.captioners.looks import Looks, colours, light, looks, may_hold_text, motion, text_may_differ
from videohv.captioners.ocr import RapidOCR
from videohv.captioners.registry import captioner
from videohv.types import Caption, Observation
from videohv.video import Frame

_VERSION = 1  # of the wording and the rules below: part of the identity
_SURE = 0.5
_NEIGHBOURS = 2.5  # seconds within which two frames are compared
_MOST_PLACES = 4

_PLURALS = {"person": "people", "knife": "knives", "mouse": "mice"}
_PLURALS |= {name: name for name in ("sheep", "skis", "broccoli", "scissors")}


class Detector(Protocol):
    """Finds objects in a picture of shape (height, width, 3)."""

    @property
    def identity(self) -> str:
        """Names the model and its version."""
        ...

    def detect(self, rgb: NDArray[np.uint8]) -> tuple[Detection, ...]:
        """The objects found."""
        ...


class Reader(Protocol):
    """Reads text in a picture of shape (height, width, 3)."""

    @property
    def identity(self) -> str:
        """Names the model and its version."""
        ...

    def read(self, rgb: NDArray[np.uint8]) -> str:
        """The text found, in one line, or nothing."""
        ...


@captioner("tags")
class TagCaptioner:
    """Captions like `2 people, perhaps 1 dog; text: "An unlucky bird"; dim light; mostly green and grey; movement`.

    `perhaps` stands before things of which the detector is not very sure. One instance serves any number of threads.

    Args:
        detector: Finds the things; by default NanoDet.
        reader: Reads the text; by default RapidOCR.

    Raises:
        MissingExtra: A package of the extra `local` is not installed: here for the default reader, at the first frame
            for the rest.
    """

    def __init__(self, detector: Detector | None = None, reader: Reader | None = None) -> None:
        self._detector = detector if detector is not None else NanoDet()
        self._reader = reader if reader is not None else RapidOCR()

    @property
    def identity(self) -> str:
        """The version of the wording and both models."""
        return f"tags-{_VERSION} {self._detector.identity} {self._reader.identity}"

    def caption(self, frames: Iterable[Frame]) -> Iterator[Caption]:
        """Yield one caption per frame, with `time` = `frame.wanted`.

        Objects are looked for in every frame. Text is read only where strokes came or went since it was read last, and
        repeated in between; so a text of very low contrast can be missed here.

        Raises:
            MissingExtra: onnxruntime, or something that the reader needs, cannot be imported.
            ModelError: A network cannot be loaded.
        """
        before: tuple[float, Looks] | None = None
        read: tuple[Looks, str] | None = None
        for frame in frames:
            look = looks(frame.rgb)
            if before is not None and abs(frame.wanted - before[0]) > _NEIGHBOURS:
                before = read = None
            if not may_hold_text(look):
                read = None
            elif read is None or text_may_differ(look, read[0], bool(read[1])):
                read = look, self._reader.read(frame.rgb)
            things = () if look.plain else self._detector.detect(frame.rgb)
            words = [_counted(things), _quoted(read[1] if read else ""), *_whole(look, before)]
            yield Caption(time=frame.wanted, text=_joined(words))
            before = frame.wanted, look

    def observe(self, frames: Sequence[Frame]) -> tuple[Observation, ...]:
        """Look thoroughly: text is read in every frame, and it is said where things are and how large they appear.

        Args:
            frames: The frames of one window, in the order of their time.

        Returns:
            One observation per frame, with `time` = `frame.time`, the moment that was really seen.

        Raises:
            MissingExtra: onnxruntime, or something that the reader needs, cannot be imported.
            ModelError: A network cannot be loaded.
        """
        seen: list[Observation] = []
        before: tuple[float, Looks] | None = None
        for frame in frames:
            look = looks(frame.rgb)
            if before is not None and abs(frame.time - before[0]) > _NEIGHBOURS:
                before = None
            things = () if look.plain else self._detector.detect(frame.rgb)
            words = [_placed(things), _quoted(self._reader.read(frame.rgb)), *_whole(look, before)]
            seen.append(Observation(time=frame.time, text=_joined(words)))
            before = frame.time, look
        return tuple(seen)


def _joined(words: Iterable[str]) -> str:
    return "; ".join(filter(None, words)) or "nothing recognised"


def _whole(look: Looks, before: tuple[float, Looks] | None) -> list[str]:
    """What can be said of the picture as a whole, and of its change since the frame before."""
    names = colours(look)
    change = motion(look, before[1]) if before is not None else ""
    if look.plain:
        return [" ".join(["plain", *names[:1], "picture"]), change if change == "scene change" else ""]
    return [light(look), f"mostly {' and '.join(names)}" if names else "", change]


def _quoted(text: str) -> str:
    return 'text: "{}"'.format(text.replace('"', "'")) if text else ""


def _grouped(things: Iterable[Detection]) -> list[tuple[str, list[Detection]]]:
    """Things of one kind and one degree of certainty together, sure ones first, then in the order of the classes."""
    groups: dict[tuple[bool, int], list[Detection]] = {}
    for thing in things:
        groups.setdefault((thing.score < _SURE, LABELS.index(thing.label)), []).append(thing)
    return [(_many(unsure, LABELS[index], len(group)), group) for (unsure, index), group in sorted(groups.items())]


def _many(unsure: bool, label: str, number: int) -> str:
    plural = _PLURALS.get(label) or label + ("es" if label.endswith(("s", "ch", "sh")) else "s")
    return f"{'perhaps ' if unsure else ''}{number} {label if number == 1 else plural}"


def _counted(things: Iterable[Detection]) -> str:
    return ", ".join(name for name, _ in _grouped(things))


def _placed(things: Iterable[Detection]) -> str:
    """Counts with the places of the largest few, such as `2 people (left large, right)`."""
    parts = []
    for name, group in _grouped(things):
        largest = sorted(group, key=lambda thing: -thing.area)[:_MOST_PLACES]
        places = ", ".join(_place(thing) for thing in sorted(largest, key=lambda thing: thing.left + thing.right))
        parts.append(f"{name} ({places}{', …' if len(group) > _MOST_PLACES else ''})")
    return ", ".join(parts)


def _place(thing: Detection) -> str:
    middle = (thing.left + thing.right) / 2
    side = "left" if middle < 0.38 else "right" if middle > 0.62 else "centre"
    size = " large" if thing.area >= 0.25 else " small" if thing.area < 0.01 else ""
    return side + size
