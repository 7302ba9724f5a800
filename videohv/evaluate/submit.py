"""Sending a submission to EgoSchema's validation server, which answers with the accuracy.

Address and form are those of `validate.py` of egoschema/EgoSchema (commit c7a639fa): the JSON object is POSTed. The
server sleeps when it is not used and then answers late or with an error; its authors' advice is to try again
(egoschema/EgoSchema, issue 20). The labels of the full set are nowhere else, so tries are bounded and patient.
"""

from __future__ import annotations

import email.utils
import hashlib
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urlsplit

from videohv.data.whole import write_whole
from videohv.errors import InputError, SubmitError
from videohv.types import Value

URL = "https://validation-server.onrender.com/api/upload/"
TRIES = 5
TIMEOUT = 120.0
"""Seconds to wait for the server each time."""
LONGEST_PAUSE = 60.0
"""Seconds between two tries at most, whatever the server asks for."""
_MOST_BYTES = 1_000_000
_QUOTED = 300


class Receipt(Value):
    """What the server said to a submission.

    Args:
        url: Where it was sent, without the query.
        sent: When it was answered (UTC, ISO 8601).
        sha256: Of what was sent.
        questions: How many answers it holds.
        tries: How often it was sent.
        status: HTTP status of the answer.
        answer: Its text.
    """

    url: str
    sent: str
    sha256: str
    questions: int
    tries: int
    status: int
    answer: str


class _Reply(NamedTuple):
    status: int
    text: str
    wait: float | None


def submit(
    text: str,
    *,
    url: str = URL,
    tries: int = TRIES,
    timeout: float = TIMEOUT,
    pause: Callable[[float], None] = time.sleep,
    say: Callable[[str], None] = lambda line: None,
) -> Receipt:
    """Send a submission and return the server's answer.

    Timeouts, broken connections, 5xx, 408 and 429 are tried again after 2, 4, 8 … seconds or what `Retry-After` says.

    Args:
        text: The submission, a JSON object.
        url: The server; http or https.
        tries: How often it is sent at most.
        timeout: Seconds to wait each time.
        pause: Waits that many seconds.
        say: Told each failed try.

    Raises:
        InputError: If `url` is no web address or holds a password, or `text` is no JSON object.
        SubmitError: If the server refused it, or no try brought an answer.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"--url {url}: an http or https address was expected")
    if parts.username is not None:
        raise InputError("--url: leave user and password out of the address; they would be written down")
    # A query may hold a key, and what is shown here is written down.
    shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
    questions = _count(text)
    body = text.encode()
    why = ""
    for number in range(1, tries + 1):
        try:
            reply = _post(url, body, timeout)
        except http.client.InvalidURL as error:
            raise InputError(f"--url {shown}: {error}") from error
        except (OSError, http.client.HTTPException) as error:
            reply, why = None, _reason(error)
        if reply is not None and 200 <= reply.status < 300:
            return Receipt(
                url=shown,
                sent=datetime.now(UTC).isoformat(timespec="seconds"),
                sha256=hashlib.sha256(body).hexdigest(),
                questions=questions,
                tries=number,
                status=reply.status,
                answer=reply.text,
            )
        if reply is not None:
            why = f"status {reply.status}: {' '.join(reply.text.split())[:_QUOTED] or 'no text'}"
            if reply.status < 500 and reply.status not in (408, 429):
                raise SubmitError(f"{shown} refused the submission with {why}")
        if number < tries:
            asked = reply.wait if reply is not None else None
            seconds = min(LONGEST_PAUSE, asked if asked is not None else 2.0**number)
            say(f"try {number} of {tries} failed ({why}); the next in {seconds:.0f} s")
            pause(seconds)
    raise SubmitError(f"{shown} did not take the submission in {tries} tries, the last one ended with {why}: try later")


def keep(receipt: Receipt, folder: Path) -> Path:
    """Write the receipt beside the run, under a name of its own, and return the file.

    Raises:
        VideoHVError: If it can't be written.
    """
    when = receipt.sent[:19].replace(":", "").replace("-", "").replace("T", "-")
    path = folder / f"submission-{when}.json"
    write_whole(path, receipt.model_dump_json(indent=1) + "\n")
    return path


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the body would be lost on the way, and would go where the user did not send it."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def _post(url: str, body: bytes, timeout: float) -> _Reply:
    headers = {"Content-Type": "application/json", "Accept": "*/*", "User-Agent": "videohv"}
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=timeout) as response:
            return _Reply(response.status, _text(response.read(_MOST_BYTES)), None)
    except urllib.error.HTTPError as error:
        with error:
            moved = f"moved to {error.headers['Location']}: give that as --url. " if error.headers["Location"] else ""
            return _Reply(error.code, moved + _text(error.read(_MOST_BYTES)), _wait(error.headers["Retry-After"]))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").strip()


def _wait(header: str | None) -> float | None:
    """Seconds that a `Retry-After` asks for, as a number or as a date."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


def _reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return "no answer in time" if isinstance(reason, TimeoutError) else str(reason) or type(reason).__name__


def _count(text: str) -> int:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise InputError(f"the submission is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise InputError("the submission is not one JSON object")
    return len(content)
