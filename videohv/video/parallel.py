"""One long video decoded by several threads, each taking its share of the groups of pictures."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from threading import Condition, Thread

from videohv.video.frame import Frame

_RANGE_FRAMES = 8
_HELD_FRAMES = 12

Read = Callable[[Iterable[float]], Iterator[Frame]]


class Lane:
    """A thread that runs an iterator of frames a little ahead of whoever takes them; started and ended by `with`.

    At most 12 frames wait. Leaving the block ends the thread, even in the middle.

    Args:
        frames: Makes the iterator, in the thread.
    """

    def __init__(self, frames: Callable[[], Iterator[Frame]]) -> None:
        self._make = frames
        self._waiting: deque[Frame] = deque()
        self._changed = Condition()
        self._stopped = False
        self._ended = False
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name="videohv-frames", daemon=True)

    def _run(self) -> None:
        try:
            frames = self._make()
            with closing(frames):  # type: ignore[type-var]
                for frame in frames:
                    with self._changed:
                        self._changed.wait_for(lambda: self._stopped or len(self._waiting) < _HELD_FRAMES)
                        if self._stopped:
                            return
                        self._waiting.append(frame)
                        self._changed.notify_all()
        except BaseException as error:  # Raised again where the frames are taken.
            self._error = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def __iter__(self) -> Iterator[Frame]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ended)
                if not self._waiting:
                    break
                frame = self._waiting.popleft()
                self._changed.notify_all()
            yield frame
        if self._error is not None:
            raise self._error

    def __enter__(self) -> Lane:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
        self._thread.join()


def ranges(cuts: Iterable[float], times: Iterable[float]) -> list[float]:
    """Thins cuts out until at least eight of the times lie between any two; all in seconds, ascending."""
    kept: list[float] = []
    ahead = iter(times)
    count = 0
    time = next(ahead, None)
    for cut in cuts:
        while time is not None and time < cut:
            count, time = count + 1, next(ahead, None)
        if time is None:
            break
        if count >= _RANGE_FRAMES:
            kept.append(cut)
            count = 0
    return kept


def in_parallel(
    read: Read, times: Callable[[], Iterable[float]], cuts: Sequence[float], workers: int
) -> Iterator[Frame]:
    """Streams frames in order while several threads decode.

    The ranges between the cuts go to the threads by turns. Each thread reads the file for itself, so that any decoder
    will do, and holds about a dozen frames.

    Args:
        read: Gives the frames for ascending times in seconds; called once in each thread.
        times: Gives all wanted times, each time that it is called.
        cuts: From `ranges`; best at key frames, so that no group is decoded twice.
        workers: Threads.

    Raises:
        VideoError: As `read` does, once the frames before are taken.
    """

    def share(turn: int) -> Iterator[Frame]:
        return read(time for time in times() if bisect_right(cuts, time) % workers == turn)

    with ExitStack() as stack:
        lanes = [stack.enter_context(Lane(lambda turn=turn: share(turn))) for turn in range(workers)]  # type: ignore[misc]
        yield from heapq.merge(*lanes, key=lambda frame: frame.wanted)
