"""Published captions into the store, and out of it again in the forms in which they are published.

What a video is called in a file is only a name: a track of the store belongs to a video's content. So with the video
files at hand a track is kept under their content hash; without them under `name:<video>`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TextIO

from videohv.data.forms import RawCaption
from videohv.data.library import CaptionLibrary
from videohv.data.store import CaptionStore, Key
from videohv.data.videos import VideoFolder
from videohv.data.whole import whole_file
from videohv.errors import InputError
from videohv.types import Value

Form = Literal["list", "seconds", "folder"]
Hash = Callable[[Path], str]

_BY_NAME = "name:"


class Imported(Value):
    """What an import did.

    Args:
        videos: Videos whose captions are in the store now.
        captions: Captions that were new.
        missing: Videos of the library that have no file in the folder; nothing of them was imported.
    """

    videos: int
    captions: int
    missing: tuple[str, ...] = ()


class Exported(Value):
    """What an export wrote.

    Args:
        videos: Videos.
        captions: Captions of all of them.
    """

    videos: int
    captions: int


def import_captions(
    store: CaptionStore,
    library: CaptionLibrary,
    *,
    captioner: str,
    fps: float = 1.0,
    videos: VideoFolder | None = None,
    content_hash: Hash | None = None,
) -> Imported:
    """Put published captions into the store, with their own text kept beside the plain one. Twice does nothing more.

    Args:
        store: Where to.
        library: Where from.
        captioner: Names who wrote them, such as `lavila`; the identity under which the store has them.
        fps: Captions a second.
        videos: The video files, whose content hash the captions are kept under. None keeps them under `name:<video>`.
        content_hash: Gives the hash of a video file (`videohv.video.content_hash`); needed with `videos`.

    Raises:
        InputError: An entry of the library is wrong; the store cannot be used; a video has two files.
        VideoError: A video file cannot be read.
    """
    made, new, missing = 0, 0, []
    for name in library.videos:
        key = f"{_BY_NAME}{name}"
        if videos is not None:
            file = videos.find(name)
            if file is None:
                missing.append(name)
                continue
            key = _hashed(file, content_hash)
        track = Key(key, captioner, fps)
        new += store.write_raw(track, library.raw(name))
        store.mark_complete(track)
        made += 1
    return Imported(videos=made, captions=new, missing=tuple(missing))


def export_captions(
    store: CaptionStore,
    path: Path | str,
    *,
    captioner: str,
    form: Form = "list",
    fps: float = 1.0,
    videos: VideoFolder | None = None,
    content_hash: Hash | None = None,
    plain: bool = False,
) -> Exported:
    """Write the captions of one captioner in a published form. Videos are written one at a time, never all held.

    Args:
        store: Where from.
        path: The file to make or replace; for `folder` the folder, made when absent.
        captioner: Whose captions.
        form: `list`: `{video: [text, …]}`, item i at second i. `seconds`: `{video: {"0": text, …}}`. `folder`: a file
            a video, `<video>.json`, by second.
        fps: Whose sampling rate.
        videos: The video files, after which videos in the store are called. Those that have no file here, or all
            without a folder, are called by their content hash.
        content_hash: As for `import_captions`.
        plain: Write the plain texts, also where the published ones are there.

    Raises:
        InputError: The store has no such captions; a caption does not lie on a full second or two do on the same (form
            `list`); two videos have one name, or one that no file can have (form `folder`); the file cannot be written.
        VideoError: A video file cannot be read.
    """
    path = Path(path)
    keys = [key for key in store.tracks(captioner) if key.fps == fps]
    if not keys:
        known = ", ".join(sorted({f"{key.captioner} ({key.fps:g} fps)" for key in store.tracks()})) or "none at all"
        raise InputError(f"the store {store.path} has no captions of {captioner!r} at {fps:g} fps; it has: {known}")
    tracks = ((name, _texts(store, key, plain)) for name, key in _named(keys, videos, content_hash).items())
    if form == "folder":
        counts = list(_write_folder(path, tracks))
    else:
        with whole_file(path) as file:
            counts = list(_write_file(file, tracks, form))
    return Exported(videos=len(counts), captions=sum(counts))


def _write_file(file: TextIO, tracks: Iterable[tuple[str, list[RawCaption]]], form: Form) -> Iterator[int]:
    file.write("{")
    for number, (name, captions) in enumerate(tracks):
        value = _listed(captions, name) if form == "list" else _by_second(captions)
        file.write(f"{',' if number else ''}\n{_json(name)}: {_json(value)}")
        yield len(captions)
    file.write("\n}\n")


def _write_folder(folder: Path, tracks: Iterable[tuple[str, list[RawCaption]]]) -> Iterator[int]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise InputError(f"cannot make the folder {folder}: {e.strerror}") from e
    for name, captions in tracks:
        if not name or name.startswith(".") or set(name) & set("/\\:\0"):
            raise InputError(f"the video {name!r} cannot be the name of a file: export as a list or by seconds")
        with whole_file(folder / f"{name}.json") as file:
            file.write(_json(_by_second(captions)) + "\n")
        yield len(captions)


def _listed(captions: list[RawCaption], name: str) -> list[str]:
    seconds = [round(caption.time, 6) for caption in captions]
    if not all(second.is_integer() for second in seconds):
        at = next(second for second in seconds if not second.is_integer())
        raise InputError(
            f"the video {name!r} has a caption at {at:g} s and a list has full seconds only: use `seconds`"
        )
    texts = [""] * (int(seconds[-1]) + 1 if seconds else 0)
    for second, caption in zip(seconds, captions, strict=True):
        texts[int(second)] = caption.text
    return texts


def _by_second(captions: list[RawCaption]) -> dict[str, str]:
    return {f"{caption.time:.6f}".rstrip("0").rstrip("."): caption.text for caption in captions}


def _texts(store: CaptionStore, key: Key, plain: bool) -> list[RawCaption]:
    return [RawCaption(c.time, c.text) for c in store.read(key)] if plain else list(store.read_raw(key))


def _named(keys: Iterable[Key], videos: VideoFolder | None, content_hash: Hash | None) -> dict[str, Key]:
    stems = {_hashed(file, content_hash): file.stem for file in videos} if videos is not None else {}
    named: dict[str, Key] = {}
    for key in keys:
        own = key.content_hash
        name = own.removeprefix(_BY_NAME) if own.startswith(_BY_NAME) else stems.get(own, own)
        if name in named:
            raise InputError(f"the store has two videos that are called {name!r}: {named[name].content_hash} and {own}")
        named[name] = key
    return named


def _hashed(file: Path, content_hash: Hash | None) -> str:
    if content_hash is None:
        raise InputError("with video files a function is needed that gives their content hash")
    return content_hash(file)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
