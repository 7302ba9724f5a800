"""Time and peak memory of a long video at 1 fps, captioned by an instantly answering vision model, then asked about.

    python -m benchmarks.long_video [--minutes 1 10] [--video FILE]

Each length runs in a process of its own, so that the peaks can be compared: memory must not grow with the video.
Without `--video` the clips are made first (640x360, H.264, 30 frames a second, a keyframe every 250), which takes a
while.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import av
import dspy
import numpy as np

from benchmarks.instant import instant_lm
from videohv import Video, VideoHV


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--video", type=Path, help="use this file instead of made ones")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [args.video] if args.video else [make(Path(folder) / f"{m}min.mp4", m) for m in args.minutes]
        for file in files:
            subprocess.run([sys.executable, "-m", "benchmarks.long_video", "--measure", str(file)], check=True)


def measure(file: Path) -> None:
    """Caption and ask in this process, and print what it took."""
    base = peak_mb()
    lm, engine = instant_lm()
    video = Video(file)
    with tempfile.TemporaryDirectory() as folder, dspy.context(lm=lm):
        program = VideoHV(store=Path(folder) / "captions.sqlite")
        wall, cpu = time.perf_counter(), time.process_time()
        captions, _ = program.caption(video)
        caption_wall, caption_cpu = time.perf_counter() - wall, time.process_time() - cpu
        wall, cpu = time.perf_counter(), time.process_time()
        prediction = program(question="What happens?", options=["a", "b", "c", "d", "e"], video=video)
        ask_wall, ask_cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{video.info.duration:6.0f} s of {video.info.width}x{video.info.height}: {len(captions)} captions in "
        f"{caption_wall:.1f} s ({caption_cpu:.1f} s CPU); question {prediction.outcome} in {ask_wall:.2f} s "
        f"({ask_cpu:.2f} s CPU); {engine.calls} calls; peak {peak_mb():.0f} MB ({base:.0f} MB after imports)"
    )


def make(path: Path, minutes: int) -> Path:
    """A clip of moving gradients with noise."""
    rng = np.random.default_rng(0)
    grain = rng.integers(0, 24, (360, 640, 3), dtype=np.uint8)
    noise = [np.roll(grain, 37 * i, axis=1) for i in range(8)]
    ramp = np.arange(640)[None, :, None] + np.arange(360)[:, None, None] + np.array([0, 60, 120])
    moving = [((ramp + 2 * i) % 200).astype(np.uint8) for i in range(100)]
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"preset": "ultrafast", "g": "250"})
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        for i in range(minutes * 60 * 30):
            picture = av.VideoFrame.from_ndarray(moving[i % 100] + noise[i % 8], format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return path


def peak_mb() -> float:
    """Highest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024 * 1024)


if __name__ == "__main__":
    main()
