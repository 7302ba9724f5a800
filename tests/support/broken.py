"""Broken video files: clips in many containers, cut, overwritten, patched, glued and misnamed.

Every recipe is a function from the bytes of a clip to broken bytes, and the clip's frames carry their numbers, so that
it is known which frame belongs to each moment of the part that is whole.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import av

from tests.support.clips import make_clip
from tests.support.patches import PATCHES, Patch

FRAMES = 160
_FAST = {"movflags": "faststart"}
_SHORT_CLUSTERS = {"cluster_time_limit": "1000"}
BASES: dict[str, dict[str, Any]] = {
    "h264.mp4": {"container_options": _FAST},
    "sound.mp4": {"audio": True},
    "edit.mp4": {"container_options": _FAST, "b_frames": 2},
    "fragments.mp4": {"container_options": {"movflags": "frag_keyframe+empty_moov+default_base_moof"}},
    "hevc.mp4": {
        "codec": "libx265",
        "container_options": _FAST,
        "options": {"x265-params": "log-level=none:open-gop=0"},
    },
    "av1.mp4": {"codec": "libsvtav1", "container_options": _FAST},
    "mpeg4.mov": {"codec": "mpeg4", "b_frames": 0},
    "mjpeg.mov": {"codec": "mjpeg"},
    "prores.mov": {"codec": "prores_ks"},
    "h263.3gp": {"codec": "h263", "size": (128, 96)},
    "h264.mkv": {"audio": True, "container_options": _SHORT_CLUSTERS},
    "vp9.webm": {"codec": "libvpx-vp9", "container_options": _SHORT_CLUSTERS},
    "vp8.webm": {"codec": "libvpx", "container_options": _SHORT_CLUSTERS},
    "h264.ts": {"audio": True},
    "mpeg2.ts": {"codec": "mpeg2video", "fps": 25},
    "mpeg4.avi": {"codec": "mpeg4", "b_frames": 0},
    "mjpeg.avi": {"codec": "mjpeg"},
    "h264.flv": {"audio": True},
    "flv1.flv": {"codec": "flv"},
    "mpeg2.mpg": {"codec": "mpeg2video", "fps": 25},
    "vp8.ogv": {"codec": "libvpx"},
    "wmv2.wmv": {"codec": "wmv2"},
    "pictures.gif": {"codec": "gif"},
    "h264.nut": {},
    "mpeg2.mxf": {"codec": "mpeg2video", "fps": 25},
    "raw.h264": {},
}
_CUTS = (2, 30, 60, 90, 99.5)
# Formats whose packets carry their own times and positions, so that damage in the middle leaves the rest as it was.
_TIMED = {"mp4", "mov", "3gp", "mkv", "webm", "ts", "flv", "nut"}


class Span(NamedTuple):
    """Seconds in which the file is whole: there, the right frame is to be had for every moment."""

    start: float
    end: float


class Broken(NamedTuple):
    """A broken file.

    Args:
        name: What was done to what.
        path: The file.
        fps: Frame `i` is shown at `i / fps` where the file is whole.
        whole: Where that is; empty where nothing can be promised.
    """

    name: str
    path: Path
    fps: float
    whole: tuple[Span, ...] = ()


class Base(NamedTuple):
    """A whole clip, to be broken."""

    name: str
    data: bytes
    fps: float
    groups: tuple[tuple[int, int, float, float], ...]
    """For each key frame: the bytes of its group (first, behind the last) and its seconds (first, behind the last)."""

    @property
    def suffix(self) -> str:
        """Of its name, without the dot."""
        return self.name.rpartition(".")[2]

    @property
    def index_at(self) -> int:
        """Where a table at the end of the file begins without which nothing of it can be read."""
        at = self.data.rfind(b"moov") - 4
        return at if at > self.groups[-1][0] else len(self.data)

    def whole_without(self, damage: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
        """The seconds that no damage touches. After a damaged group the next one is given up too: it may hide a header.

        Args:
            damage: Byte ranges.
        """
        if self.suffix not in _TIMED or not self.groups:
            return ()
        first = self.groups[0][0]
        if any(start < first + 64 or end > self.index_at for start, end in damage):
            return ()
        spans: list[Span] = []
        before = False
        for start, end, since, until in self.groups:
            # Some bytes before a packet are its header, and a demuxer may need the one that follows it.
            hit = any(begin < end + 64 and stop > start - 64 for begin, stop in damage)
            if not hit and not before:
                spans.append(Span(since, until))
            before = hit
        return tuple(spans)


def make_bases(folder: Path, names: Iterable[str] = tuple(BASES)) -> dict[str, Base]:
    """Makes the clips, or some of them; frame `i` of each shows the number `i`."""
    folder.mkdir(parents=True, exist_ok=True)
    bases = {}
    for name in names:
        settings = BASES[name]
        fps = float(settings.get("fps", 10))
        path = make_clip(folder / name, **{"frames": FRAMES, "fps": fps, "size": (96, 64), "gop": 20, **settings})
        bases[name] = Base(name, path.read_bytes(), fps, _groups(path, fps))
    return bases


def _groups(path: Path, fps: float) -> tuple[tuple[int, int, float, float], ...]:
    with av.open(str(path)) as container:
        packets = [p for p in container.demux(container.streams.video[0]) if p.size]
        if any(p.pts is None or p.pos is None for p in packets):
            return ()
        origin = min(p.pts for p in packets if p.pts is not None)
        tick = packets[0].time_base
        found = [(p.pos or 0, (p.pts or 0) - origin, (p.pos or 0) + p.size) for p in packets if p.is_keyframe]
        end = max((p.pos or 0) + p.size for p in packets)
    bounds = [*((at, float(pts * tick)) for at, pts, _ in found), (end, FRAMES / fps)]
    return tuple((a, b, since, until) for (a, since), (b, until) in pairwise(bounds))


def break_all(folder: Path) -> Iterator[Broken]:
    """Writes every broken file into a folder."""
    bases = make_bases(folder / "whole")
    for recipe in recipes():
        yield recipe(bases, folder)


class Recipe(NamedTuple):
    """Makes one broken file out of the clips, in a folder."""

    name: str
    make: Callable[[dict[str, Base], Path, str], Broken]

    def __call__(self, bases: dict[str, Base], folder: Path) -> Broken:
        """The file."""
        return self.make(bases, folder, self.name)


def recipes() -> list[Recipe]:
    """What there is to be broken, and how; each makes one file."""
    made: list[Recipe] = []
    for base in BASES:
        made += [Recipe(f"cut_{percent:g}_{base}", partial(_cut, base, percent)) for percent in _CUTS]
        made += [Recipe(f"flipped_{where}_{base}", partial(_flipped, base, where)) for where in _PLACES]
        made.append(Recipe(f"zeroed_{base}", partial(_zeroed, base)))
    for name, patch in PATCHES.items():
        made.append(Recipe(f"{name}.{patch.base.rpartition('.')[2]}", partial(_patched, patch)))
    for first, second in _PAIRS:
        made.append(Recipe(f"glued_{second.replace('.', '_')}_to_{first}", partial(_glued, first, second)))
    made += [Recipe(name, _misnamed) for name in _misnamings({})]
    return made


_PLACES = {"header": (0.0, 0.02), "front": (0.02, 0.2), "middle": (0.45, 0.55), "end": (0.97, 1.0)}
_PAIRS = (
    ("h264.mp4", "h264.mp4"),
    ("h264.ts", "h264.ts"),
    ("h264.ts", "mpeg2.ts"),
    ("h264.mkv", "h264.mkv"),
    ("h264.mkv", "vp9.webm"),
    ("flv1.flv", "flv1.flv"),
    ("mpeg2.mpg", "mpeg2.mpg"),
    ("mpeg4.avi", "mpeg4.avi"),
    ("vp8.ogv", "vp8.ogv"),
    ("pictures.gif", "pictures.gif"),
    ("raw.h264", "raw.h264"),
    ("h264.ts", "h264.mp4"),
    ("h264.mp4", "h264.ts"),
)


def _write(folder: Path, name: str, data: bytes, fps: float, whole: tuple[Span, ...] = ()) -> Broken:
    path = folder / name
    path.write_bytes(data)
    return Broken(name, path, fps, whole)


def _cut(of: str, percent: float, bases: dict[str, Base], folder: Path, name: str) -> Broken:
    base = bases[of]
    size = int(len(base.data) * percent / 100)
    whole = base.whole_without([(size, len(base.data))])
    return _write(folder, name, base.data[:size], base.fps, whole)


def _flipped(of: str, where: str, bases: dict[str, Base], folder: Path, name: str) -> Broken:
    base = bases[of]
    low, high = (int(len(base.data) * share) for share in _PLACES[where])
    chance = random.Random(zlib.crc32(f"{of} {where}".encode()))
    data = bytearray(base.data)
    damage = []
    for _ in range(6):
        at = chance.randrange(low, max(low + 1, high - 4))
        for i in range(at, min(at + 4, len(data))):
            data[i] ^= chance.randrange(1, 256)
        damage.append((at, at + 4))
    return _write(folder, name, bytes(data), base.fps, base.whole_without(damage))


def _zeroed(of: str, bases: dict[str, Base], folder: Path, name: str) -> Broken:
    base = bases[of]
    low, high = int(len(base.data) * 0.4), int(len(base.data) * 0.6)
    data = base.data[:low] + bytes(high - low) + base.data[high:]
    return _write(folder, name, data, base.fps, base.whole_without([(low, high)]))


def _patched(patch: Patch, bases: dict[str, Base], folder: Path, name: str) -> Broken:
    base = bases[patch.base]
    data = bytearray(base.data)
    patch.apply(data)
    whole = (Span(0.0, FRAMES / base.fps * patch.stretch * patch.kept),) if patch.kept else ()
    return _write(folder, name, bytes(data), base.fps / patch.stretch, whole)


def _glued(first: str, second: str, bases: dict[str, Base], folder: Path, name: str) -> Broken:
    one, other = bases[first], bases[second]
    return _write(folder, name, one.data + other.data, one.fps)


def _misnamings(bases: dict[str, Base]) -> dict[str, tuple[bytes, str]]:
    """Name of the file to what is in it, and the base of which it is a whole copy, if it is one."""
    chance = random.Random(7)
    data = {name: base.data for name, base in bases.items()}
    script = b"#EXTM3U\n#EXT-X-TARGETDURATION:16\n#EXTINF:16,\nwhole/h264.ts\n#EXT-X-ENDLIST\n"
    concat = b"ffconcat version 1.0\nfile 'whole/h264.mp4'\n"
    page = b"<!DOCTYPE html><html><body>302 Found</body></html>\n"
    return {
        "matroska_named.mp4": (data.get("h264.mkv", b""), "h264.mkv"),
        "transport_named.mkv": (data.get("h264.ts", b""), "h264.ts"),
        "mp4_named.ts": (data.get("h264.mp4", b""), "h264.mp4"),
        "mp4_named.avi": (data.get("h264.mp4", b""), "h264.mp4"),
        "flash_named.webm": (data.get("h264.flv", b""), "h264.flv"),
        "webm_without_suffix": (data.get("vp9.webm", b""), "vp9.webm"),
        "playlist_named.mp4": (script, ""),
        "playlist_named.ts": (script, ""),
        "concat_named.mkv": (concat, ""),
        "page_then_film.mp4": (page + data.get("h264.mp4", b""), ""),
        "noise_then_film.ts": (chance.randbytes(1000) + data.get("mpeg2.ts", b""), ""),
        "film_then_noise.mp4": (data.get("h264.mp4", b"") + chance.randbytes(5000), "h264.mp4"),
        "zip_named.mp4": (b"PK\3\4" + chance.randbytes(3000), ""),
        "zeros.mp4": (bytes(100_000), ""),
        "noise.mp4": (chance.randbytes(100_000), ""),
        "noise.ts": (b"".join(b"\x47" + chance.randbytes(187) for _ in range(300)), ""),
        "ones.mkv": (b"\xff" * 50_000, ""),
        "nothing.webm": (b"", ""),
        "one_byte.avi": (b"R", ""),
    }


def _misnamed(bases: dict[str, Base], folder: Path, name: str) -> Broken:
    data, same = _misnamings(bases)[name]
    fps = bases[same].fps if same else 10.0
    return _write(folder, name, data, fps, (Span(0.0, FRAMES / fps),) if same else ())
