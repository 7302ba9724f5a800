"""Frames out of videos: CPU time, memory and delay of ours against ffmpeg, OpenCV, decord and plain PyAV.

    python -m benchmarks.frames [--clips DIR] [--source FILE …] [--only NAME …] [--repeat 3] [--json]

Three H.264 clips (1.5 GB) are made first, with a bar code in every frame, and kept: about 15 minutes of CPU time, once.
Three rounds take about 40 minutes on two idle cores; the 3 hours are sampled in one round unless `--repeat-long` says
otherwise. Each job runs in a process of its own, ours and theirs in turn, round after round:

- sampling: one frame a second of 3 minutes at 854x480, of the first 5 of 60 minutes at 1280x720, and of 3 hours at
  640x360. Ours in three modes, with JPEG bytes at 448 pixels made of every frame and checked; against
  `ffmpeg -vf fps=1` to JPEG files, OpenCV reading all and writing every thirtieth to JPEG files, decord's `get_batch`
  and PyAV decoding all, these two without JPEG.
- windows: five frames of a 10-second window at random places, with one file kept open; ours with JPEG bytes.
- threads: the same, eight threads at once.
- memory: 500 times a file and a window; resident memory in the 30 s after a window, with either decoder.

CPU is user and system time, of children too, without imports (column `start`), which a program pays once; ours includes
reading the whole file once for its timeline and hash (column `open`). What is not installed is named and left out.
`--only` takes names of parts, clips and jobs, such as `sampling 3min exact ffmpeg`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.frame_jobs import MISSING
from benchmarks.frame_meter import Measured, Unavailable
from benchmarks.frame_readers import READERS, ffmpeg_program
from benchmarks.frame_requests import REQUESTS
from benchmarks.frame_specs import SPECS, clip_path, default_folder
from benchmarks.frame_targets import Cell, table, targets

_LIMIT = 3600
_LONG = "3h"


class Options(NamedTuple):
    """What to run.

    Args:
        clips: Folder of the clips.
        sources: Real clips from which they are made.
        only: Names of parts, clips and jobs; of each kind that is named at all, the others are left out.
        repeat: Rounds.
        repeat_long: Rounds of sampling the 3 hours.
    """

    clips: Path
    sources: tuple[Path, ...]
    only: tuple[str, ...]
    repeat: int
    repeat_long: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=Path, default=default_folder(), help="folder in which the clips are kept")
    parser.add_argument("--source", type=Path, nargs="+", default=[], help="make the clips of these, once, instead")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="parts, clips and jobs")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--repeat-long", type=int, default=1, help="rounds of sampling the 3-hour clip")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    args = parser.parse_args()
    if unknown := set(args.only) - {name for cell in cells() for name in cell}:
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}")
    options = Options(args.clips, tuple(args.source), tuple(args.only), args.repeat, args.repeat_long)
    runs = measure(options)
    if args.json:
        rows = [{**cell._asdict(), "runs": [run._asdict() for run in found]} for cell, found in runs.items()]
        reached = [{**target._asdict(), "met": target.met} for target in targets(runs)]
        print(json.dumps({"versions": versions(), "cells": rows, "targets": reached}))
        return
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    print(*table(runs), "", *targets(runs), sep="\n")


def cells() -> Iterator[Cell]:
    """All that can be measured, in the order in which it is."""
    clips = [spec.name for spec in SPECS]
    for clip in clips:
        yield from (Cell("sampling", clip, name) for name in READERS)
    for part in ("windows", "threads"):
        for clip in clips:
            yield from (Cell(part, clip, name) for known, name in REQUESTS if known == part)
    for part, name in REQUESTS:
        if part == "memory":
            yield Cell(part, "3min" if name == "opens" else "60min", name)


def chosen(only: Sequence[str]) -> list[Cell]:
    """The cells that fit these names."""
    every = list(cells())
    kinds = [{cell[i] for cell in every} & set(only) for i in range(3)]
    return [cell for cell in every if all(not kind or cell[i] in kind for i, kind in enumerate(kinds))]


def measure(options: Options) -> dict[Cell, list[Measured]]:
    """Makes the clips that are missing and runs the jobs; progress goes to stderr."""
    wanted = chosen(options.only)
    files = {name: file(name, options) for name in dict.fromkeys(cell.clip for cell in wanted)}
    runs: dict[Cell, list[Measured]] = {cell: [] for cell in wanted}
    left_out: set[Cell] = set()
    began = time.monotonic()
    for group in dict.fromkeys(cell[:2] for cell in wanted):
        part, clip = group
        rounds = 1 if part == "memory" else options.repeat_long if group == ("sampling", _LONG) else options.repeat
        for turn in range(rounds):
            for cell in wanted:
                if cell[:2] == group and cell not in left_out:
                    say(f"{time.monotonic() - began:6.0f} s  {part} {clip} {cell.name}, round {turn + 1} of {rounds}")
                    done = job(cell, files[clip], turn)
                    if done is None:
                        left_out.add(cell)
                    else:
                        runs[cell].append(done)
                        say(f"          {done.cpu:.2f} s CPU, {done.wall:.2f} s, {done.peak_mb:.0f} MB")
    say(f"{time.monotonic() - began:6.0f} s in all")
    return runs


def file(name: str, options: Options) -> Path:
    """The file of a clip, made if need be, in a process of its own: what is big here would be counted with the jobs."""
    path = clip_path(next(spec for spec in SPECS if spec.name == name), options.clips, options.sources)
    if not path.exists():
        say(f"making {path}; this takes minutes, once")
    sources = ("--source", *map(str, options.sources)) if options.sources else ()
    command = [sys.executable, "-m", "benchmarks.frame_clips", "--clips", str(options.clips), "--only", name, *sources]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return path


def job(cell: Cell, path: Path, seed: int) -> Measured | None:
    """Runs one job; None when something for it is missing, or when it failed, which is said."""
    command = [sys.executable, "-m", "benchmarks.frame_jobs", cell.part, cell.name, cell.clip, str(path)]
    try:
        ended = subprocess.run(
            [*command, "--seed", str(seed)], capture_output=True, text=True, check=False, timeout=_LIMIT
        )
    except subprocess.TimeoutExpired:
        say(f"          left out: not done within {_LIMIT} s")
        return None
    last = (ended.stderr.strip().splitlines() or [""])[-1]
    if ended.returncode == MISSING:
        say(f"          left out: it needs {last}")
        return None
    if ended.returncode:
        say(f"          left out: it failed with status {ended.returncode}: {last}")
        return None
    values = json.loads(ended.stdout.splitlines()[-1])
    return Measured(**{**values, "series": tuple(values["series"])})


def versions() -> dict[str, str]:
    """Of what was compared, where it is there."""
    found = {}
    for name in ("av", "decord", "opencv-python-headless", "imageio-ffmpeg", "simplejpeg", "numpy"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    try:
        said = subprocess.run([ffmpeg_program(), "-version"], capture_output=True, text=True, check=True).stdout
        found["ffmpeg"] = said.split()[2]
    except Unavailable:
        found["ffmpeg"] = "absent"
    return found


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
