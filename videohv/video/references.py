"""Which H.264 pictures need not be decoded although others may refer to them, because none that is wanted does.

Encoders mark B pictures as such to which others *may* refer. Fast presets let P pictures refer to one picture only, the
P picture before; none of the B pictures between two wanted frames is then needed. Their headers say so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from av import Packet
from av.video.stream import VideoStream

from videohv.video.h264 import Headers, Picture, Reorder

_PATIENCE = 3
_ROUNDS = 4


class Plan(NamedTuple):
    """What is decoded of a group: numbers of packets in decoding order.

    Args:
        given: The packets to decode.
        good: Those of them whose pictures come out right; the others only keep the decoder's books in order.
    """

    given: frozenset[int]
    good: frozenset[int]


class References:
    """Plans groups of one stream. Where planning saves nothing in three groups, it is given up.

    Args:
        extradata: The stream's decoder configuration.
    """

    def __init__(self, extradata: bytes | None) -> None:
        self._left = _PATIENCE
        try:
            self._headers: Headers | None = Headers(extradata or b"")
        except ValueError:
            self._headers = None

    def plan(self, packets: Sequence[Packet[VideoStream]], wanted: Collection[int]) -> Plan | None:
        """What is to be decoded of a group so that some of its pictures come out exactly as if all were.

        Args:
            packets: The group in decoding order, from its key frame to the last wanted picture.
            wanted: Numbers of the wanted packets.

        Returns:
            None when it saves nothing, or when the group is of a kind that cannot be foreseen.
        """
        if self._headers is None or not self._left:
            return None
        pictures = []
        for packet in packets:
            picture = self._headers.picture(memoryview(packet))
            if picture is None:
                self._left -= 1
                return None
            pictures.append(picture)
        plan = _plan(self._headers, pictures, wanted)
        self._left = self._left - 1 if plan is None else _PATIENCE
        return plan


def _plan(headers: Headers, pictures: Sequence[Picture], wanted: Collection[int]) -> Plan | None:
    if not pictures[0].idr or any(picture.idr for picture in pictures[1:]):
        return None
    whole = _follow(headers, pictures, range(len(pictures)))
    if whole is None or any(picture.invented for picture in whole.values()):
        return None
    good = {0, *wanted}
    for i in reversed(range(len(pictures))):
        if i in good:
            good.update(*whole[i].lists)
    given = set(good)
    for _ in range(_ROUNDS):
        if all(i in given for i, picture in enumerate(pictures) if picture.reference):
            return None
        found = _follow(headers, pictures, given)
        if found is None:
            return None
        # What stands for a picture that was left out has no right place in the order by which B pictures refer.
        missing = {j for i in good if pictures[i].kind == "B" for j in found[i].invented}
        if not missing:
            right = all(found[i].lists == whole[i].lists and found[i].order == whole[i].order for i in good)
            return Plan(frozenset(given), frozenset(good)) if right else None
        given |= missing
    return None


class _Followed(NamedTuple):
    """What a decoder has when it comes to a picture: its place in the order of showing, its lists, and inventions."""

    order: int
    lists: tuple[tuple[int, ...], tuple[int, ...]]
    invented: tuple[int, ...]


class _Kept(NamedTuple):
    """A picture that may be referred to; an invented one stands for a picture that was not given."""

    which: int
    number: int
    order: int
    invented: bool


def _follow(headers: Headers, pictures: Sequence[Picture], given: Collection[int]) -> dict[int, _Followed] | None:
    """Keeps a decoder's books (8.2.1, 8.2.4, 8.2.5) over the pictures that it is given, as FFmpeg does.

    Returns:
        For each of them what it refers to; None when a picture is not there that is referred to.
    """
    found: dict[int, _Followed] = {}
    kept: list[_Kept] = []
    most, numbers, orders = headers.references, headers.numbers, headers.orders
    last_number = high = low = 0
    absent: dict[int, int] = {}
    for i, picture in enumerate(pictures):
        if i not in given:
            if picture.reference:
                absent[picture.number] = i
            continue
        if picture.idr:
            kept, last_number, high, low = [], picture.number, 0, 0
        gap = (picture.number - last_number) % numbers
        for number in range(picture.number - min(gap - 1, most), picture.number):
            before = kept[0].order if kept else 0
            which = absent.get(number % numbers)
            if which is None:
                return None
            kept = [_Kept(which, number % numbers, before + 2, True), *kept[: most - 1]]
        last_number = picture.number
        if picture.order < low and low - picture.order >= orders // 2:
            top = high + orders
        elif picture.order > low and picture.order - low > orders // 2:
            top = high - orders
        else:
            top = high
        order = top + picture.order
        lists = _lists(picture, kept, order, numbers)
        if lists is None:
            return None
        found[i] = _Followed(order, lists, tuple(one.which for one in kept if one.invented))
        if picture.reference:
            high, low = top, picture.order
            gone = {(picture.number - less) % numbers for less in picture.forgotten}
            kept = [one for one in kept if one.number not in gone]
            kept = [_Kept(i, picture.number, order, False), *kept][:most]
    return found


def _lists(
    picture: Picture, kept: Sequence[_Kept], order: int, numbers: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if picture.kind == "I":
        return (), ()
    before = sorted((one for one in kept if one.order <= order), key=lambda one: -one.order)
    after = sorted((one for one in kept if one.order > order), key=lambda one: one.order)
    defaults = [list(kept), []] if picture.kind == "P" else [before + after, after + before]
    if len(kept) > 1 and defaults[0] == defaults[1]:
        defaults[1][:2] = defaults[1][1::-1]
    lists = []
    for default, active, reorder in zip(defaults, picture.active, picture.reorder, strict=True):
        arranged = _arranged(default[:active], active, reorder, kept, picture.number, numbers)
        if arranged is None or len(arranged) < active:
            return None
        lists.append(tuple(one.which for one in arranged))
    return lists[0], lists[1]


def _arranged(
    default: list[_Kept], active: int, reorder: Sequence[Reorder], kept: Sequence[_Kept], number: int, numbers: int
) -> list[_Kept] | None:
    arranged = default
    for i, step in enumerate(reorder):
        number = (number + (step.difference if step.up else -step.difference)) % numbers
        one = next((one for one in kept if one.number == number), None)
        if one is None or i >= active:
            return None
        arranged = [*arranged[:i], one, *(other for other in arranged[i:] if other is not one)][:active]
    return arranged
