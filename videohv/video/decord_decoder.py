"""Decord, kept at arm's length: a child process runs it, and PyAV takes over wherever it fails."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from videohv.errors import InputError, MissingExtra
from videohv.types import VideoInfo
from videohv.video.decoder import Mode, decoder
from videohv.video.decord_child import Request
from videohv.video.decord_pool import POOL
from videohv.video.decord_process import Deadlines
from videohv.video.decord_trust import TRUST, deadlines
from videohv.video.frame import Frame
from videohv.video.identity import check_file
from videohv.video.notes import NOTES
from videohv.video.pyav_decoder import PyAVDecoder
from videohv.video.scan import scan
from videohv.video.wanted import Wanted

BATCH = 16
_WHEELS = {("linux", "x86_64"), ("win32", "AMD64")}


@decoder("decord")
class DecordDecoder:
    """Decodes with decord 0.6 in a child process, files with which it can be trusted; all others with PyAV.

    The child stays for 20 seconds after its last frame, for whichever video needs it next. A file at which decord fails
    is read by PyAV from the next wanted frame on, and from then on in this process; the reason is added to
    `Video.warnings`.

    Args:
        limits: Seconds that opening a file and each frame may take; None allows for the sizes of file and frame.

    Raises:
        MissingExtra: Decord is not installed.
        InputError: Decord does not exist for this machine, or a look-alike is installed.
    """

    name = "decord"

    def __init__(self, limits: Deadlines | None = None) -> None:
        require_decord()
        self._limits = limits

    def probe(self, path: Path) -> VideoInfo:
        """See `Decoder.probe`. Names PyAV as the decoder, with a warning, when decord cannot read this file rightly."""
        info = PyAVDecoder().probe(path)
        objection = TRUST.objection(path)
        if not objection:
            return info.model_copy(update={"decoder": self.name})
        return info.model_copy(update={"warnings": (*info.warnings, _warning(objection))})

    def frames(self, path: Path, times: Iterable[float], short_side: int, mode: Mode = "exact") -> Iterator[Frame]:
        """See `Decoder.frames`. Frames come in batches of 16; no process is held between two of them.

        Decord is exact in every mode.
        """
        wanted = Wanted(times, scan(path))
        if wanted.next is None:
            return
        pending: tuple[float, ...] = ()
        failure = TRUST.objection(path)
        while not failure and (pending := _batch(wanted)):
            answer = POOL.ask(Request(check_file(path), pending, short_side), self._limits or deadlines(path))
            for shot in answer.shots:
                shot.rgb.setflags(write=False)
                for time in shot.wanted:
                    pending = pending[1:]
                    yield Frame(time, shot.time, shot.rgb)
            failure = answer.failure
            if failure:
                TRUST.withdraw(path, failure)
        if failure:
            NOTES.add(path, _warning(failure))
            yield from PyAVDecoder().frames(path, chain(pending, _rest(wanted)), short_side, mode)


def _warning(objection: str) -> str:
    return f"decoder: PyAV reads this file, because decord {objection}"


def _batch(wanted: Wanted) -> tuple[float, ...]:
    times: list[float] = []
    while len(times) < BATCH and wanted.next is not None:
        times.append(wanted.take())
    return tuple(times)


def _rest(wanted: Wanted) -> Iterator[float]:
    while wanted.next is not None:
        yield wanted.take()


def require_decord() -> None:
    """Checks, without importing it, that decord is there.

    Raises:
        MissingExtra: It is not installed.
        InputError: It does not exist for this machine, or another package that has taken its name is installed.
    """
    if importlib.util.find_spec("decord") is None:
        machine = (sys.platform, platform.machine())
        if machine not in _WHEELS:
            raise InputError(f"decord is not published for {' '.join(machine)}; choose the decoder 'pyav' (or 'auto')")
        raise MissingExtra("decord", "decord", "the decoder 'decord'")
    if _has_look_alike():
        raise InputError(
            "the package decord2, which gives wrong frames, is installed under decord's name: "
            "pip uninstall decord2, then pip install --force-reinstall decord"
        )


@cache
def _has_look_alike() -> bool:
    try:
        importlib.metadata.distribution("decord2")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
