"""Objects in a picture: NanoDet-g over the 80 COCO classes, on the CPU.

The network ships with the package (see `models/NOTICE`). One frame takes about 50 ms on one thread.
"""

from __future__ import annotations

import threading
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from videohv.errors import MissingExtra, ModelError

MODEL_FILE = "nanodet_g_416_coco.onnx"

# The classes in the order of the network's outputs, which is COCO's; a name of two words is joined by "_".
_NAMES = """
person bicycle car motorcycle airplane bus train truck boat traffic_light fire_hydrant stop_sign parking_meter
bench bird cat dog horse sheep cow elephant bear zebra giraffe backpack umbrella handbag tie suitcase frisbee
skis snowboard sports_ball kite baseball_bat baseball_glove skateboard surfboard tennis_racket bottle wine_glass
cup fork knife spoon bowl banana apple sandwich orange broccoli carrot hot_dog pizza donut cake chair couch
potted_plant bed dining_table toilet tv laptop mouse remote keyboard cell_phone microwave oven toaster sink
refrigerator book clock vase scissors teddy_bear hair_drier toothbrush
"""
LABELS = tuple(name.replace("_", " ") for name in _NAMES.split())

_SIDE = 416
_STRIDES = (8, 16, 32)
_BINS = np.arange(11, dtype=np.float32)
_MEAN = np.array([103.53, 116.28, 123.675], dtype=np.float32)  # blue, green, red, as in training
_STD = np.array([57.375, 57.12, 58.395], dtype=np.float32)
_PADDING = 114.0
_MIN_SCORE = 0.35
_MAX_OVERLAP = 0.55  # of two boxes of one class
_MAX_OVERLAP_ACROSS = 0.8  # of two boxes of any class: the same thing under two names


class Detection(NamedTuple):
    """One object: its class, how sure the network is, and its box in shares of the picture's width and height."""

    label: str
    score: float
    left: float
    top: float
    right: float
    bottom: float

    @property
    def area(self) -> float:
        """Share of the picture that the box covers."""
        return max(0.0, self.right - self.left) * max(0.0, self.bottom - self.top)


class NanoDet:
    """The detector. The network is loaded at the first picture, once for all threads and all instances."""

    identity = "nanodet-g-416-coco"

    _lock = threading.Lock()
    _session: Any = None

    def detect(self, rgb: NDArray[np.uint8]) -> tuple[Detection, ...]:
        """Find objects.

        Args:
            rgb: Picture of shape (height, width, 3).

        Returns:
            Detections of a score of at least 0.35, the surest first.

        Raises:
            MissingExtra: onnxruntime is not installed.
            ModelError: The network's file is missing or damaged.
        """
        picture, scale = letterbox(rgb)
        boxes, scores = _decode(self._loaded().run(None, {"input": picture}))
        height, width = rgb.shape[:2]
        boxes = np.clip(boxes / scale / np.array([width, height, width, height], dtype=np.float32), 0.0, 1.0)
        cells, labels = np.nonzero(scores >= _MIN_SCORE)
        sure = scores[cells, labels]
        kept = [i for label in np.unique(labels) for i in _distinct(boxes[cells], sure, labels == label, _MAX_OVERLAP)]
        chosen = np.isin(np.arange(len(cells)), kept)
        return tuple(
            Detection(LABELS[labels[i]], float(sure[i]), *(float(side) for side in boxes[cells[i]]))
            for i in _distinct(boxes[cells], sure, chosen, _MAX_OVERLAP_ACROSS)
        )

    @classmethod
    def _loaded(cls) -> Any:
        with cls._lock:
            if cls._session is None:
                cls._session = _load()
            return cls._session


def letterbox(rgb: NDArray[np.uint8]) -> tuple[NDArray[np.float32], float]:
    """Bring a picture into the network's form: scaled into the top left of 416 x 416, blue first, normalised.

    Args:
        rgb: Picture of shape (height, width, 3).

    Returns:
        Array of shape (1, 3, 416, 416), and the scale that was applied.
    """
    height, width = rgb.shape[:2]
    scale = min(_SIDE / height, _SIDE / width)
    high, wide = max(1, round(height * scale)), max(1, round(width * scale))
    canvas = np.full((_SIDE, _SIDE, 3), _PADDING, dtype=np.float32)
    y0, y1, dy = _taps(height, high, scale)
    x0, x1, dx = _taps(width, wide, scale)
    rows = rgb[y0].astype(np.float32)
    rows += (rgb[y1] - rows) * dy[:, None, None]
    left = rows[:, x0]
    canvas[:high, :wide] = left + (rows[:, x1] - left) * dx[None, :, None]
    blue_first = (canvas[:, :, ::-1] - _MEAN) / _STD
    return np.ascontiguousarray(blue_first.transpose(2, 0, 1)[None]), scale


def _taps(length: int, wanted: int, scale: float) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Neighbours and weights of linear interpolation between pixel centres."""
    at = np.clip((np.arange(wanted) + 0.5) / scale - 0.5, 0.0, length - 1.0)
    low = np.floor(at).astype(np.intp)
    return low, np.minimum(low + 1, length - 1), (at - low).astype(np.float32)


def _decode(outputs: list[NDArray[np.float32]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Boxes (left, top, right, bottom; network pixels) and class scores of the cells that are sure of anything."""
    boxes: list[NDArray[np.float32]] = []
    scores: list[NDArray[np.float32]] = []
    for stride, classes, sides in zip(_STRIDES, outputs[:3], outputs[3:], strict=True):
        cells = np.flatnonzero(classes[0].max(axis=1) >= _MIN_SCORE)
        logits = sides[0, cells].reshape(-1, 4, len(_BINS))
        weights = np.exp(logits - logits.max(axis=2, keepdims=True))
        distances = (weights @ _BINS) / weights.sum(axis=2) * stride
        across = _SIDE // stride
        centres = np.stack([cells % across, cells // across], axis=1).astype(np.float32) * stride + stride / 2
        boxes.append(np.concatenate([centres - distances[:, :2], centres + distances[:, 2:]], axis=1))
        scores.append(classes[0, cells])
    return np.concatenate(boxes), np.concatenate(scores)


def _distinct(
    boxes: NDArray[np.float32], scores: NDArray[np.float32], among: NDArray[np.bool_], max_overlap: float
) -> list[int]:
    """Greedy non-maximum suppression: of the boxes `among`, the surest of every heap of overlapping ones, in order."""
    order = np.argsort(-scores, kind="stable")
    waiting = order[among[order]]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept: list[int] = []
    while len(waiting):
        best, waiting = int(waiting[0]), waiting[1:]
        kept.append(best)
        sides = np.minimum(boxes[waiting, 2:], boxes[best, 2:]) - np.maximum(boxes[waiting, :2], boxes[best, :2])
        shared = np.clip(sides, 0.0, None).prod(axis=1)
        union = areas[waiting] + areas[best] - shared
        waiting = waiting[shared <= max_overlap * union]
    return kept


def _load() -> Any:
    try:
        import onnxruntime
    except ImportError as e:
        raise MissingExtra("onnxruntime", "local", "finding objects in pictures") from e
    options = onnxruntime.SessionOptions()
    # Callers run many frames side by side; more threads inside would only fight over the same cores.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    file = resources.files("videohv.captioners") / "models" / MODEL_FILE
    try:
        return onnxruntime.InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])
    except Exception as e:  # onnxruntime's own errors share no base but Exception
        raise ModelError(f"cannot load the detector {file} ({type(e).__name__}: {e}): install videohv again") from e
