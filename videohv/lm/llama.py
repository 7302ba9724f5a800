"""llama.cpp inside this process: one loaded model a file, shared by all threads, one request at a time.

Requests run one after the other because on a few cores two at once are hardly faster together than in turn, while each
could then use only part of the context. The prompts of earlier requests are kept in memory, so whoever asks again with
the same beginning (the same role, the same captions) pays only for what differs.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

from videohv.errors import InputError, MissingExtra, ModelError
from videohv.lm.grammar import constrained

CONTEXT_TOKENS = 16_384
_SMALL_MACHINE = 6 << 30
_INTERRUPTIBLE_SECONDS = 0.5
_BATCH_TOKENS = 256
"""A prompt is read in batches of this size, and can be stopped between two; smaller ones would cost speed."""
_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


class Reply(NamedTuple):
    """What the model said. Tokens are counted; `finish` is `stop` or `length`."""

    text: str
    finish: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


class Refused(Exception):
    """llama.cpp did not take a request: `too_long`, or else `invalid` or broken inside."""

    def __init__(self, message: str, *, too_long: bool = False, invalid: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long
        self.invalid = invalid


class Threads(NamedTuple):
    """How many threads read the prompt and how many generate."""

    prompt: int
    generate: int


def require_llama() -> None:
    """Raise `MissingExtra` unless the runtime is installed; nothing heavy is imported."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra("xllamacpp", "local", "the embedded language model")


def cores() -> int:
    """Processor cores that this process may use, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _CGROUP_QUOTA.read_text(encoding="ascii").split()
        allowed = min(allowed, round(int(quota) / int(period)))
    except (OSError, ValueError):
        pass  # Not in a container with a processor quota.
    return max(1, allowed)


def choose_threads(wanted: int | None = None) -> Threads:
    """Threads for a model: `wanted`, or `$VIDEOHV_THREADS`, or what suits the machine.

    llama.cpp's threads spin while they wait for each other. When generating they meet thousands of times a second, and
    on a busy machine each meeting can cost a whole time slice: so one core is left free. When reading a prompt they
    meet rarely, and all cores are used.

    Raises:
        InputError: If `$VIDEOHV_THREADS` is not a positive number.
    """
    named = os.environ.get("VIDEOHV_THREADS", "").strip()
    if wanted is None and named:
        if not named.isdigit() or int(named) < 1:
            raise InputError(f"VIDEOHV_THREADS is {named!r}: give a number of threads, 1 or more")
        wanted = int(named)
    return Threads(wanted, wanted) if wanted is not None else Threads(cores(), max(1, cores() - 1))


def choose_context(wanted: int | None = None) -> int:
    """Tokens of context: `wanted`, or what the machine's memory allows."""
    return wanted or (CONTEXT_TOKENS if _memory() >= _SMALL_MACHINE else CONTEXT_TOKENS // 2)


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _SMALL_MACHINE


class Llama:
    """A loaded model.

    Args:
        path: A GGUF file.
        context: Tokens of prompt and reply together.
        threads: How many work on it.

    Raises:
        MissingExtra: If the runtime is not installed.
        ModelError: If the file cannot be loaded. The message names it.
    """

    def __init__(self, path: Path, context: int, threads: Threads) -> None:
        require_llama()
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = context
        params.n_parallel = 1
        params.n_batch = params.n_ubatch = _BATCH_TOKENS
        params.warmup = False
        params.verbosity = 0
        params.cpuparams.n_threads = threads.generate
        params.cpuparams_batch.n_threads = threads.prompt
        params.cache_ram_mib = 1024 if _memory() >= 2 * _SMALL_MACHINE else 256
        # The runtime also listens on a local port. Nobody but this process is to use it.
        params.api_keys = [secrets.token_urlsafe(32)]
        params.ui = False
        params.endpoint_slots = False
        try:
            self._server = xllamacpp.Server(params)
        except Exception as error:
            raise ModelError(
                f"{path} could not be loaded as a GGUF model: {str(error).strip() or 'no reason'}"
            ) from error
        self._to_grammar = xllamacpp.json_schema_to_grammar
        # One worker, so that requests take turns, and so that whoever waits for one can be interrupted: an interrupt
        # that strikes the native call itself is lost.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="llama")

    def ask(self, body: dict[str, Any], response_format: dict[str, Any] | None = None) -> Reply:
        """Answer one request when it is its turn.

        Args:
            body: As for an OpenAI-compatible chat completion, without `response_format`.
            response_format: As in an lm15 request; enforced while generating.

        Raises:
            Refused: If llama.cpp does not take the request.
            KeyboardInterrupt: If the user interrupts; the work stops at the next token or batch.
        """
        collected = _Collected()
        running = self._worker.submit(self._run, body, response_format, collected)
        try:
            while not wait([running], timeout=_INTERRUPTIBLE_SECONDS).done:
                pass
        except BaseException:
            running.cancel()
            collected.stop = True
            raise
        return running.result()

    def _run(self, body: dict[str, Any], response_format: dict[str, Any] | None, collected: _Collected) -> Reply:
        body = {**body, "stream": True, "return_progress": True, "stream_options": {"include_usage": True}}
        try:
            if response_format is not None:
                body["grammar"] = self._to_grammar(constrained(response_format))
            self._server.handle_chat_completions(body, collected)
        except ValueError as error:
            raise Refused(str(error), invalid=True) from error
        except RuntimeError as error:
            raise Refused(str(error)) from error
        return collected.reply()


class _Collected:
    """Takes the pieces of a reply as they come. `stop` ends the work at the next one."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._finish = ""
        self._usage: dict[str, Any] = {}
        self._error: dict[str, Any] | None = None
        self.stop = False

    def __call__(self, piece: dict[str, Any]) -> bool:
        self._error = piece.get("error", self._error)
        self._usage = piece.get("usage", self._usage)
        for choice in piece.get("choices", ()):
            self._texts.append(choice["delta"].get("content") or "")
            self._finish = choice.get("finish_reason") or self._finish
        return self.stop

    def reply(self) -> Reply:
        if self._error is not None:
            message, code = str(self._error.get("message")), self._error.get("code")
            too_long = self._error.get("type") == "exceed_context_size_error"
            raise Refused(message, too_long=too_long, invalid=isinstance(code, int) and 400 <= code < 500)
        if not self._finish:
            raise Refused("the reply broke off")
        return Reply(
            text="".join(self._texts),
            finish=self._finish,
            prompt_tokens=self._usage.get("prompt_tokens", 0),
            cached_tokens=(self._usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
            completion_tokens=self._usage.get("completion_tokens", 0),
        )


_loaded: dict[tuple[int, Path], Llama] = {}
_loading = threading.Lock()


def load(path: Path, context: int, threads: Threads) -> Llama:
    """The model in `path`, loaded on the first call in this process. Later calls share it, whatever they ask for.

    Raises:
        MissingExtra: If the runtime is not installed.
        ModelError: If it cannot be loaded.
    """
    # A forked child has the memory of the model but none of its threads, so it loads its own.
    key = (os.getpid(), path.resolve())
    with _loading:
        if key not in _loaded:
            _loaded[key] = Llama(path, context, threads)
        return _loaded[key]
