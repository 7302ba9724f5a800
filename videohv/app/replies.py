"""Requests taken apart and replies put together."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from videohv.app.failures import Missing
from videohv.app.uploads import TooLarge
from videohv.errors import InputError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MOST_JSON = 1 << 20
"""Bytes of a JSON request."""

_KINDS = {"html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; media-src blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)
"""A report carries its own script and style, and can reach nothing: not even the origin it comes from."""


def written(write: Callable[[Path], Path]) -> bytes:
    """What `write` writes into the file that it is given."""
    with tempfile.TemporaryDirectory(prefix="videohv-") as folder:
        return write(Path(folder) / "report.html").read_bytes()


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that a request carries.

    Raises:
        InputError: It carries none.
        TooLarge: It is too long.
    """
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > MOST_JSON:
            raise TooLarge(f"the request has more than the {MOST_JSON:,} bytes that are possible")
        pieces.append(piece)
    try:
        given = json.loads(b"".join(pieces))
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is no JSON ({error})") from None
    if not isinstance(given, dict):
        raise InputError("the body must be a JSON object")
    return given


def number(text: str) -> int | None:
    """A number out of a header; None if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else None


async def nothing() -> AsyncIterator[bytes]:
    """The body of a stream that is only asked about: it must not keep a connection busy."""
    return
    yield b""


def asset(name: str) -> Response:
    """A file of the page; it shares its colours and letters with the reports."""
    from starlette.responses import Response

    kind = _KINDS.get(name.rpartition(".")[2])
    if kind is not None and "/" not in name and "\\" not in name:
        for package in ("videohv.app", "videohv.report"):
            file = resources.files(package) / "assets" / name
            if file.is_file():
                return Response(file.read_bytes(), media_type=kind)
    raise Missing(f"there is no {name!r}")


def as_json(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    from starlette.responses import Response

    # Escaped wherever it can be: half characters out of file names have no other form.
    return Response(json.dumps(value), status, media_type="application/json")


def stream(pieces: AsyncIterator[bytes]) -> Response:
    """Server-sent events."""
    from starlette.responses import StreamingResponse

    return StreamingResponse(pieces, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def attached(content: bytes, kind: str, name: str) -> Response:
    """A file to be saved."""
    from starlette.responses import Response

    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def report(html: bytes, name: str, inline: bool) -> Response:
    """A report, to be saved or to be looked at."""
    from starlette.responses import Response

    if not inline:
        return attached(html, "text/html; charset=utf-8", name)
    return Response(html, media_type="text/html; charset=utf-8", headers={"content-security-policy": _REPORT_POLICY})
