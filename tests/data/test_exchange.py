"""Published captions into the store and out of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.published import put
from videohv.data import CaptionLibrary, CaptionStore, Key, export_captions, import_captions, read_captions
from videohv.data.forms import RawCaption
from videohv.data.videos import VideoFolder
from videohv.errors import InputError
from videohv.types import Caption

PUBLISHED: dict[str, Any] = {
    "v": ["#C C sits\n", "", "#O", "a\u00a0dog  runs"],
    "w": {"0": "#c c looks", "1": "#unsure"},
}


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> CaptionStore:
    return CaptionStore(tmp_path / "store.sqlite3")


@pytest.fixture
def library(tmp_path: Path) -> CaptionLibrary:
    return CaptionLibrary.open(put(tmp_path / "published.json", PUBLISHED))


@pytest.fixture
def videos(tmp_path: Path) -> VideoFolder:
    put(tmp_path / "videos/deep/v.mp4", "content of v")
    put(tmp_path / "videos/other.mp4", "content of another")
    return VideoFolder(tmp_path / "videos")


def test_plain_text_for_use_and_the_published_one_beside_it(store: CaptionStore, library: CaptionLibrary) -> None:
    done = import_captions(store, library, captioner="lavila")
    assert (done.videos, done.captions, done.missing) == (2, 6, ())
    key = Key("name:v", "lavila", 1.0)
    assert (
        store.read(key)
        == library.captions("v")
        == (
            Caption(time=0, text="C sits"),
            Caption(time=3, text="a dog runs"),
        )
    )
    assert store.read_raw(key) == tuple(RawCaption(i, text) for i, text in enumerate(PUBLISHED["v"]))
    assert store.complete(key)
    assert import_captions(store, library, captioner="lavila").captions == 0
    assert store.tracks() == (key, Key("name:w", "lavila", 1.0))
    assert store.tracks("someone") == ()


def test_with_video_files_captions_belong_to_their_content(
    store: CaptionStore, library: CaptionLibrary, videos: VideoFolder
) -> None:
    done = import_captions(store, library, captioner="lavila", videos=videos, content_hash=sha)
    assert (done.videos, done.missing) == (1, ("w",))
    assert [key.content_hash for key in store.tracks()] == [sha(videos.need("v"))]
    with pytest.raises(InputError, match="a function is needed"):
        import_captions(store, library, captioner="lavila", videos=videos)


def test_a_list_comes_out_as_it_went_in(store: CaptionStore, tmp_path: Path) -> None:
    published = {f"v{i}": [f"#C C  does {i}{j} \n" for j in range(5)] for i in range(3)} | {"empty tail": ["a", ""]}
    library = CaptionLibrary.open(put(tmp_path / "in.json", published))
    import_captions(store, library, captioner="lavila")
    done = export_captions(store, tmp_path / "out.json", captioner="lavila")
    assert (done.videos, done.captions) == (4, 17)
    assert json.loads((tmp_path / "out.json").read_text()) == published
    export_captions(store, tmp_path / "out.json", captioner="lavila", plain=True)
    assert json.loads((tmp_path / "out.json").read_text())["v1"] == [f"C does 1{j}" for j in range(5)]


@pytest.mark.parametrize("form", ["list", "seconds", "folder"])
def test_what_is_written_is_read_back(store: CaptionStore, library: CaptionLibrary, tmp_path: Path, form: Any) -> None:
    import_captions(store, library, captioner="lavila")
    export_captions(store, tmp_path / "out", captioner="lavila", form=form)
    again = CaptionLibrary.open(tmp_path / "out")
    assert sorted(again.videos) == ["v", "w"]
    for name in library.videos:
        assert again.captions(name) == library.captions(name)
        assert sorted(again.raw(name)) == sorted(library.raw(name))


def test_gaps_of_a_list_are_empty_texts(store: CaptionStore, tmp_path: Path) -> None:
    store.write(Key("name:v", "mine", 1.0), [Caption(time=1, text="b"), Caption(time=3, text="d")])
    export_captions(store, tmp_path / "out.json", captioner="mine")
    assert json.loads((tmp_path / "out.json").read_text()) == {"v": ["", "b", "", "d"]}
    assert read_captions(tmp_path / "out.json", "v") == store.read(Key("name:v", "mine", 1.0))


def test_moments_between_full_seconds_need_another_form(store: CaptionStore, tmp_path: Path) -> None:
    store.write(Key("name:v", "mine", 2.0), [Caption(time=0.5, text="a"), Caption(time=1 / 3, text="b")])
    with pytest.raises(InputError, match=r"caption at 0.333333 s and a list has full seconds only"):
        export_captions(store, tmp_path / "out.json", captioner="mine", fps=2.0)
    assert not (tmp_path / "out.json").exists()
    export_captions(store, tmp_path / "out.json", captioner="mine", fps=2.0, form="seconds")
    assert json.loads((tmp_path / "out.json").read_text()) == {"v": {"0.333333": "b", "0.5": "a"}}


def test_videos_are_called_after_their_files(store: CaptionStore, videos: VideoFolder, tmp_path: Path) -> None:
    for hashed in (sha(videos.need("v")), "a hash without file", "name:w"):
        store.write(Key(hashed, "mine", 1.0), [Caption(time=0, text="x")])
    export_captions(store, tmp_path / "out.json", captioner="mine", videos=videos, content_hash=sha)
    assert list(json.loads((tmp_path / "out.json").read_text())) == ["v", "a hash without file", "w"]
    store.write(Key("name:v", "mine", 1.0), [Caption(time=0, text="x")])
    with pytest.raises(InputError, match="two videos that are called 'v'"):
        export_captions(store, tmp_path / "out.json", captioner="mine", videos=videos, content_hash=sha)


def test_what_cannot_be_exported(store: CaptionStore, library: CaptionLibrary, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no captions of 'mine' at 1 fps; it has: none at all"):
        export_captions(store, tmp_path / "out.json", captioner="mine")
    import_captions(store, library, captioner="lavila")
    with pytest.raises(InputError, match=r"no captions of 'lavila' at 2 fps; it has: lavila \(1 fps\)"):
        export_captions(store, tmp_path / "out.json", captioner="lavila", fps=2)
    with pytest.raises(InputError, match="cannot be written"):
        export_captions(store, tmp_path / "no/where.json", captioner="lavila")
    store.write(Key("name:a/b", "mine", 1.0), [Caption(time=0, text="x")])
    with pytest.raises(InputError, match="'a/b' cannot be the name of a file"):
        export_captions(store, tmp_path / "out", captioner="mine", form="folder")


def test_a_wrong_entry_leaves_its_video_out_whole(store: CaptionStore, tmp_path: Path) -> None:
    library = CaptionLibrary.open(put(tmp_path / "in.json", {"v": ["a"], "w": ["b", 7]}))
    with pytest.raises(InputError, match="'w', item 1 is a number"):
        import_captions(store, library, captioner="mine")
    assert [key.content_hash for key in store.tracks()] == ["name:v"]
