from __future__ import annotations

import json
from multiprocessing import get_context
from pathlib import Path

import av
import numpy as np
import pytest
import simplejpeg

from benchmarks import frame_jobs, frame_requests, frames
from benchmarks.bar_code import read, stamp
from benchmarks.frame_clips import clip, describe
from benchmarks.frame_meter import Measured, Meter, Unavailable
from benchmarks.frame_pictures import split, synthetic
from benchmarks.frame_specs import FPS, SPECS, Spec, clip_path
from benchmarks.frame_targets import Cell, table, targets
from videohv.video.jpeg import scaled

SMALL = Spec("3min", 240, 136, 16, 4 * FPS, 2.0, 12)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clip(SMALL, tmp_path_factory.mktemp("clips"))


@pytest.mark.parametrize("number", [0, 1, 5399, 10_799, 65_535])
def test_a_number_survives_jpeg_and_scaling(number: int) -> None:
    stacked = np.full((480 * 3 // 2, 854), 200, np.uint8)
    stamp(split(stacked, 854, 480), number)
    rgb = av.VideoFrame.from_ndarray(stacked, format="yuv420p").to_ndarray(format="rgb24")
    jpeg = simplejpeg.encode_jpeg(scaled(rgb, 320, 180), quality=45, colorsubsampling="420")
    assert read(simplejpeg.decode_jpeg(jpeg)) == number


def test_what_is_no_number_is_not_read_as_one() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (100, 90, 160, 3), dtype=np.uint8)
    assert sum(read(picture) is not None for picture in noise) < 5


def test_pictures_are_the_same_each_time() -> None:
    first, again = ([p[0].copy() for p in synthetic(240, 136, 20, seed=1, noise=2.0)] for _ in range(2))
    assert len(first) == 20
    assert all((a == b).all() for a, b in zip(first, again, strict=True))


def test_every_frame_of_a_clip_has_its_number_and_time(file: Path) -> None:
    with av.open(str(file)) as container:
        for i, frame in enumerate(container.decode(video=0)):
            assert frame.time == pytest.approx(i / FPS)
            assert read(frame.to_ndarray(format="rgb24")) == i % SMALL.loop
    assert i + 1 == SMALL.frames


def test_a_clip_is_made_once_and_nothing_else_is_left(file: Path) -> None:
    made = file.stat().st_mtime_ns
    assert clip(SMALL, file.parent) == file
    assert file.stat().st_mtime_ns == made
    assert list(file.parent.iterdir()) == [file]
    assert "240x136, 16 s" in describe(file)


def test_a_clip_of_real_pictures(file: Path, tmp_path: Path) -> None:
    spec = SMALL._replace(seconds=2, loop=FPS)
    made = clip(spec, tmp_path, [file])
    assert made != clip_path(spec, tmp_path)
    with av.open(str(made)) as container:
        numbers = [read(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    assert numbers == [*range(FPS), *range(FPS)]


@pytest.mark.parametrize("name", ["exact", "near", "key", "pyav", "decord", "cv2", "ffmpeg"])
def test_sampling(file: Path, name: str) -> None:
    try:
        if name in {"decord", "cv2"}:
            # They bring an FFmpeg of their own: not into the process that all other tests run in.
            with get_context("spawn").Pool(1) as other:
                done = other.apply(frame_jobs.run, ("sampling", name, file, SMALL))
        else:
            done = frame_jobs.run("sampling", name, file, SMALL)
    except Unavailable as missing:
        pytest.skip(str(missing))
    assert done.wrong in (0, None)
    assert (done.wrong is None) == (name in {"cv2", "ffmpeg"})
    assert done.pictures == SMALL.used
    assert done.cpu > 0


def test_the_wrong_frame_is_noticed() -> None:
    planes = next(synthetic(240, 136, 1, seed=1, noise=2.0))
    stamp(planes, 7)
    rgb = np.repeat(planes[0][:, :, None], 3, axis=2)
    meter = Meter(loop=100)
    for time, first, last in ((107 / FPS, 107, 107), (108 / FPS, 108, 108), (107 / FPS, 108, 137), (7 / FPS, 0, 29)):
        meter.check(rgb, time, first, last)
    assert (meter.pictures, meter.wrong) == (4, 2)


def test_windows_and_threads(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_requests, "_PLACES", 3)
    monkeypatch.setattr(frame_requests, "_THREADS", 2)
    monkeypatch.setattr(frame_requests, "_REQUESTS", 2)
    windows = frame_jobs.run("windows", "ours", file, SMALL)
    assert (windows.pictures, windows.wrong, len(windows.series)) == (15, 0, 3)
    threads = frame_jobs.run("threads", "ours", file, SMALL)
    assert threads.series[0] > 0


def test_memory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_requests, "_OPENS", 4)
    monkeypatch.setattr(frame_requests, "_EVERY", 2)
    monkeypatch.setattr(frame_requests, "IDLE", 1)
    try:
        opens = frame_jobs.run("memory", "opens", file, SMALL)
    except Unavailable as missing:
        pytest.skip(str(missing))
    assert (opens.pictures, opens.wrong, len(opens.series)) == (20, 0, 2)
    assert frame_jobs.run("memory", "idle-pyav", file, SMALL).series[0] > 10


def test_a_failure_in_a_thread_is_a_failure(file: Path) -> None:
    def opener(path: Path) -> frame_requests.Request:
        raise Unavailable("a reader")

    with pytest.raises(Unavailable):
        frame_requests.threads(opener, False, file, SMALL, seed=0)


def test_names_choose_among_their_own_kind() -> None:
    assert len(frames.chosen([])) == len(list(frames.cells()))
    assert frames.chosen(["3h", "sampling", "exact", "pyav"]) == [
        Cell("sampling", "3h", "exact"),
        Cell("sampling", "3h", "pyav"),
    ]
    assert {cell.part for cell in frames.chosen(["decord"])} == {"sampling", "windows", "threads"}


def test_loops_divide_their_clips_and_fit_the_code() -> None:
    for spec in SPECS:
        assert spec.frames % spec.loop == 0
        assert spec.loop < 1 << 16
        assert spec.width % 2 == spec.height % 2 == 0


def test_ratios_stand_beside_their_targets() -> None:
    def measured(cpu: float, peak: float = 90.0, series: tuple[float, ...] = ()) -> Measured:
        return Measured(cpu, cpu, 0.3, 0.1, peak, 180, 0, series)

    runs = {
        Cell("sampling", "3min", "exact"): [measured(5.0), measured(6.0)],
        Cell("sampling", "3min", "ffmpeg"): [measured(10.0), measured(10.0)],
        Cell("sampling", "3min", "pyav"): [],
        Cell("sampling", "3h", "exact"): [measured(50.0, 130.0)],
        Cell("windows", "3h", "ours"): [measured(5.0, series=(70.0, 80.0, 90.0))],
        Cell("windows", "3h", "decord"): [measured(5.0, series=(100.0, 160.0, 200.0))],
        Cell("threads", "3h", "ours"): [measured(5.0, series=(9.0,))],
        Cell("threads", "3h", "decord"): [measured(5.0, series=(3.0,))],
        Cell("memory", "3min", "opens"): [measured(5.0, series=(100.0, 101.0))],
        Cell("memory", "60min", "idle-decord"): [measured(5.0, series=(400.0, 90.0))],
    }
    found = {target.what: target for target in targets(runs)}
    assert found["3min, CPU of exact / ffmpeg"][1:4] == pytest.approx((0.55, 0.5, 0.6))
    assert "3min, CPU of exact / pyav" not in found
    assert found["3h, median window of ours / decord"].met
    assert found["3h, requests a second of ours / decord, 8 threads"].value == 3.0
    assert not found["peak memory of exact, 3h / 3min"].met
    idle = found["60min, MB after 30 s idle with decord (and range in them)"]
    assert str(idle).endswith("90 (90 to 400), at most 300: met")
    assert len(list(table(runs))) == len(runs)


def test_the_command_measures_and_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = clip(SMALL._replace(seconds=2, loop=2 * FPS), tmp_path)
    monkeypatch.setattr(frames, "file", lambda name, options: made)
    monkeypatch.setattr("sys.argv", ["frames", "--only", "sampling", "3min", "exact", "--repeat", "1", "--json"])
    frames.main()
    printed = json.loads(capsys.readouterr().out)
    assert printed["cells"][0]["runs"][0]["pictures"] == 2
    assert [(target["value"], target["met"]) for target in printed["targets"]] == [(0, True)]
