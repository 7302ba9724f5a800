"""`embedded`: a small model inside this process, for machines without a server or a key."""

from __future__ import annotations

import hashlib
from pathlib import Path

import dspy

from videohv.errors import ModelError
from videohv.lm.backends import backend
from videohv.lm.catalogue import DEFAULT, Entry, entry
from videohv.lm.embedded import MAX_TOKENS, EmbeddedEngine, embedded_lm
from videohv.lm.facts import Facts, attach
from videohv.lm.fetch import expected_path, model_path, pull
from videohv.lm.llama import choose_context, choose_threads, require_llama
from videohv.lm.sources import Progress
from videohv.lm.spec import Spec

PROVIDER = "embedded"

_ENDS = 1 << 20


@backend(PROVIDER)
def embedded(spec: Spec, seed: int | None) -> dspy.LM:
    """`embedded[/NAME]` from the catalogue, fetched when absent, or `embedded/PATH.gguf`.

    Options: temperature (0), max_tokens (1024), seed, context (16384; half of it on small machines), threads.
    """
    return embedded_from(spec, seed, None)


def embedded_from(spec: Spec, seed: int | None, on_progress: Progress | None, *, fetch: bool = True) -> dspy.LM:
    """As `embedded`, telling `on_progress` of the fetch; without `fetch`, of a model that may not be there yet."""
    spec.only("temperature", "max_tokens", "seed", "context", "threads")
    require_llama()
    options = spec.options
    threads, context = choose_threads(options.threads), choose_context(options.context)
    if spec.model.endswith(".gguf"):
        path = Path(spec.model).expanduser()
        if not path.is_file():
            raise ModelError(f"{path}: no such file; an own model is given as  embedded/PATH.gguf")
        name, shown = f"{path.stem}@{_fingerprint(path)}", path.stem
    else:
        name = shown = entry(spec.model or DEFAULT).name
        path = pull(name, on_progress) if fetch else expected_path(name)
    made = embedded_lm(
        name,
        EmbeddedEngine(path, context, threads),
        temperature=options.temperature if options.temperature is not None else 0.0,
        max_tokens=options.max_tokens or MAX_TOKENS,
        seed=options.seed if options.seed is not None else seed,
    )
    used = f"{threads.generate} thread{'s' if threads.generate > 1 else ''}"
    attach(made, Facts(f"embedded/{shown}", f"in this process ({used}, {context} tokens of context)"))
    return made


def to_fetch(spec: Spec) -> Entry | None:
    """The model that a call of this spec would have to fetch first, if there is one.

    Raises:
        InputError: If no model is called that.
    """
    if spec.provider != PROVIDER or spec.model.endswith(".gguf"):
        return None
    wanted = entry(spec.model or DEFAULT)
    return wanted if model_path(wanted.name) is None else None


def _fingerprint(path: Path) -> str:
    """A short name for the content of a file, so that answers of another model under the same name are not reused."""
    size = path.stat().st_size
    taken = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        taken.update(file.read(_ENDS))
        file.seek(max(0, size - _ENDS))
        taken.update(file.read(_ENDS))
    return taken.hexdigest()[:8]
