"""A server that speaks OpenAI's Batch API, through the `openai` client.

Facts it is built on (OpenAI's guide to the Batch API): a file of JSON lines is uploaded for the purpose `batch`, a
batch is created from it, and ends as `completed`, `failed` (refused as a whole, with messages), `expired` (24 hours are
over) or `cancelled`. What was answered is in an output file, what failed in an error file, in any order, each line
under its `custom_id`. Every ending but `failed` may come with both files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from videohv.batch.wire import ENDPOINT
from videohv.errors import ModelError
from videohv.lm.redact import without_keys

T = TypeVar("T")

ATTEMPTS = 4
"""How often a call that may pass is made, with pauses of 1, 2 and 4 seconds."""

_MARK = "videohv_part"
_TOO_MUCH = ("token_limit", "enqueued", "too many", "rate limit")
_NO_MONEY = ("insufficient_quota", "billing")


class Passing(ModelError):
    """A failure that may pass by itself: no connection, a server error, too many calls."""


class Full(ModelError):
    """The server takes no more batches now; nothing was made."""


class Gone(ModelError):
    """The server does not know the file or batch."""


class Counts(NamedTuple):
    """Requests of a batch."""

    total: int
    completed: int
    failed: int


class Problem(NamedTuple):
    """Why the server refused a batch, with the number of the line (from 1) if it says so."""

    code: str
    message: str
    line: int | None


class State(NamedTuple):
    """A batch as the server sees it."""

    status: str
    counts: Counts
    output_file: str | None
    error_file: str | None
    problems: tuple[Problem, ...]

    @property
    def over(self) -> bool:
        """Whether it will not change any more."""
        return self.status in ("completed", "failed", "expired", "cancelled")

    @property
    def too_much(self) -> bool:
        """Whether it was refused only because too much is enqueued."""
        return self.status == "failed" and any(is_too_much(f"{p.code} {p.message}") for p in self.problems)


class BatchServer:
    """The calls that a batch needs. Each is made again when it may pass, but for `submit`, which must not be.

    Args:
        base_url: Address of the server.
        key: Kept in this object alone.
        pause: Waits for some seconds.
    """

    def __init__(self, base_url: str, key: str, pause: Callable[[float], None] = time.sleep) -> None:
        import openai

        self._openai: Any = openai
        self.base_url, self._key, self._pause = base_url, key, pause
        self._client: Any = openai.OpenAI(api_key=key, base_url=base_url, max_retries=0)

    def check(self) -> None:
        """Make sure that the server has a Batch API and takes the key.

        Raises:
            ModelError: It has none, or does not; one line that says which.
        """
        try:
            self._patiently("asking for batches", lambda: self._client.batches.list(limit=1))
        except Gone as error:
            raise ModelError(
                f"{self.base_url} has no Batch API (404 for {self.base_url}/batches): leave out --batch, or put a "
                "gateway that has one in front of it"
            ) from error

    def upload(self, file: Path, name: str) -> str:
        """Upload a file of requests and return its id."""

        def send() -> Any:
            with file.open("rb") as body:
                return self._client.files.create(file=(f"{name}.jsonl", body, "application/jsonl"), purpose="batch")

        return str(self._patiently(f"uploading {file.name}", send).id)

    def find_file(self, name: str) -> str | None:
        """The id of a file that was uploaded under a name, or None."""

        def find() -> str | None:
            listed = self._client.files.list(purpose="batch")
            return next((str(item.id) for item in listed if item.filename == f"{name}.jsonl"), None)

        return self._patiently("asking for files", find)

    def submit(self, file_id: str, name: str) -> str:
        """Create a batch from an uploaded file and return its id. Tried once.

        Raises:
            Full: Too much is enqueued; no batch was made.
            Gone: The server does not know the file (yet); no batch was made.
            Passing: Nobody knows whether a batch was made.
        """
        with self._errors("creating a batch", about_file=True):
            made = self._client.batches.create(
                input_file_id=file_id, endpoint=ENDPOINT, completion_window="24h", metadata={_MARK: name}
            )
            return str(made.id)

    def find_batch(self, file_id: str, name: str, known: Collection[str] = ()) -> str | None:
        """The id of a batch that was made from a file and is not among those known, or None."""

        def ours(item: Any) -> bool:
            return item.id not in known and (item.input_file_id == file_id or (item.metadata or {}).get(_MARK) == name)

        def find() -> str | None:
            return next((str(item.id) for item in self._client.batches.list(limit=100) if ours(item)), None)

        return self._patiently("asking for batches", find)

    def state(self, batch_id: str) -> State:
        """How a batch stands."""
        batch = self._patiently(f"asking for {batch_id}", lambda: self._client.batches.retrieve(batch_id))
        counts = batch.request_counts
        problems = (batch.errors.data if batch.errors is not None else None) or ()
        return State(
            str(batch.status),
            Counts(counts.total, counts.completed, counts.failed) if counts is not None else Counts(0, 0, 0),
            batch.output_file_id or None,
            batch.error_file_id or None,
            tuple(Problem(p.code or "", self.safe(p.message or ""), p.line) for p in problems),
        )

    def download(self, file_id: str, to: Path) -> None:
        """Write the content of a file; it appears whole or not at all."""
        partial = to.with_suffix(".partial")

        def fetch() -> None:
            with self._client.files.with_streaming_response.content(file_id) as response, partial.open("wb") as file:
                try:
                    for block in response.iter_bytes(1 << 16):
                        file.write(block)
                except OSError:
                    raise
                except Exception as error:  # the client's HTTP library has errors of its own for a body that breaks off
                    raise Passing(f"{file_id} broke off: {self.safe(str(error))}") from error

        try:
            self._patiently(f"downloading {file_id}", fetch)
            partial.replace(to)
        finally:
            partial.unlink(missing_ok=True)

    def delete(self, file_id: str) -> None:
        """Delete a file, if the server lets us."""
        try:
            with self._errors(f"deleting {file_id}"):
                self._client.files.delete(file_id)
        except ModelError:
            pass  # It expires by itself, and nothing depends on it.

    def safe(self, text: str) -> str:
        """What a server says in one line, without keys."""
        line = " ".join(text.split())
        return without_keys(line.replace(self._key, "[key]") if len(self._key) > 7 else line)[:400]

    def _patiently(self, doing: str, call: Callable[[], T]) -> T:
        for attempt in range(ATTEMPTS):
            try:
                with self._errors(doing):
                    return call()
            except (Passing, Full):
                if attempt == ATTEMPTS - 1:
                    raise
                self._pause(2.0**attempt)
        raise AssertionError("unreachable")

    @contextmanager
    def _errors(self, doing: str, *, about_file: bool = False) -> Iterator[None]:
        openai = self._openai
        try:
            yield
        except openai.APIStatusError as error:
            told_in = error.body if isinstance(error.body, dict) else {}
            said = self.safe(str(told_in.get("message") or error.message))
            told = f"{doing} at {self.base_url}: {said} (status {error.status_code})"
            code = str(getattr(error, "code", "") or "")
            if is_no_money(f"{code} {said}"):
                raise ModelError(f"{told}: the account has no quota left; run the same command when it has") from error
            if error.status_code in (401, 403):
                raise ModelError(
                    f"{told}: the key is not accepted; check the environment variable that holds it"
                ) from error
            if error.status_code in (404, 405, 501) or (
                about_file and error.status_code == 400 and "file" in said.lower()
            ):
                raise Gone(told) from error
            if error.status_code == 429 or (error.status_code == 400 and is_too_much(f"{code} {said}")):
                raise Full(told) from error
            if error.status_code >= 500 or error.status_code in (408, 409):
                raise Passing(told) from error
            raise ModelError(told) from error
        except openai.OpenAIError as error:
            raise Passing(f"{doing} at {self.base_url}: {self.safe(str(error))}") from error
        except (AttributeError, TypeError, LookupError) as error:
            raise ModelError(f"{doing} at {self.base_url}: the answer is not one of the Batch API") from error


def is_too_much(said: str) -> bool:
    """Whether a message says that too much is enqueued at present."""
    return any(word in said.lower() for word in _TOO_MUCH)


def is_no_money(said: str) -> bool:
    """Whether a message says that the account can't pay."""
    return any(word in said.lower() for word in _NO_MONEY)
