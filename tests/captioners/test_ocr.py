from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

import numpy as np
import pytest

from tests.support.signs import title
from videohv.captioners.ocr import RapidOCR
from videohv.errors import MissingExtra, ModelError


def test_lines_are_read_from_the_top_down() -> None:
    assert RapidOCR().read(title("An unlucky bird", "Revenge is coming")) == "An unlucky bird / Revenge is coming"


def test_threads_share_the_networks() -> None:
    pictures = [title(text) for text in ("Chapter one", "Chapter two")] * 3
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(RapidOCR().read, pictures)) == ["Chapter one", "Chapter two"] * 3


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (448, 1), (360, 640)])
def test_pictures_without_text_of_any_shape(shape: tuple[int, int]) -> None:
    assert RapidOCR().read(np.full((*shape, 3), 90, np.uint8)) == ""


def test_strips_are_read_without_growing_to_huge_pictures() -> None:
    sizes: list[tuple[int, ...]] = []
    reader = RapidOCR()
    strip = title("Breaking news", size=(1200, 60))
    assert reader.read(strip) == "Breaking news"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RapidOCR, "_engine", lambda picture: sizes.append(picture.shape))
        reader.read(strip)
        reader.read(strip.transpose(1, 0, 2))
        reader.read(title("x"))
    assert sizes == [(300, 1200, 3), (1200, 300, 3), (360, 640, 3)]


class Result:
    def __init__(self, *lines: tuple[str, float]) -> None:
        self.txts, self.scores = zip(*lines, strict=True) if lines else (None, None)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (
            Result(("sure  line", 0.9), ("doubtful line", 0.5), ("A", 0.99), ("--.", 0.99), ("12", 0.8)),
            "sure line / 12",
        ),
        (Result(), ""),
        (object(), ""),
        (Result(("word " * 60, 0.9)), ("word " * 40)[:199] + "…"),
    ],
)
def test_only_what_was_read_well_is_kept(monkeypatch: pytest.MonkeyPatch, result: object, text: str) -> None:
    monkeypatch.setattr(RapidOCR, "_engine", lambda picture: result)
    assert RapidOCR().read(np.zeros((90, 90, 3), np.uint8)) == text


def test_the_identity_names_the_version() -> None:
    assert RapidOCR().identity == f"rapidocr-{metadata.version('rapidocr')}"


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = RapidOCR()
    monkeypatch.setattr(RapidOCR, "_engine", None)
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(MissingExtra, match=r"'rapidocr'.*videohv\[local\]"):
        reader.read(title("text"))

    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    with pytest.raises(MissingExtra, match=r"'rapidocr'.*videohv\[local\]"):
        RapidOCR()


def test_a_reader_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(picture: object) -> object:
        raise OSError("bad file")

    monkeypatch.setattr(RapidOCR, "_engine", damaged)
    with pytest.raises(ModelError, match=r"the text reader failed \(OSError: bad file\)"):
        RapidOCR().read(title("text"))
