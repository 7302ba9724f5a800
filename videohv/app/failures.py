"""Errors as replies: what each kind is in HTTP, always as JSON, and without a text that could hold anything."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from videohv.app.jobs import Refused
from videohv.app.places import WrongKind
from videohv.app.uploads import TooLarge
from videohv.errors import InputError, NotVideo, VideoHVError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

Handler = Callable[["Request"], Awaitable["Response"]]


class Missing(InputError):
    """There is nothing of that name."""


_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (Missing, 404),
    (TooLarge, 413),
    (WrongKind, 415),
    (Refused, 429),
    (InputError, 400),
    (NotVideo, 415),
    (VideoHVError, 422),
)


def answering(handler: Handler) -> Handler:
    """The same handler, with the errors of this package as replies."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except VideoHVError as error:
            return _reply(str(error), next(code for kind, code in _STATUS if isinstance(error, kind)))

    return answer


async def unrouted(request: Request, error: Any) -> Response:
    """Reply to what no handler is for."""
    return _reply(f"{request.method} {request.url.path}: {error.detail}", error.status_code)


async def fault(request: Request, error: Exception) -> Response:
    """Reply where the program failed; only the kind of the error is told."""
    return _reply(f"the program failed with {type(error).__name__}; this is a fault in it", 500)


def _reply(error: str, status: int) -> Response:
    from starlette.responses import Response

    return Response(json.dumps({"error": error}), status, media_type="application/json")
