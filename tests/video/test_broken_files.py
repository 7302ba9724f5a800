from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.broken import BASES, Broken, break_all, make_bases, recipes
from videohv.video import PyAVDecoder

ROOT = Path(__file__).parent.parent.parent
DECODERS = [
    "pyav",
    pytest.param("decord", marks=pytest.mark.skipif(not importlib.util.find_spec("decord"), reason="no decord")),
]
HANG_SECONDS = 60
CPU_SECONDS = 10
GROUP = 40
HANDFUL = (
    "cut_60_h264.mp4",
    "flipped_middle_h264.mkv",
    "flipped_front_h264.flv",
    "flipped_end_flv1.flv",
    "flipped_middle_vp9.webm",
    "zeroed_mpeg4.mov",
    "zeroed_h264.ts",
    "stsz_noise.mp4",
    "elst_short.mp4",
    "mkv_half_speed.webm",
    "playlist_named.mp4",
)


class Looked(NamedTuple):
    """What a process said about some files: complaints and CPU seconds of each, what was left running."""

    complaints: dict[str, list[str]]
    cpu: dict[str, float]
    left: list[str]


def look(files: Sequence[Broken], decoder: str, folder: Path, threads: int = 1, name: str = "files") -> Looked:
    """Looks at files in processes of their own. One that crashes or hangs is laid at the door of the file at hand."""
    complaints: dict[str, list[str]] = {}
    cpu: dict[str, float] = {}
    left: list[str] = []
    waiting = list(files)
    while waiting:
        process = start(waiting, decoder, folder, threads, name)
        try:
            out, said = process.communicate(timeout=HANG_SECONDS * len(waiting))
            why = f"ended by {process.returncode}: {said[-500:]}"
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            why = "hangs"
        lines: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        begun = {line["begun"] for line in lines if "begun" in line}
        for line in lines:
            if "ended" in line:
                begun.discard(line["ended"])
                cpu[line["ended"]] = line["cpu"]
                if line["complaints"]:
                    complaints[line["ended"]] = line["complaints"]
            if "finished" in line:
                left += line["threads"] + line["processes"]
        if not any("finished" in line for line in lines):
            begun = begun or {waiting[0].name}
            complaints |= {name: [why] for name in begun}
        waiting = [broken for broken in waiting if broken.name not in cpu and broken.name not in begun]
    return Looked(complaints, cpu, left)


def start(
    files: Iterable[Broken], decoder: str, folder: Path, threads: int = 1, name: str = "files"
) -> subprocess.Popen[str]:
    listing = folder / f"{name}.jsonl"
    with listing.open("w", encoding="utf-8") as file:
        for broken in files:
            file.write(json.dumps({**broken._asdict(), "path": str(broken.path)}) + "\n")
    command = [sys.executable, "-m", "tests.support.looking_at", str(listing), decoder, str(threads)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> tuple[Broken, ...]:
    """All the broken files."""
    return tuple(break_all(tmp_path_factory.mktemp("broken")))


@pytest.fixture(scope="module")
def handful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Broken, ...]:
    """A few of them, with no more clips made than they need."""
    folder = tmp_path_factory.mktemp("handful")
    bases = make_bases(folder / "whole", [name for name in BASES if name != "av1.mp4"])
    found = []
    for recipe in recipes():
        if recipe.name in HANDFUL:
            found.append(recipe(bases, folder))
    return tuple(found)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_handful(handful: tuple[Broken, ...], tmp_path: Path, decoder: str) -> None:
    assert {broken.name for broken in handful} == set(HANDFUL)
    assert sum(bool(broken.whole) for broken in handful) >= 6
    looked = look(handful, decoder, tmp_path)
    assert looked.complaints == {}
    assert looked.left == []
    assert set(looked.cpu) == set(HANDFUL)


def test_the_look_finds_what_is_wrong(handful: tuple[Broken, ...], tmp_path: Path) -> None:
    good = next(broken for broken in handful if broken.name == "mkv_half_speed.webm")
    refused = next(broken for broken in handful if broken.name == "playlist_named.mp4")
    lies = [
        good._replace(name="other speed", fps=good.fps * 2),
        refused._replace(name="promised", whole=good.whole),
    ]
    looked = look([*lies, good], "pyav", tmp_path)
    assert set(looked.complaints) == {"other speed", "promised"}


def test_a_crash_is_laid_at_the_door_of_its_file(
    handful: tuple[Broken, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    culprit = handful[1].path.name
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "real = pathlib.Path.absolute\n"
        "def absolute(self):\n"
        f"    if self.name == {culprit!r}: os.abort()\n"
        "    return real(self)\n"
        "pathlib.Path.absolute = absolute\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    looked = look(handful[:3], "pyav", tmp_path)
    assert list(looked.complaints) == [handful[1].name]
    assert "ended by -6" in looked.complaints[handful[1].name][0]
    assert set(looked.cpu) == {handful[0].name, handful[2].name}


@pytest.mark.slow
def test_there_are_many_and_they_differ(every: tuple[Broken, ...]) -> None:
    assert len({broken.path.read_bytes() for broken in every}) >= 300
    assert len({broken.name for broken in every}) == len(every)
    assert sum(bool(broken.whole) for broken in every) >= 100


@pytest.mark.slow
@pytest.mark.parametrize("decoder", DECODERS)
def test_all(every: tuple[Broken, ...], tmp_path: Path, decoder: str) -> None:
    for at in range(0, len(every), GROUP):
        group = every[at : at + GROUP]
        looked = look(group, decoder, tmp_path)
        assert looked.complaints == {}
        assert looked.left == []
        assert set(looked.cpu) == {broken.name for broken in group}
        assert max(looked.cpu.values()) < CPU_SECONDS, looked.cpu


@pytest.mark.slow
@pytest.mark.parametrize("decoder", DECODERS)
def test_many_at_once(every: tuple[Broken, ...], tmp_path: Path, decoder: str) -> None:
    some = every[::6]
    looked = look(some, decoder, tmp_path, threads=8)
    assert looked.complaints == {}
    assert looked.left == []
    assert len(looked.cpu) == len(some)


@pytest.mark.slow
@pytest.mark.parametrize("decoder", DECODERS)
def test_two_processes_at_once(every: tuple[Broken, ...], tmp_path: Path, decoder: str) -> None:
    some = every[3::8]
    running = [start(some, decoder, tmp_path, name=f"files{i}") for i in range(2)]
    for process in running:
        out, said = process.communicate(timeout=HANG_SECONDS * len(some))
        lines = [json.loads(line) for line in out.splitlines()]
        assert process.returncode == 0, said[-500:]
        assert sum("ended" in line for line in lines) == len(some)
        assert [line for line in lines if line.get("complaints")] == []
        assert lines[-1]["processes"] == []


def test_a_stray_timestamp_is_no_end(handful: tuple[Broken, ...]) -> None:
    # Of 16 s, one packet says that it is shown after 412 s.
    broken = next(b for b in handful if b.name == "flipped_front_h264.flv")
    assert PyAVDecoder().probe(broken.path).duration == pytest.approx(16, abs=0.2)
