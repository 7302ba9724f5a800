from __future__ import annotations

import shutil
from pathlib import Path

import av
import pytest

from tests.support.clips import make_clip, number_in
from videohv.errors import DecodeError
from videohv.video import Video


def test_a_header_without_duration(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "live.webm", codec="libvpx-vp9", container_options={"live": "1"})
    with av.open(str(path)) as opened:
        assert opened.duration is None
    video = Video(path)
    assert video.info.duration == pytest.approx(3, abs=0.05)
    assert [number_in(f.rgb) for f in video.sample(1)] == [0, 30, 60]


def test_a_file_cut_short_gives_its_good_part_and_a_warning(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "cut.mp4", frames=400, fps=10, container_options={"movflags": "faststart"})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 6 // 10])
    video = Video(path)
    assert 10 < video.info.duration < 35
    assert len(video.info.warnings) == 1
    assert video.info.warnings[0].startswith("cut short: of 40.0 s of video")
    found = [number_in(f.rgb) for f in video.sample(1)]
    assert found == [10 * i for i in range(len(found))]
    assert len(found) >= int(video.info.duration)


def test_damage_in_the_middle_costs_only_what_it_hit(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "hole.mkv", frames=400, fps=10, gop=10)
    data = bytearray(path.read_bytes())
    for i in range(len(data) * 45 // 100, len(data) * 55 // 100):
        data[i] = 0
    path.write_bytes(data)
    frames = {round(f.wanted * 10): f for f in Video(path).sample(10)}
    assert [number_in(frames[i].rgb) for i in range(0, 160)] == list(range(160))
    assert [number_in(frames[i].rgb) for i in range(250, 400)] == list(range(250, 400))
    assert all(frame.time <= frame.wanted + 1e-6 for frame in frames.values())


def test_the_last_good_frame_stands_where_nothing_can_be_decoded(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "key.webm", frames=200, fps=10, gop=20, codec="libvpx-vp9")
    with av.open(str(path)) as container:
        found = [p for p in container.demux(container.streams.video[0]) if p.is_keyframe and p.pts is not None]
    broken = bytes(found[5])
    data = path.read_bytes()
    assert data.count(broken) == 1
    path.write_bytes(data.replace(broken, bytes(len(broken))))
    expected = [i if not 100 <= i < 120 else 99 for i in range(200)]
    assert [number_in(f.rgb) for f in Video(path).sample(10)] == expected
    assert [(f.time, number_in(f.rgb)) for f in Video(path).frames_at([11.05])] == [(9.9, 99)]


def test_nothing_but_damage_is_a_decode_error(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "dead.mp4", frames=30, container_options={"movflags": "faststart"})
    data = path.read_bytes()
    start = data.index(b"mdat") + 4
    path.write_bytes(data[:start] + bytes(len(data) - start))
    with pytest.raises(DecodeError, match=r"dead\.mp4: none of its first \d+ packets gives a frame"):
        Video(path)


def test_an_encrypted_file_says_so(tmp_path: Path) -> None:
    secret = {"encryption_scheme": "cenc-aes-ctr", "encryption_key": "7" * 32, "encryption_kid": "8" * 32}
    path = make_clip(tmp_path / "locked.mp4", frames=30, container_options=secret)
    with pytest.raises(DecodeError, match=r"locked\.mp4: is encrypted .*give an unprotected copy"):
        Video(path)


@pytest.mark.parametrize(
    "name", ["ünï côdé 视频.mp4", "with %03d in it.mp4", "-dash.mp4", " space .mp4", "a:b.mp4", "http:x.mp4"]
)
def test_odd_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: Path, name: str) -> None:
    shutil.copy(plain, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    video = Video(name)
    assert video.info.path == name
    assert [number_in(f.rgb) for f in video.frames_at([1.0])] == [10]
