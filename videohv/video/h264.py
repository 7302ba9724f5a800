"""What the headers of H.264 pictures say about the pictures that they refer to.

Sections and names are those of ITU-T H.264 (7.3 syntax, 8.2.4 reference lists).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

# Of a header, and of one that has tables of weights.
_HEADER_BYTES, _LONG_HEADER_BYTES = 40, 320
_SLICE, _IDR, _PASSED_OVER = 1, 5, frozenset({6, 9, 12})
_HIGH = frozenset({44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244})


class Reorder(NamedTuple):
    """One step by which a list of references is put into another order: by how much a picture's number differs."""

    up: bool
    difference: int


class Picture(NamedTuple):
    """The headers of a picture that is one slice and a whole frame.

    Args:
        idr: Whether nothing before it is referred to any more.
        reference: Whether later pictures may refer to it.
        kind: `I`, `P` or `B`.
        number: Its frame number.
        order: The low bits of its place in the order of showing.
        active: How many entries its lists of references have.
        reorder: How the two lists are put into another order.
        forgotten: By how much the numbers of pictures are below its own to which none refers after it.
    """

    idr: bool
    reference: bool
    kind: str
    number: int
    order: int
    active: tuple[int, int]
    reorder: tuple[Sequence[Reorder], Sequence[Reorder]]
    forgotten: Sequence[int]


class _Unusual(Exception):
    """Something that is not followed here."""


class _Bits:
    """Reads a payload from its first bit."""

    def __init__(self, data: bytes) -> None:
        data = data.replace(b"\0\0\3", b"\0\0")
        self._bits = f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}"
        self._at = 0

    def flag(self) -> bool:
        self._at += 1
        return self._bits[self._at - 1] == "1"

    def number(self, length: int) -> int:
        self._at += length
        if self._at > len(self._bits):
            raise ValueError("cut off")
        return int(self._bits[self._at - length : self._at], 2)

    def unsigned(self) -> int:
        """An Exp-Golomb number."""
        one = self._bits.index("1", self._at)
        end = 2 * one - self._at + 1
        value = int(self._bits[one:end], 2) - 1
        if end > len(self._bits):
            raise ValueError("cut off")
        self._at = end
        return value

    def signed(self) -> int:
        value = self.unsigned()
        return (value + 1) // 2 if value & 1 else -(value // 2)


class _Sequence(NamedTuple):
    number_bits: int
    order_bits: int
    references: int


class _Parameters(NamedTuple):
    bottom_order: bool
    active: tuple[int, int]
    weighted: bool
    weighted_both: bool


class Headers:
    """Reads the headers of the pictures of one stream.

    Args:
        extradata: The decoder configuration record (ISO/IEC 14496-15), as MP4 and Matroska files carry it.

    Raises:
        ValueError: It is none, or the stream is of a kind that is not followed here.
    """

    def __init__(self, extradata: bytes) -> None:
        try:
            self._read(extradata)
        except (_Unusual, IndexError, struct.error) as error:
            raise ValueError("not a plain H.264 stream") from error

    def _read(self, data: bytes) -> None:
        if len(data) < 8 or data[0] != 1:
            raise _Unusual
        self._length = (data[4] & 3) + 1
        sets, at = _sets(data, 5, data[5] & 31)
        parameters, _ = _sets(data, at, data[at])
        if len(sets) != 1 or not parameters:
            raise _Unusual
        self._sets = frozenset((*sets, *parameters))
        self._sequence = _sequence(_Bits(sets[0][1:]))
        self._parameters = dict(_parameters(_Bits(one[1:])) for one in parameters)

    @property
    def references(self) -> int:
        """How many pictures can be referred to at a time."""
        return self._sequence.references

    @property
    def numbers(self) -> int:
        """How many frame numbers there are before they begin anew."""
        return 1 << self._sequence.number_bits

    @property
    def orders(self) -> int:
        """How many values `Picture.order` can have."""
        return 1 << self._sequence.order_bits

    def picture(self, packet: memoryview) -> Picture | None:
        """The headers of the picture in a packet; None when it is of a kind that is not followed here."""
        try:
            data = self._only_slice(packet)
            with suppress(ValueError, IndexError):
                return self._slice(data[:_HEADER_BYTES])
            return self._slice(data)
        except (_Unusual, ValueError, IndexError, KeyError):
            return None

    def _only_slice(self, packet: memoryview) -> memoryview:
        found, at, end = None, 0, len(packet)
        while at + self._length < end:
            size = int.from_bytes(packet[at : at + self._length], "big")
            at += self._length
            kind = packet[at] & 31
            if kind in (_SLICE, _IDR) and found is None:
                found = packet[at : at + min(size, _LONG_HEADER_BYTES)]
            elif kind not in _PASSED_OVER and bytes(packet[at : at + size]) not in self._sets:
                raise _Unusual
            at += size
        if found is None or at != end:
            raise _Unusual
        return found

    def _slice(self, data: memoryview) -> Picture:
        idr, reference = data[0] & 31 == _IDR, bool(data[0] & 0x60)
        bits = _Bits(bytes(data[1:]))
        if bits.unsigned() != 0:
            raise _Unusual
        kind = {0: "P", 1: "B", 2: "I"}[bits.unsigned() % 5]
        parameters = self._parameters[bits.unsigned()]
        number = bits.number(self._sequence.number_bits)
        if idr:
            bits.unsigned()
        order = bits.number(self._sequence.order_bits)
        # The two halves of a frame of one piece are shown in either order; that says nothing of other frames.
        if parameters.bottom_order and bits.signed() < 0:
            raise _Unusual
        active = (0, 0)
        reorder: tuple[Sequence[Reorder], Sequence[Reorder]] = ((), ())
        if kind != "I":
            if kind == "B":
                bits.flag()
            first, second = parameters.active
            if bits.flag():
                first = bits.unsigned() + 1
                second = bits.unsigned() + 1 if kind == "B" else 0
            active = (first, second if kind == "B" else 0)
            reorder = (_reorders(bits), _reorders(bits) if kind == "B" else ())
            if parameters.weighted if kind == "P" else parameters.weighted_both:
                _pass_weights(bits, active)
        forgotten = _forgotten(bits, idr) if reference else ()
        return Picture(idr, reference, kind, number, order, active, reorder, forgotten)


def _sets(data: bytes, at: int, count: int) -> tuple[list[bytes], int]:
    """Parameter sets with their lengths before them, and where they end. `at` is where their count is."""
    at += 1
    found = []
    for _ in range(count):
        (size,) = struct.unpack_from(">H", data, at)
        found.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return found, at


def _sequence(bits: _Bits) -> _Sequence:
    profile = bits.number(8)
    bits.number(16)
    bits.unsigned()
    if profile in _HIGH:
        if bits.unsigned() == 3 and bits.flag():
            raise _Unusual
        bits.unsigned()
        bits.unsigned()
        bits.flag()
        if bits.flag():
            raise _Unusual
    number_bits = bits.unsigned() + 4
    if bits.unsigned() != 0:
        raise _Unusual
    order_bits = bits.unsigned() + 4
    references = bits.unsigned()
    gaps = bits.flag()
    bits.unsigned()
    bits.unsigned()
    if gaps or not bits.flag() or not 1 <= references <= 16:
        raise _Unusual
    return _Sequence(number_bits, order_bits, references)


def _parameters(bits: _Bits) -> tuple[int, _Parameters]:
    number, sequence = bits.unsigned(), bits.unsigned()
    bits.flag()
    bottom_order = bits.flag()
    if bits.unsigned() or sequence:
        raise _Unusual
    active = bits.unsigned() + 1, bits.unsigned() + 1
    weighted, weighted_both = bits.flag(), bits.number(2) == 1
    bits.signed()
    bits.signed()
    bits.signed()
    bits.flag()
    bits.flag()
    if bits.flag():
        raise _Unusual
    return number, _Parameters(bottom_order, active, weighted, weighted_both)


def _reorders(bits: _Bits) -> list[Reorder]:
    found: list[Reorder] = []
    if bits.flag():
        while (step := bits.unsigned()) != 3:
            if step > 1:
                raise _Unusual
            found.append(Reorder(step == 1, bits.unsigned() + 1))
    return found


def _forgotten(bits: _Bits, idr: bool) -> list[int]:
    if idr:
        if bits.number(2) & 1:
            raise _Unusual
        return []
    found: list[int] = []
    if bits.flag():
        while (step := bits.unsigned()) != 0:
            if step != 1:
                # Pictures that are kept for long.
                raise _Unusual
            found.append(bits.unsigned() + 1)
    return found


def _pass_weights(bits: _Bits, active: tuple[int, int]) -> None:
    bits.unsigned()
    bits.unsigned()
    for _ in range(sum(active)):
        for numbers in (2, 4):
            if bits.flag():
                for _ in range(numbers):
                    bits.signed()
