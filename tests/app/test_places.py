"""What may be read, and nothing else."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.app.places import Places, TooLarge, WrongKind
from videohv.errors import InputError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "films" / "old").mkdir(parents=True)
    (tmp_path / "films" / "a b.mp4").write_bytes(b"a")
    (tmp_path / "films" / "old" / "ü%03d.MKV").write_bytes(b"bb")
    (tmp_path / "films" / "notes.txt").write_bytes(b"no video")
    (tmp_path / "films" / ".hidden").mkdir()
    (tmp_path / "films" / ".hidden" / "secret.mp4").write_bytes(b"s")
    (tmp_path / "outside.mp4").write_bytes(b"o")
    (tmp_path / "films2").mkdir()
    (tmp_path / "films2" / "near.mp4").write_bytes(b"n")
    return tmp_path


def test_files_below_the_folders_are_found(home: Path) -> None:
    places = Places([home / "films"])
    found, more = places.list()
    assert [(one.name, one.folder, one.bytes) for one in found] == [
        ("a b.mp4", "films", 1),
        ("ü%03d.MKV", "films/old", 2),
    ]
    assert not more
    assert places.path_of(found[1].id) == (home / "films" / "old" / "ü%03d.MKV").resolve()
    assert places.list(most=1)[1]


@pytest.mark.parametrize("given", ["a b.mp4", "old/../a b.mp4", "./a b.mp4", "old/ü%03d.MKV"])
def test_a_path_below_a_folder_is_resolved(home: Path, given: str) -> None:
    assert Places([home / "films"]).resolve(given).is_file()
    assert Places([home / "films"]).resolve(str(home / "films" / given)).is_file()


def test_nothing_else_is_read_and_nothing_is_learnt(home: Path) -> None:
    films = home / "films"
    (films / "out.mp4").symlink_to(home / "outside.mp4")
    (films / "way").symlink_to(home / "films2")
    (films / "loop.mp4").symlink_to(films / "loop.mp4")
    os.mkfifo(films / "pipe.mp4")
    places = Places([films])
    refused = [
        *("../outside.mp4", "../films2/near.mp4", str(home / "outside.mp4"), str(home / "films2" / "near.mp4")),
        *("/etc/passwd", "..", ".", "", "old", "missing.mp4", "a b.mp4\0", "/dev/zero", "~/x.mp4"),
        *("out.mp4", "way/near.mp4", "loop.mp4", "pipe.mp4", ".hidden/secret.mp4", "x" * 5_000, "%2e%2e/outside.mp4"),
        *("\ud800.mp4", "file:///etc/passwd", "http://localhost/x.mp4"),
    ]
    said = set()
    for path in refused:
        with pytest.raises(InputError) as error:
            places.resolve(path)
        said.add(str(error.value).rpartition("'")[2])
    assert len(said) == 1
    assert [one.name for one in places.list()[0]] == ["a b.mp4", "ü%03d.MKV"]


@given(st.text(st.characters(codec=None), max_size=60))
def test_no_text_leads_outside(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    root = tmp_path_factory.getbasetemp() / "garbage"
    root.mkdir(exist_ok=True)
    with contextlib.suppress(InputError):
        assert Places([root]).resolve(text).is_relative_to(root.resolve())


def test_a_file_that_has_become_a_link_is_refused(home: Path) -> None:
    places = Places([home / "films"])
    name = places.list()[0][0].id
    (home / "films" / "a b.mp4").unlink()
    (home / "films" / "a b.mp4").symlink_to(home / "outside.mp4")
    with pytest.raises(InputError):
        places.path_of(name)
    with pytest.raises(InputError, match="no video has the id"):
        places.path_of("0" * 20)


def test_folders_must_be_there(home: Path) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        Places([home / "nowhere"])
    with pytest.raises(InputError, match="no folder"):
        Places([home / "outside.mp4"])


def test_uploads_keep_a_harmless_name_and_their_limit(home: Path) -> None:
    places = Places([home / "films"], home / "in", upload_bytes=10)
    upload = places.upload("../../<b>film</b>\u202e.MP4")
    upload.write(b"12345")
    path = upload.finish()
    assert path.parent == (home / "in").resolve()
    found = places.add(places.resolve(str(path)))
    assert (found.folder, found.bytes) == ("uploads", 5)
    assert not set(found.name) & set("<>/\u202e")
    with pytest.raises(TooLarge):
        places.upload("big.mp4", announced=11)
    late = places.upload("big.mp4")
    late.write(b"1234567890")
    with pytest.raises(TooLarge):
        late.write(b"1")
    late.drop()
    assert list((home / "in").iterdir()) == [path]


@pytest.mark.parametrize("name", ["x.exe", "mp4", "x", ".mp4/", "x.html", "x.m3u8"])
def test_only_names_of_videos_are_taken(home: Path, name: str) -> None:
    with pytest.raises(WrongKind, match="not named like a video"):
        Places([home / "films"], home / "in").upload(name)


def test_uploads_together_have_a_limit(home: Path) -> None:
    places = Places([], home / "in", upload_bytes=10)
    for i in range(4):
        upload = places.upload(f"{i}.mp4")
        upload.write(b"1234567890")
        upload.finish()
    with pytest.raises(TooLarge):
        places.upload("more.mp4", announced=1)


def test_without_a_place_for_them_none_are_taken(home: Path) -> None:
    with pytest.raises(InputError, match="no uploads"):
        Places([home / "films"]).upload("x.mp4")
