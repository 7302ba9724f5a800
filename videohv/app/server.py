"""The routes of the page and of its HTTP API. All work is done elsewhere; starlette is imported when it is needed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

import videohv
from videohv.app.desk import Ask, Desk, choices
from videohv.app.failures import Handler, Missing, answering, fault, unrouted
from videohv.app.guard import App, Guard
from videohv.app.kept import Ended
from videohv.app.places import KINDS, SUFFIXES
from videohv.app.presence import AWAY_SECONDS, Presence
from videohv.app.replies import as_json, asset, attached, body_of, nothing, number, report, stream, written
from videohv.app.wire import ended_view, job_stream, job_view, presence_stream
from videohv.errors import InputError, MissingExtra, VideoHVError
from videohv.report import report_answer, report_run

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def make_app(desk: Desk, token: str = "", hosts: Iterable[str] = (), away: float = AWAY_SECONDS) -> App:
    """The page as an ASGI application.

    Args:
        desk: Takes the questions.
        token: What requests must bring along; empty for none.
        hosts: As `Guard`.
        away: Seconds after which the jobs of a closed page are stopped.

    Raises:
        MissingExtra: Without starlette.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("starlette", "app", "the page where people ask") from None
    routes = _Routes(desk, Presence(lambda client: desk.jobs.cancel_of(client, "stopped: its page was closed"), away))
    api = "/api/v1"
    table: list[tuple[str, str, Handler]] = [
        ("GET", "/", routes.page),
        ("GET", "/assets/{name}", routes.asset),
        ("GET", f"{api}/about", routes.about),
        ("GET", f"{api}/videos", routes.videos),
        ("POST", f"{api}/videos", routes.open_video),
        ("PUT", f"{api}/uploads/{{name}}", routes.upload),
        ("GET", f"{api}/videos/{{id}}", routes.video),
        ("GET", f"{api}/videos/{{id}}/file", routes.file),
        ("GET", f"{api}/videos/{{id}}/frame", routes.frame),
        ("POST", f"{api}/jobs", routes.ask),
        ("GET", f"{api}/jobs", routes.jobs),
        ("GET", f"{api}/jobs/{{id}}", routes.job),
        ("DELETE", f"{api}/jobs/{{id}}", routes.cancel),
        ("GET", f"{api}/jobs/{{id}}/events", routes.events),
        ("GET", f"{api}/jobs/{{id}}/trace", routes.trace),
        ("GET", f"{api}/jobs/{{id}}/report", routes.report),
        ("GET", f"{api}/events", routes.presence),
        ("GET", f"{api}/runs", routes.runs),
        ("GET", f"{api}/runs/{{name:path}}/report", routes.run_report),
    ]
    served = [Route(path, answering(handler), methods=[method]) for method, path, handler in table]
    return Guard(Starlette(routes=served, exception_handlers={HTTPException: unrouted, Exception: fault}), token, hosts)


class _Routes:
    """The handlers."""

    def __init__(self, desk: Desk, presence: Presence) -> None:
        self._desk, self._presence = desk, presence

    async def page(self, request: Request) -> Response:
        return asset("index.html")

    async def asset(self, request: Request) -> Response:
        return asset(request.path_params["name"])

    async def about(self, request: Request) -> Response:
        places = self._desk.places
        return as_json(
            {
                "version": videohv.__version__,
                "models": dict(self._desk.models),
                "folders": [folder.name for folder in places.folders],
                "uploads": places.uploads is not None,
                "max_upload_bytes": places.upload_bytes,
                "upload_types": list(SUFFIXES),
                **await asyncio.to_thread(choices),
            }
        )

    async def videos(self, request: Request) -> Response:
        found, more = await asyncio.to_thread(self._desk.places.list)
        return as_json({"videos": [one.model_dump() for one in found], "more": more})

    async def open_video(self, request: Request) -> Response:
        given = await body_of(request)
        if set(given) != {"path"} or not isinstance(given["path"], str):
            raise InputError('give {"path": "…"}: a video file below an allowed folder')
        path = self._desk.places.video(given["path"])
        return as_json((await asyncio.to_thread(self._desk.open, path)).model_dump())

    async def upload(self, request: Request) -> Response:
        length = request.headers.get("content-length", "")
        upload = self._desk.places.upload(request.path_params["name"], number(length))
        try:
            async for piece in request.stream():
                await asyncio.to_thread(upload.write, piece)
            seen = await asyncio.to_thread(lambda: self._desk.open(upload.finish()))
        except BaseException:
            # Too large, no video, or broken off: nothing of it stays.
            upload.drop()
            raise
        return as_json(seen.model_dump(), 201)

    async def video(self, request: Request) -> Response:
        path = self._path(request)
        return as_json((await asyncio.to_thread(self._desk.open, path)).model_dump())

    async def file(self, request: Request) -> Response:
        from starlette.responses import FileResponse

        path = self._path(request)
        return FileResponse(path, media_type=KINDS[path.suffix.lower()], headers={"content-disposition": "inline"})

    async def frame(self, request: Request) -> Response:
        from starlette.responses import Response

        at = request.query_params.get("at", "")
        try:
            seconds = float(at)
        except ValueError:
            raise InputError(f"at={at!r} is not a time in seconds") from None
        if not 0 <= seconds < 1e7:
            raise InputError(f"at={at!r} is not a time in seconds within a video")
        self._path(request)
        jpeg = await asyncio.to_thread(self._desk.picture, request.path_params["id"], seconds)
        return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})

    async def ask(self, request: Request) -> Response:
        given = await body_of(request)
        try:
            ask = Ask.model_validate_json(json.dumps(given))
        except ValidationError as error:
            raise InputError("; ".join(_problem(one) for one in error.errors(include_url=False))) from None
        job = await asyncio.to_thread(self._desk.ask, ask)
        return as_json(job_view(job, self._desk.jobs), 202)

    async def jobs(self, request: Request) -> Response:
        jobs, kept = self._desk.jobs, self._desk.kept
        now = [job_view(job, jobs) for job in jobs.all()]
        there = {one["id"] for one in now}
        before = await asyncio.to_thread(kept.all) if kept is not None else ()
        now += [ended_view(ended) for ended in before if ended.id not in there]
        return as_json({"jobs": sorted(now, key=lambda one: -one["created"])[:100]})

    async def job(self, request: Request) -> Response:
        job = self._desk.jobs.get(request.path_params["id"])
        if job is not None:
            return as_json(job_view(job, self._desk.jobs))
        return as_json(ended_view(self._ended(request)))

    async def cancel(self, request: Request) -> Response:
        job = self._desk.jobs.get(request.path_params["id"])
        if job is None:
            raise Missing("there is no such question any longer")
        await asyncio.to_thread(self._desk.jobs.cancel, job)
        return as_json(job_view(job, self._desk.jobs))

    async def events(self, request: Request) -> Response:
        job = self._desk.jobs.get(request.path_params["id"])
        if job is None:
            raise Missing("there is no such question in this process; its trace may be there")
        if request.method == "HEAD":
            return stream(nothing())
        last = request.headers.get("last-event-id", request.query_params.get("after", ""))
        return stream(job_stream(job, self._desk.jobs, number(last) or 0))

    async def trace(self, request: Request) -> Response:
        ended = self._ended(request)
        if ended.trace is None:
            raise Missing(f"there is no trace of it: {ended.error}")
        return attached(ended.trace.model_dump_json(indent=2).encode(), "application/json", f"{ended.id}.json")

    async def report(self, request: Request) -> Response:
        ended = self._ended(request)
        html = await asyncio.to_thread(self._report, ended)
        return report(html, f"{ended.id}.html", inline="inline" in request.query_params)

    async def presence(self, request: Request) -> Response:
        client = request.query_params.get("client", "")
        if not client or len(client) > 100:
            raise InputError("client= must name the page, in at most 100 characters")

        if request.method == "HEAD":
            return stream(nothing())

        async def open_page() -> AsyncIterator[bytes]:
            with self._presence.page(client):
                async for piece in presence_stream(self._desk.jobs):
                    yield piece

        return stream(open_page())

    async def runs(self, request: Request) -> Response:
        return as_json({"runs": await asyncio.to_thread(self._desk.runs.names)})

    async def run_report(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = self._desk.runs.path_of(name)
        html = await asyncio.to_thread(lambda: written(lambda out: report_run(path, out)))
        return report(html, f"{path.name}.html", inline="inline" in request.query_params)

    def _path(self, request: Request) -> Path:
        try:
            return self._desk.places.path_of(request.path_params["id"])
        except InputError as error:
            raise Missing(str(error)) from None

    def _ended(self, request: Request) -> Ended:
        ended = self._desk.ended(request.path_params["id"])
        if ended is None:
            raise Missing("there is no such question, or it has not ended yet")
        return ended

    def _report(self, ended: Ended) -> bytes:
        trace = ended.trace
        if trace is None:
            raise Missing(f"there is no report of it: {ended.error}")
        try:
            path = self._desk.places.path_of(ended.asked.video)
            return written(lambda out: report_answer(trace, out, path))
        except VideoHVError:
            # The video is gone or another one by now; the answer has its report without pictures.
            return written(lambda out: report_answer(trace, out))


def _problem(problem: Mapping[str, Any]) -> str:
    return f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
