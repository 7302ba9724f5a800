"""Single numbers in the headers and tables of video files, made wrong in place."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import NamedTuple

from tests.support.boxes import box, boxes

Change = Callable[[bytearray], None]


class Patch(NamedTuple):
    """A way to break a clip in place.

    Args:
        base: The clip.
        apply: Changes its bytes.
        kept: The share of it, from the start, that still must be read rightly; 0 promises nothing.
        stretch: How much longer it then lasts.
    """

    base: str
    apply: Change
    kept: float = 0.0
    stretch: float = 1.0


def _table(kind: str, at: int, *values: int, form: str = "I") -> Change:
    """Writes numbers `at` bytes into the contents of an MP4 box."""

    def change(data: bytearray) -> None:
        body = box(data, kind).body
        struct.pack_into(f">{len(values)}{form}", data, body + at, *values)

    return change


def _entries(kind: str, first: int, stride: int, value: Callable[[int, int], int]) -> Change:
    """Rewrites every 32-bit entry of a table, given its number and what was there."""

    def change(data: bytearray) -> None:
        found = box(data, kind)
        for i, at in enumerate(range(found.body + first, found.end - 3, stride)):
            (old,) = struct.unpack_from(">I", data, at)
            struct.pack_into(">I", data, at, value(i, old) & 0xFFFFFFFF)

    return change


def _renamed(kind: str, name: bytes) -> Change:
    def change(data: bytearray) -> None:
        start = box(data, kind).start
        data[start + 4 : start + 8] = name

    return change


def _size(kind: str, size: int) -> Change:
    def change(data: bytearray) -> None:
        struct.pack_into(">I", data, box(data, kind).start, size)

    return change


def _slower(data: bytearray) -> None:
    at = box(data, "mdhd").body + 12
    (ticks,) = struct.unpack_from(">I", data, at)
    struct.pack_into(">I", data, at, ticks // 2)


def _noise_in(kind: str, seed: int) -> Change:
    def change(data: bytearray) -> None:
        found, chance = box(data, kind), random.Random(seed)
        data[found.body + 8 : found.end] = chance.randbytes(max(0, found.end - found.body - 8))

    return change


def _shown_for(share: float) -> Change:
    """Shortens the edit list, as phones do that trim a clip."""

    def change(data: bytearray) -> None:
        body = box(data, "elst").body
        (length,) = struct.unpack_from(">I", data, body + 8)
        struct.pack_into(">I", data, body + 8, int(length * share))

    return change


def _every(kind: str, at: int, value: int) -> Change:
    def change(data: bytearray) -> None:
        for found in list(boxes(data)):
            if found.kind == kind:
                struct.pack_into(">I", data, found.body + at, value)

    return change


def _after(marker: bytes, skip: int, new: bytes, nth: int = 0) -> Change:
    """Overwrites what lies `skip` bytes behind the n-th occurrence of a marker."""

    def change(data: bytearray) -> None:
        at = -1
        for _ in range(nth + 1):
            at = data.index(marker, at + 1)
        at += len(marker) + skip
        data[at : at + len(new)] = new

    return change


def _packets(change_one: Callable[[int, bytearray], bytes]) -> Change:
    """Goes through the 188-byte packets of a transport stream."""

    def change(data: bytearray) -> None:
        parts = [change_one(i, data[at : at + 188]) for i, at in enumerate(range(0, len(data), 188))]
        data[:] = b"".join(parts)

    return change


def _scrambled(i: int, packet: bytearray) -> bytes:
    return bytes(packet[:3]) + bytes([packet[3] | 0x80]) + bytes(packet[4:])


def _no_tables(i: int, packet: bytearray) -> bytes:
    pid = (packet[1] & 0x1F) << 8 | packet[2]
    return bytes(188) if pid in (0, 0x1000) else bytes(packet)


def _out_of_step(i: int, packet: bytearray) -> bytes:
    return b"\x00\x47\x00" + bytes(packet) if i % 97 == 50 else bytes(packet)


def _wrong_clock(i: int, packet: bytearray) -> bytes:
    if packet[3] & 0x20 and packet[4] >= 7 and packet[5] & 0x10:
        packet[6:11] = random.Random(i).randbytes(5)
    return bytes(packet)


def _late_half(i: int, packet: bytearray) -> bytes:
    """Moves the presentation times of the second half an hour ahead."""
    if i >= 395 and packet[1] & 0x40 and (at := packet.find(b"\0\0\1\xe0")) >= 0 and packet[at + 7] & 0x80:
        for place in (at + 9, at + 14) if packet[at + 7] & 0x40 else (at + 9,):
            packet[place] ^= 0x04
    return bytes(packet)


_BIG, _HUGE = 0x7FFFFFFF, 0xFFFFFFFF
_SCALE = b"\x2a\xd7\xb1\x83"
_CLUSTER = b"\x1f\x43\xb6\x75"

PATCHES: dict[str, Patch] = {
    # MP4: the clock.
    "mdhd_no_clock": Patch("h264.mp4", _table("mdhd", 12, 0)),
    "mdhd_one_tick": Patch("h264.mp4", _table("mdhd", 12, 1)),
    "mdhd_fastest": Patch("h264.mp4", _table("mdhd", 12, _HUGE)),
    "mdhd_half_speed": Patch("h264.mp4", _slower, kept=1.0, stretch=2.0),
    "mdhd_no_length": Patch("h264.mp4", _table("mdhd", 16, 0), kept=1.0),
    "mdhd_long": Patch("h264.mp4", _table("mdhd", 16, _BIG), kept=1.0),
    "mvhd_no_clock": Patch("h264.mp4", _table("mvhd", 12, 0)),
    "mvhd_no_length": Patch("h264.mp4", _table("mvhd", 16, 0), kept=1.0),
    "tkhd_no_length": Patch("h264.mp4", _table("tkhd", 20, 0), kept=1.0),
    "tkhd_skewed": Patch("h264.mp4", _table("tkhd", 40, *(0x12345678,) * 9)),
    # MP4: durations and offsets of frames.
    "stts_many_entries": Patch("h264.mp4", _table("stts", 4, _HUGE)),
    "stts_many_frames": Patch("h264.mp4", _table("stts", 8, _HUGE)),
    "stts_few_frames": Patch("h264.mp4", _table("stts", 8, 40), kept=0.2),
    "stts_no_time": Patch("h264.mp4", _table("stts", 12, 0)),
    "stts_negative": Patch("h264.mp4", _table("stts", 12, 0x80000001)),
    "stts_gone": Patch("h264.mp4", _renamed("stts", b"free")),
    "ctts_many_entries": Patch("h264.mp4", _table("ctts", 4, _HUGE)),
    "ctts_negative": Patch("h264.mp4", _entries("ctts", 12, 8, lambda i, old: -(1 << 20))),
    "ctts_shuffled": Patch("h264.mp4", _entries("ctts", 12, 8, lambda i, old: (i * 7919) % 50 * 1024)),
    "ctts_huge": Patch("h264.mp4", _entries("ctts", 12, 8, lambda i, old: _BIG if i % 9 == 4 else old)),
    "ctts_gone": Patch("h264.mp4", _renamed("ctts", b"free")),
    # MP4: where frames lie.
    "stsz_many": Patch("h264.mp4", _table("stsz", 8, _HUGE)),
    "stsz_none": Patch("h264.mp4", _table("stsz", 8, 0)),
    "stsz_all_one_size": Patch("h264.mp4", _table("stsz", 4, 100)),
    "stsz_huge_frame": Patch("h264.mp4", _entries("stsz", 12, 4, lambda i, old: 0xFFFFFFF0 if i == 90 else old)),
    "stsz_zero_frames": Patch("h264.mp4", _entries("stsz", 12, 4, lambda i, old: 0 if i % 40 == 39 else old)),
    "stsz_noise": Patch("h264.mp4", _noise_in("stsz", 1)),
    "stco_behind_the_end": Patch("h264.mp4", _entries("stco", 8, 4, lambda i, old: old + 50_000_000)),
    "stco_zero": Patch("h264.mp4", _entries("stco", 8, 4, lambda i, old: 0)),
    "stco_many": Patch("h264.mp4", _table("stco", 4, _HUGE)),
    "stco_one_off": Patch("h264.mp4", _entries("stco", 8, 4, lambda i, old: old + 1)),
    "stsc_no_frames": Patch("h264.mp4", _table("stsc", 8, 1, 0, 1)),
    "stsc_huge": Patch("h264.mp4", _table("stsc", 8, 1, _BIG, 1)),
    "stsc_wrong_order": Patch("h264.mp4", _table("stsc", 8, 77, 1, 1)),
    "stsc_many": Patch("h264.mp4", _table("stsc", 4, _HUGE)),
    "stss_gone": Patch("h264.mp4", _renamed("stss", b"free")),
    "stss_only_first": Patch("h264.mp4", _entries("stss", 12, 4, lambda i, old: _BIG), kept=1.0),
    "stss_all_wrong": Patch("h264.mp4", _entries("stss", 8, 4, lambda i, old: old + 3)),
    "stss_many": Patch("h264.mp4", _table("stss", 4, _HUGE)),
    # MP4: what is shown.
    "elst_short": Patch("edit.mp4", _shown_for(0.7), kept=0.68),
    "elst_shorter": Patch("edit.mp4", _shown_for(0.05)),
    "elst_nothing": Patch("edit.mp4", _table("elst", 12, _HUGE)),
    "elst_behind_the_end": Patch("edit.mp4", _table("elst", 12, _BIG)),
    "elst_no_speed": Patch("edit.mp4", _table("elst", 16, 0)),
    "elst_many": Patch("edit.mp4", _table("elst", 4, _HUGE)),
    # MP4: descriptions and nesting.
    "stsd_unknown_codec": Patch("h264.mp4", _table("stsd", 12, 0x7A7A7A7A)),
    "stsd_no_size": Patch("h264.mp4", _table("stsd", 40, 0)),
    "stsd_huge_size": Patch("h264.mp4", _table("stsd", 40, _HUGE)),
    "stsd_many": Patch("h264.mp4", _table("stsd", 4, _HUGE)),
    "avcc_zero": Patch("h264.mp4", _after(b"avcC", 0, bytes(20))),
    "avcc_noise": Patch("h264.mp4", _after(b"avcC", 6, random.Random(3).randbytes(20))),
    "hdlr_sound": Patch("h264.mp4", _after(b"hdlr", 8, b"soun")),
    "moov_endless": Patch("h264.mp4", _size("moov", 0)),
    "moov_long": Patch("h264.mp4", _size("moov", _BIG)),
    "moov_short": Patch("h264.mp4", _size("moov", 300)),
    "trak_long": Patch("h264.mp4", _size("trak", _BIG)),
    "stbl_short": Patch("h264.mp4", _size("stbl", 20)),
    "mdat_short": Patch("h264.mp4", _size("mdat", 9)),
    "mdat_long": Patch("h264.mp4", _size("mdat", _BIG), kept=1.0),
    "ftyp_gone": Patch("h264.mp4", _renamed("ftyp", b"zzzz")),
    # Fragments.
    "trun_many": Patch("fragments.mp4", _every("trun", 4, _HUGE)),
    "trun_elsewhere": Patch("fragments.mp4", _every("trun", 8, _BIG)),
    "tfdt_jumps": Patch("fragments.mp4", _after(b"tfdt", 8, b"\0\x50\0\0", nth=3)),
    "tfhd_other_track": Patch("fragments.mp4", _every("tfhd", 4, 9)),
    # Matroska and WebM.
    "mkv_no_clock": Patch("h264.mkv", _after(_SCALE, 0, b"\0\0\0")),
    "mkv_half_speed": Patch("vp9.webm", _after(_SCALE, 0, (2_000_000).to_bytes(3, "big")), kept=1.0, stretch=2.0),
    "mkv_length_no_number": Patch("h264.mkv", _after(b"\x44\x89\x88", 0, b"\x7f\xf8\0\0\0\0\0\0"), kept=1.0),
    "mkv_length_negative": Patch("h264.mkv", _after(b"\x44\x89\x88", 0, struct.pack(">d", -5.0)), kept=1.0),
    "mkv_ten_hours": Patch("h264.mkv", _after(b"\x44\x89\x88", 0, struct.pack(">d", 36e6)), kept=1.0),
    "mkv_cluster_endless": Patch("h264.mkv", _after(_CLUSTER, 0, b"\x01" + b"\xff" * 7, nth=2)),
    "mkv_cluster_huge": Patch("vp8.webm", _after(_CLUSTER, 0, b"\x01\x7f\xff\xff\xff\xff\xff\xff", nth=2)),
    "mkv_tracks_short": Patch("h264.mkv", _after(b"\x16\x54\xae\x6b", 0, b"\x81")),
    # Transport streams.
    "ts_scrambled": Patch("h264.ts", _packets(_scrambled)),
    "ts_no_tables": Patch("h264.ts", _packets(_no_tables)),
    "ts_out_of_step": Patch("h264.ts", _packets(_out_of_step)),
    "ts_wrong_clock": Patch("h264.ts", _packets(_wrong_clock), kept=1.0),
    "ts_jump": Patch("h264.ts", _packets(_late_half)),
    "ts_every_seventh_lost": Patch("h264.ts", _packets(lambda i, p: b"" if i % 7 == 6 else bytes(p))),
    "ts_doubled": Patch("mpeg2.ts", _packets(lambda i, p: bytes(p) * 2)),
    # AVI, Flash, Windows Media, Ogg, GIF.
    "avi_no_rate": Patch("mpeg4.avi", _after(b"strh", 24, bytes(8))),
    "avi_wild_rate": Patch("mpeg4.avi", _after(b"strh", 24, b"\1\0\0\0\xff\xff\xff\x7f")),
    "avi_index_noise": Patch("mpeg4.avi", _after(b"idx1", 4, random.Random(4).randbytes(1600))),
    "avi_list_short": Patch("mpeg4.avi", _after(b"LIST", 0, b"\x0c\0\0\0", nth=1)),
    "avi_movi_empty": Patch("mjpeg.avi", _after(b"movi", -8, bytes(4))),
    "flv_first_tag_huge": Patch("flv1.flv", _after(b"FLV", 11, b"\xff\xff\xff")),
    "flv_no_streams": Patch("h264.flv", _after(b"FLV", 1, b"\0")),
    "wmv_packet_size": Patch("wmv2.wmv", _after(b"\xa1\xdc\xab\x8c", 92 - 4, b"\xff\xff\xff\xff")),
    "ogg_checksums": Patch("vp8.ogv", _after(b"OggS", 18, b"\xde\xad\xbe\xef", nth=4)),
    "gif_no_colours": Patch("pictures.gif", _after(b"GIF89a", 4, b"\0")),
    "gif_large": Patch("pictures.gif", _after(b"GIF89a", 0, b"\xff\xff\xff\xff")),
}
