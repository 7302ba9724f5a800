"""Decord, kept at arm's length: it hangs on some files and is silently wrong on others, so a child process runs it."""

from __future__ import annotations

import importlib.util
import multiprocessing
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from videohv.errors import DecodeError, MissingExtra
from videohv.types import VideoInfo
from videohv.video.decoder import decoder
from videohv.video.decord_child import Failed, Opened, Reply, Shot, serve
from videohv.video.frame import Frame
from videohv.video.identity import check_file
from videohv.video.pyav_decoder import PyAVDecoder
from videohv.video.scan import scan
from videohv.video.wanted import Wanted

BATCH = 16
_CONTAINERS = frozenset({"mov", "mp4", "matroska", "webm"})
_GRACE_SECONDS = 2.0
_AGREE_SECONDS = 0.01


class DecordFailed(Exception):
    """What went wrong with the child process, as the end of a sentence that begins with decord."""


class Child:
    """A process in which decord has one file open; started and stopped by `with`.

    Args:
        path: The file.
        short_side: As for `Decoder.frames`.
        open_deadline: Seconds for starting the process and opening the file.
        batch_deadline: Seconds for each request after that.

    Raises:
        DecordFailed: From every method: decord failed, died, or missed a deadline.
    """

    def __init__(self, path: Path, short_side: int, open_deadline: float, batch_deadline: float) -> None:
        self._open_deadline = open_deadline
        self._batch_deadline = batch_deadline
        # A fresh interpreter: decord's threads do not survive a fork.
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        arguments = (other, check_file(path).path, short_side)
        self._process = context.Process(target=serve, args=arguments, name="videohv-decord", daemon=True)
        try:
            self._process.start()
        except (OSError, AssertionError) as error:
            # An assertion is how multiprocessing says that a daemonic process may not start another.
            self._connection.close()
            raise DecordFailed(f"cannot be started ({error})") from error
        finally:
            other.close()

    def opened(self) -> Opened:
        """Waits until the file is open; to be called once, first."""
        reply = self._receive(self._open_deadline)
        assert isinstance(reply, Opened)
        return reply

    def shots(self, times: list[float]) -> list[Shot]:
        """The frames at up to 16 ascending times in seconds, each once."""
        try:
            self._connection.send(times)
        except OSError as error:
            raise self._died() from error
        reply = self._receive(self._batch_deadline)
        assert isinstance(reply, list)
        return reply

    def _receive(self, deadline: float) -> Reply:
        try:
            if not self._connection.poll(deadline):
                raise DecordFailed(f"gave nothing for {deadline:g} s and was ended")
            reply: Reply = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error
        if isinstance(reply, Failed):
            raise DecordFailed(f"cannot read it ({reply.why})")
        return reply

    def _died(self) -> DecordFailed:
        self._process.join(_GRACE_SECONDS)
        return DecordFailed(
            f"ended by itself (exit code {self._process.exitcode}); in a script of your own, open videos only below "
            "if __name__ == '__main__'"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # A child that waits for requests would go by itself, one that hangs would not; neither is worth waiting for.
        self._connection.close()
        self._process.kill()
        self._process.join()
        self._process.close()


@decoder("decord")
class DecordDecoder:
    """Decodes with decord 0.6 in a child process, for files with which it can be trusted.

    Args:
        open_deadline: Seconds that opening a file may take; decord reads through all packets then.
        batch_deadline: Seconds that 16 frames may take.
    """

    name = "decord"

    def __init__(self, open_deadline: float = 60.0, batch_deadline: float = 30.0) -> None:
        self._open_deadline = open_deadline
        self._batch_deadline = batch_deadline

    def probe(self, path: Path) -> VideoInfo:
        """See `Decoder.probe`. Names PyAV as the decoder, with a warning, when decord cannot read this file rightly.

        Raises:
            MissingExtra: Decord is not installed.
        """
        _require_decord()
        info = PyAVDecoder().probe(path)
        objection = self._objection(path)
        if objection is None:
            return info.model_copy(update={"decoder": self.name})
        warning = f"decoder: PyAV reads this file, because decord {objection}"
        return info.model_copy(update={"warnings": (*info.warnings, warning)})

    def frames(self, path: Path, times: Iterable[float], short_side: int) -> Iterator[Frame]:
        """See `Decoder.frames`. The child process lives as long as the iterator, and frames come in batches of 16.

        Raises:
            MissingExtra: Decord is not installed.
            DecodeError: Also when decord hangs for longer than its deadline; the child is killed then.
        """
        _require_decord()
        wanted = Wanted(times, scan(path))
        if wanted.next is None:
            return
        try:
            with self._child(path, short_side) as child:
                child.opened()
                while batch := _batch(wanted):
                    for shot in child.shots(batch):
                        shot.rgb.setflags(write=False)
                        for time in shot.wanted:
                            yield Frame(time, shot.time, shot.rgb)
        except DecordFailed as error:
            raise DecodeError(f"{path}: decord {error}; use the decoder 'pyav' for this file") from error

    def _child(self, path: Path, short_side: int) -> Child:
        return Child(path, short_side, self._open_deadline, self._batch_deadline)

    def _objection(self, path: Path) -> str | None:
        """Why decord is not to be trusted with a file: it is wrong on the kind, or disagrees with the scan."""
        index = scan(path)
        if _CONTAINERS.isdisjoint(index.container.split(",")):
            return f"finds wrong frames in {index.container} files"
        if index.irregular:
            return f"finds wrong frames where there are {' and '.join(index.irregular)}"
        last = index.seconds(index.last)
        try:
            with self._child(path, short_side=1) as child:
                opened = child.opened()
                # Where it hangs or gives up, it mostly does so at the end.
                child.shots([0.0, last])
        except DecordFailed as error:
            return str(error)
        if opened.frames != index.frames or abs(opened.last - last) > _AGREE_SECONDS:
            there = f"{index.frames} up to {last:.2f} s"
            return f"sees {opened.frames} frames up to {opened.last:.2f} s where the file has {there}"
        return None


def _batch(wanted: Wanted) -> list[float]:
    batch: list[float] = []
    while len(batch) < BATCH and wanted.next is not None:
        batch.append(wanted.take())
    return batch


def _require_decord() -> None:
    # Only looked for: importing it here would put its symbols into this process.
    if importlib.util.find_spec("decord") is None:
        raise MissingExtra("decord", "decord", "the decoder 'decord'")
