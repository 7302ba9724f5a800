"""The clips that frames are read from, made once and kept: H.264 with a bar code in every frame.

    python -m benchmarks.frame_clips [--clips DIR] [--source FILE …]

Long clips are a few minutes of encoded video, repeated: packets are written again with later times, which costs no
encoding.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import av
import numpy as np

from benchmarks.bar_code import stamp
from benchmarks.frame_pictures import Planes, real, split, synthetic
from benchmarks.frame_specs import FPS, SPECS, Spec, clip_path, default_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=Path, default=default_folder(), help="folder in which the clips are kept")
    parser.add_argument("--source", type=Path, nargs="+", default=[], help="real clips, in place of made pictures")
    parser.add_argument("--only", nargs="+", choices=[spec.name for spec in SPECS], help="only these clips")
    args = parser.parse_args()
    for spec in SPECS:
        if not args.only or spec.name in args.only:
            path = clip(spec, args.clips, args.source)
            print(f"{path}: {describe(path)}", flush=True)


def clip(spec: Spec, folder: Path, sources: Sequence[Path] = ()) -> Path:
    """The file of a clip, made if it is not there.

    Args:
        spec: The clip.
        folder: Where it is kept.
        sources: Real clips from which its pictures are taken; none: they are made.
    """
    path = clip_path(spec, folder, sources)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        loop = path.with_suffix(".loop.mp4")
        if not loop.exists():
            size = spec.width, spec.height
            seed = spec.frames
            pictures = (
                real(sources, *size, spec.loop, seed, spec.noise)
                if sources
                else synthetic(*size, spec.loop, seed, spec.noise)
            )
            _encode(loop, spec, pictures)
        _repeat(loop, path, spec)
        loop.unlink()
    return path


def _encode(path: Path, spec: Spec, pictures: Iterable[Planes]) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    began = time.monotonic()
    with av.open(str(part), "w", format="mp4") as out:
        stream = out.add_stream("libx264", rate=FPS, options={"preset": "veryfast", "g": "250"})
        stream.width, stream.height, stream.pix_fmt = spec.width, spec.height, "yuv420p"
        # Not by slices, which would be seen in the file: most encoders give a frame one slice.
        stream.codec_context.thread_type = "FRAME"
        stacked = np.empty((spec.height * 3 // 2, spec.width), np.uint8)
        for i, planes in enumerate(pictures):
            stamp(planes, i)
            for to, plane in zip(split(stacked, spec.width, spec.height), planes, strict=True):
                to[:] = plane
            frame = av.VideoFrame.from_ndarray(stacked, format="yuv420p")
            frame.pts, frame.time_base = i, 1 / stream.codec_context.framerate
            out.mux(stream.encode(frame))
            if i % (10 * FPS) == 0:
                speed = (i + 1) / (time.monotonic() - began)
                print(f"\r{spec.name}: {i} of {spec.loop} frames, {speed:.0f} a second", end="", file=sys.stderr)
        out.mux(stream.encode(None))
    print(file=sys.stderr)
    part.replace(path)


def _repeat(loop: Path, path: Path, spec: Spec) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    with av.open(str(part), "w", format="mp4") as out:
        stream = None
        for turn in range(spec.frames // spec.loop):
            with av.open(str(loop)) as source:
                read = source.streams.video[0]
                stream = stream or out.add_stream_from_template(read)
                assert read.time_base is not None
                shift = round(turn * spec.loop / FPS / read.time_base)
                for packet in source.demux(read):
                    if packet.pts is not None and packet.dts is not None:
                        packet.pts += shift
                        packet.dts += shift
                        packet.stream = stream
                        out.mux(packet)
    part.replace(path)


def describe(path: Path) -> str:
    """What a clip is like: size, bit rate, gaps between key frames, and share of frames to which none refers."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        packets = [(p.pts, p.is_keyframe, _needed(bytes(p))) for p in container.demux(stream) if p.pts is not None]
        tick = float(stream.time_base or 1)
        size = f"{stream.codec_context.width}x{stream.codec_context.height}"
    keys = [pts * tick for pts, key, _ in packets if key]
    gaps = [after - before for before, after in pairwise(keys)] or [0.0]
    seconds, bits = len(packets) / FPS, path.stat().st_size * 8
    return (
        f"{size}, {seconds:.0f} s, {bits / 8e6:.0f} MB, {bits / seconds / 1e6:.2f} Mbit/s, key frames "
        f"{sum(gaps) / len(gaps):.1f} s apart, {max(gaps):.1f} s at most, "
        f"{sum(not needed for *_, needed in packets) / len(packets):.0%} of the frames are referred to by none"
    )


def _needed(packet: bytes) -> bool:
    """Whether other frames refer to the frame in an H.264 packet, by the two bits (nal_ref_idc) of its first slice."""
    at = 0
    while at + 4 < len(packet):
        if packet[at + 4] & 0x1F in (1, 5):
            return bool(packet[at + 4] & 0x60)
        at += 4 + int.from_bytes(packet[at : at + 4], "big")
    return True


if __name__ == "__main__":
    main()
