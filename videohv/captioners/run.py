"""Captions of a whole video: out of the store what is there, made and stored what is missing."""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from filelock import FileLock

from videohv.captioners.registry import Captioner
from videohv.data.store import CaptionStore, Key, ticks
from videohv.errors import VideoHVError
from videohv.types import Caption
from videohv.video import Frame, Video

Progress = Callable[[int, int], None]


def caption_video(
    video: Video,
    captioner: Captioner,
    fps: float = 1.0,
    store: CaptionStore | None = None,
    on_progress: Progress | None = None,
) -> tuple[Caption, ...]:
    """Caption a video at an even rate.

    With a store, each moment is captioned once, whoever asks and whatever happens in between: what is there is used,
    the rest is stored while it is made, and of several processes or threads that ask for the same at once one works
    and the others wait for it. Frames are decoded and captioned as a stream.

    Args:
        video: The video.
        captioner: Writes the captions; its identity names them in the store.
        fps: Sampled moments a second: `0`, `1 / fps`, `2 / fps` and so on while that is before the end.
        store: Where captions are kept; None keeps nothing.
        on_progress: Called with the captions there are and the number expected, at the start and after each one.

    Returns:
        One caption per moment, in order; none for a moment of which the captioner could make nothing.

    Raises:
        InputError: fps makes no sense, or the store cannot be used.
        VideoError: The video cannot be decoded to its end. What was captioned before stays stored.
        VideoHVError: The captioner did not give one caption per frame, or failed in its own way.
    """
    expected = max(1, math.ceil(video.info.duration * fps)) if fps > 0 and math.isfinite(fps) else 0
    tell = on_progress or (lambda done, total: None)
    if store is None:
        tell(0, expected)
        made = _counted(_captions(video.sample(fps), captioner), 0, expected, tell)
        return tuple(caption for caption in made if caption.text)
    key = Key(video.info.content_hash, captioner.identity, fps)
    if not store.complete(key):
        with _locked(store, key):
            if not store.complete(key):
                _fill(store, key, video, captioner, expected, tell)
    captions = store.read(key)
    tell(len(captions), len(captions))
    return captions


def _fill(store: CaptionStore, key: Key, video: Video, captioner: Captioner, expected: int, tell: Progress) -> None:
    done = {ticks(time) for time in store.times(key)}
    tell(len(done), expected)
    # Captions are stored in order, so what is there after a crash is nearly always the beginning: skip decoding it.
    first = next(i for i in count() if ticks(i / key.fps) not in done)
    missing = (f for f in video.sample(key.fps, start=first / key.fps) if ticks(f.wanted) not in done)
    empty = 0

    def made() -> Iterator[Caption]:
        nonlocal empty
        for caption in _counted(_captions(missing, captioner), len(done), expected, tell):
            if caption.text:
                yield caption
            else:
                empty += 1

    store.write(key, made())
    if not empty:
        # A moment without a caption is asked for again by whoever comes next.
        store.mark_complete(key)


def _captions(frames: Iterable[Frame], captioner: Captioner) -> Iterator[Caption]:
    """Run a captioner and hold it to one caption per frame, each under the moment that its frame was wanted for."""
    waiting: deque[float] = deque()

    def watched() -> Iterator[Frame]:
        for frame in frames:
            waiting.append(frame.wanted)
            yield frame

    for caption in captioner.caption(watched()):
        if not waiting:
            raise VideoHVError(
                f"captioner {captioner.identity!r} gave more captions than frames, after {caption.time} s"
            )
        yield Caption(time=waiting.popleft(), text=caption.text)
    if waiting:
        raise VideoHVError(f"captioner {captioner.identity!r} gave no caption for the frame at {waiting[0]} s")


def _counted(captions: Iterable[Caption], done: int, expected: int, tell: Progress) -> Iterator[Caption]:
    for number, caption in enumerate(captions, done + 1):
        yield caption
        tell(number, max(number, expected))


@contextmanager
def _locked(store: CaptionStore, key: Key) -> Iterator[None]:
    try:
        lock = FileLock(_lock_file(store, key))
        lock.acquire()
    except OSError as error:
        raise VideoHVError(
            f"captions cannot be kept in {store.path.parent}: {error}; name another folder with VIDEOHV_CACHE"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _lock_file(store: CaptionStore, key: Key) -> Path:
    folder = store.path.parent / "locks"
    folder.mkdir(exist_ok=True)
    name = hashlib.sha256(f"{key.content_hash}\n{key.captioner}\n{key.fps!r}".encode()).hexdigest()[:32]
    return folder / f"{name}.lock"
