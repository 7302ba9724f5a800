"""Clips that several tests read; made once per run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.clips import make_clip

OPEN_GOP = {"preset": "medium", "x264-params": "open-gop=1:bframes=3:b-adapt=0:scenecut=0"}
KINDS: dict[str, dict[str, object]] = {
    "h264.mp4": {"gop": 45, "options": {"preset": "medium"}},
    "no_b_frames.mp4": {"gop": 45, "b_frames": 0},
    "one_group.mkv": {"gop": 1000, "options": {"preset": "medium"}},
    "open_groups.mp4": {"gop": 44, "options": OPEN_GOP},
    "open_groups.ts": {"gop": 44, "options": OPEN_GOP},
    "refresh.mp4": {
        "gop": 20,
        "size": (128, 96),
        "options": {"preset": "medium", "x264-params": "intra-refresh=1:keyint=20"},
    },
    "hevc.mkv": {"gop": 45, "codec": "libx265", "options": {"x265-params": "log-level=none:open-gop=1"}},
    "vp9.webm": {"gop": 45, "codec": "libvpx-vp9", "options": {"auto-alt-ref": "1", "lag-in-frames": "16"}},
    "mpeg4.avi": {"gop": 45, "codec": "mpeg4"},
    "mpeg2.ts": {"gop": 15, "codec": "mpeg2video", "fps": 25},
    "fragmented.mp4": {"gop": 45, "container_options": {"movflags": "frag_keyframe+empty_moov"}},
    "sound_and_cover.mp4": {"gop": 45, "audio": True, "cover": True},
}
FRAMES = 400


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives a clip of one of the `KINDS` by its name: 400 frames, number `i` at `i / fps`, 10 fps unless said."""
    folder = tmp_path_factory.mktemp("clips")

    def get(name: str) -> Path:
        path = folder / name
        if not path.exists():
            make_clip(path, **{"frames": FRAMES, "fps": 10, "size": (96, 64), **KINDS[name]})  # type: ignore[arg-type]
        return path

    return get


@pytest.fixture(scope="session")
def plain(clip: Callable[[str], Path]) -> Path:
    """An ordinary H.264 clip: 40 s, 10 fps, a key frame every 4.5 s, B-frames."""
    return clip("h264.mp4")
