"""Text in a picture: the PP-OCR networks that ship inside the package `rapidocr`, on the CPU and without a network.

One frame of 448 pixels takes about 0.2 s on one thread.
"""

from __future__ import annotations

import threading
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from videohv.errors import MissingExtra, ModelError

_PURPOSE = "reading text in pictures"
_SHORT_SIDE = 448
_LEAST_SIDE, _MOST_ASPECT = 12, 4
_MIN_SCORE = 0.75
_MAX_CHARS = 200


class RapidOCR:
    """The reader. The networks are loaded at the first picture, once for all threads and all instances.

    Raises:
        MissingExtra: The package rapidocr is not installed.
    """

    _lock = threading.Lock()
    _engine: Any = None

    def __init__(self) -> None:
        try:
            self.identity = f"rapidocr-{metadata.version('rapidocr')}"
        except metadata.PackageNotFoundError as e:
            raise MissingExtra("rapidocr", "local", _PURPOSE) from e

    def read(self, rgb: NDArray[np.uint8]) -> str:
        """Read what is written in a picture.

        Args:
            rgb: Picture of shape (height, width, 3).

        Returns:
            The lines that could be read well, from the top down, joined by " / " and cut at 200 characters; or nothing.

        Raises:
            MissingExtra: rapidocr, or a package that it needs, cannot be imported.
            ModelError: Its networks cannot be loaded or run.
        """
        if min(rgb.shape[:2]) < _LEAST_SIDE:
            return ""
        engine = self._loaded()
        try:
            result = engine(_blue_first(rgb))
        except Exception as e:  # the networks are loaded in here, and what a damaged file raises is anybody's guess
            raise ModelError(f"the text reader failed ({type(e).__name__}: {e}): install rapidocr again") from e
        lines = zip(getattr(result, "txts", None) or (), getattr(result, "scores", None) or (), strict=True)
        text = " / ".join(" ".join(line.split()) for line, score in lines if score >= _MIN_SCORE and _is_text(line))
        return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1].rstrip() + "…"

    @classmethod
    def _loaded(cls) -> Any:
        with cls._lock:
            if cls._engine is None:
                cls._engine = _load()
            return cls._engine


def _blue_first(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Blue first, as the networks want it, and a very long or tall picture filled up with black below or to the right.

    The reader enlarges the shorter side to 448 pixels: a strip would grow to a picture of hundreds of megapixels.
    """
    height, width = rgb.shape[:2]
    high, wide = max(height, width // _MOST_ASPECT), max(width, height // _MOST_ASPECT)
    canvas = np.zeros((high, wide, 3), np.uint8)
    canvas[:height, :width] = rgb[:, :, ::-1]
    return canvas


def _is_text(line: str) -> bool:
    """Single signs are nearly always edges and textures that were taken for a letter."""
    return sum(character.isalnum() for character in line) >= 2


def _load() -> Any:
    try:
        import rapidocr
    except ImportError as e:
        raise MissingExtra("rapidocr", "local", _PURPOSE) from e
    return rapidocr.RapidOCR(
        params={
            "Global.use_cls": False,  # upside-down lines do not occur in upright frames
            "Global.log_level": "critical",
            "Det.limit_side_len": _SHORT_SIDE,  # its default enlarges frames first: 2.4 times slower, no better
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
