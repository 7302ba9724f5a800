"""Clips with subtitles inside, made with PyAV."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import pysubs2
from av.stream import Disposition

from tests.support.clips import make_clip

_HEADER = b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name\nStyle: Default\n\n[Events]\nFormat: Text\n"
_UNMARKED = Disposition(0)
_FORMATS = {"subrip": "srt", "ass": "ass", "webvtt": "vtt", "mov_text": "srt"}


@dataclass(frozen=True)
class Track:
    """One subtitle stream.

    Args:
        lines: Start and end in seconds, and the text in SubStation Alpha's mark-up.
        codec: `subrip`, `ass` or `webvtt` for Matroska, `mov_text` for MP4, `dvdsub` for pictures (without any entry).
        language: Three letters.
        marks: Dispositions.
    """

    lines: Sequence[tuple[float, float, str]] = ()
    codec: str = "subrip"
    language: str = "eng"
    marks: Disposition = _UNMARKED


def make_subtitled(path: Path, *tracks: Track, frames: int = 60, fps: float = 10.0, delay: float = 0.0) -> Path:
    """Writes a clip as `make_clip` does, with subtitles.

    Args:
        path: Ends in `.mkv` or `.mp4`.
        tracks: The subtitles.
        frames: Number of frames.
        fps: Frames a second.
        delay: Seconds by which everything, frames and subtitles, begins late in the container.
    """
    # MP4 has a decoding time for every packet, which Matroska has not.
    plain = make_clip(path.with_name(f"plain-{path.stem}.mp4"), frames=frames, fps=fps)
    with av.open(str(plain)) as source, av.open(str(path), "w") as out:
        video = source.streams.video[0]
        made: Any = out.add_stream_from_template(video)
        read = [_text(track, delay) for track in tracks]
        written = [_stream(out, track, text) for track, text in zip(tracks, read, strict=True)]
        packets: list[Any] = []
        for packet in source.demux(video):
            if packet.dts is not None and packet.pts is not None and packet.time_base is not None:
                shift = round(delay / packet.time_base)
                packet.pts, packet.dts, packet.stream = packet.pts + shift, packet.dts + shift, made
                packets.append(packet)
        for track, text, stream in zip(tracks, read, written, strict=True):
            entries = text.demux() if text is not None else ()
            packets += [_packet(entry, track.codec, stream) for entry in entries if entry.size]
        # In the order of time, as a container has them.
        for packet in sorted(packets, key=lambda packet: packet.dts * packet.time_base):
            out.mux(packet)
    plain.unlink()
    return path


def _text(track: Track, delay: float) -> Any:
    if not track.lines:
        return None
    file = pysubs2.SSAFile()
    for start, end, text in track.lines:
        file.append(pysubs2.SSAEvent(round((start + delay) * 1000), round((end + delay) * 1000), text))
    form = _FORMATS[track.codec]
    return av.open(io.BytesIO(file.to_string(form).encode()), format={"vtt": "webvtt"}.get(form, form))


def _stream(out: Any, track: Track, text: Any) -> Any:
    if text is None or track.codec == "mov_text":
        stream = out.add_stream(track.codec)
        if track.codec == "mov_text":
            stream.codec_context.subtitle_header = _HEADER
    else:
        stream = out.add_stream_from_template(text.streams.subtitles[0])
    stream.metadata["language"] = track.language
    stream.disposition = track.marks
    return stream


def _packet(entry: Any, codec: str, stream: Any) -> Any:
    packet = entry
    if codec == "mov_text":
        shown = bytes(entry)
        packet = av.Packet(len(shown).to_bytes(2, "big") + shown)
        packet.time_base, packet.pts, packet.dts = entry.time_base, entry.pts, entry.dts
        packet.duration = entry.duration
    packet.stream = stream
    return packet
