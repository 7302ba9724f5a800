"""Which model a call uses where DSPy's configuration does not say it: the model that looks at frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dspy

from videohv.lm.about import sees_images
from videohv.lm.backends import make_lm

_VISION = "videohv_vision_lm"


def configure(
    lm: str | dspy.BaseLM | None = None, vision_lm: str | dspy.BaseLM | None = None, seed: int | None = None
) -> None:
    """Set the models for this process, as `dspy.configure` does.

    Args:
        lm: A spec such as `openai/gpt-4o-mini` or `embedded/qwen2.5-coder-1.5b`, or any DSPy LM. None leaves what is
            set.
        vision_lm: Looks at frames and captions them, in place of `lm`. None leaves what is set.
        seed: For backends that take one; only used with specs.

    Raises:
        InputError: If a spec cannot be understood or its key is missing.
    """
    chosen: dict[str, dspy.BaseLM] = {}
    if lm is not None:
        chosen["lm"] = make_lm(lm, seed=seed) if isinstance(lm, str) else lm
    if vision_lm is not None:
        chosen[_VISION] = make_lm(vision_lm, seed=seed) if isinstance(vision_lm, str) else vision_lm
    dspy.configure(**chosen)


def eyes(own: dspy.BaseLM | None) -> dspy.BaseLM | None:
    """The model that looks at frames, or None if there is none that can.

    In this order: the predictor's own, the configured `vision_lm`, the configured `lm` if it is known to see images.

    Args:
        own: The LM bound to the predictor itself, if any.
    """
    chosen = own or dspy.settings.get(_VISION)
    if chosen is not None:
        # Chosen for this by the user: only a plain no counts against it.
        return None if sees_images(chosen) is False else chosen
    general = dspy.settings.lm
    return general if general is not None and sees_images(general) else None


@contextmanager
def using(lm: dspy.BaseLM | None, vision_lm: dspy.BaseLM | None = None) -> Iterator[None]:
    """Use these models inside the block only; None leaves what is set. Works from any thread and task."""
    chosen = {name: value for name, value in (("lm", lm), (_VISION, vision_lm)) if value is not None}
    with dspy.context(**chosen):
        yield
