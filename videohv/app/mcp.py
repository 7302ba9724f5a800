"""The same as an MCP server: assistants ask about a video and get the answer with its evidence.

Protocol: the Model Context Protocol (modelcontextprotocol.io), as its Python package speaks it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Annotated, Any

from pydantic import Field

import videohv
from videohv.app.desk import Ask, Desk, Seen
from videohv.app.job import Job, State
from videohv.app.places import Found
from videohv.errors import MissingExtra, VideoHVError
from videohv.modules.recorder import Event, Progress
from videohv.types import Evidence, Trace, Value

try:
    from mcp.server.mcpserver import Context, Image, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError:
    raise MissingExtra("mcp", "mcp", "the MCP server") from None

BEAT_SECONDS = 5.0
"""Somebody who waits is told at least this often that there is still work going on."""

_ABOUT = (
    "Answers questions about video files with evidence: it works out what would have to be visible for each answer, "
    "looks exactly there, and says which windows of time it relied on and whether they verify the answer. An answer "
    "whose status is NOT_VERIFIED is a guess of the model. Times are seconds from the beginning of the video."
)

VideoPath = Annotated[str, Field(description="Path of the file: absolute, or below one of the allowed folders.")]


class Listed(Value):
    """Video files that may be asked about.

    Args:
        videos: By folder and name.
        more: Whether there are more than are listed.
    """

    videos: tuple[Found, ...]
    more: bool


class Answered(Value):
    """An answer with its evidence.

    Args:
        answer: The option that was chosen; None if it was declined.
        option_index: Its number, from 0.
        options: All of them.
        proposed: Whether the options were not given but made up from the video.
        outcome: `answered` or `abstained`.
        confidence: 0 to 1, or None.
        status: What the last check of the evidence came to: VERIFIED, PARTIAL or NOT_VERIFIED.
        reasoning: Why.
        evidence: Where it looked, and what was seen there, each with its time in seconds.
        conflicts: What speaks against the answer.
        degraded: Steps that it had to go on without, and why.
        calls: Calls of language models.
        tokens: Of prompts and replies.
        cost: US dollars, as far as prices are known; None if none is.
        seconds: It took so long.
    """

    answer: str | None
    option_index: int | None
    options: tuple[str, ...]
    proposed: bool = False
    outcome: str
    confidence: float | None = None
    status: str | None = None
    reasoning: str = ""
    evidence: tuple[Evidence, ...] = ()
    conflicts: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


def make_mcp(desk: Desk) -> MCPServer[Any]:
    """An MCP server on a desk. Whatever fails comes back as an error with its reason, never as an answer."""
    server: MCPServer[Any] = MCPServer(
        "videohv", title="Ask a video", instructions=_ABOUT, version=videohv.__version__, log_level="ERROR"
    )

    @server.tool()
    async def list_videos() -> Listed:
        """List the video files that may be asked about."""
        videos, more = await asyncio.to_thread(desk.places.list)
        return Listed(videos=videos, more=more)

    @server.tool()
    async def probe_video(video: VideoPath) -> Seen:
        """Say what a video file is: duration in seconds, size in pixels, frames a second, and any trouble with it."""
        try:
            return await asyncio.to_thread(desk.open, desk.places.video(video))
        except VideoHVError as error:
            raise ToolError(str(error)) from None

    @server.tool(structured_output=False)
    async def show_frame(
        video: VideoPath, at: Annotated[float, Field(ge=0, description="Seconds from the beginning.")]
    ) -> Image:
        """Show the frame of a video at a time."""
        try:
            name = desk.places.add(desk.places.video(video)).id
            return Image(data=await asyncio.to_thread(desk.picture, name, at), format="jpeg")
        except VideoHVError as error:
            raise ToolError(str(error)) from None

    @server.tool()
    async def ask_video(
        context: Context[Any, Any],
        video: VideoPath,
        question: Annotated[str, Field(description="What to find out.")],
        options: Annotated[
            list[str] | None,
            Field(description="2 to 26 possible answers, of which one is right; none to have them made."),
        ] = None,
        method: Annotated[str, Field(description="videohv, or a rival: captions, retrieval, direct.")] = "videohv",
        rounds: Annotated[int | None, Field(ge=1, le=20, description="Rounds of verification at most.")] = None,
        looks: Annotated[int | None, Field(ge=1, le=20, description="Looks a round at most.")] = None,
        may_abstain: Annotated[bool, Field(description="Whether the answer may be declined.")] = False,
    ) -> Answered:
        """Answer a question about a video, with the windows of time that support the answer. Takes minutes."""
        given = {"rounds": rounds, "looks": looks}
        try:
            ask = Ask(
                video=desk.places.add(desk.places.video(video)).id,
                question=question,
                options=tuple(options) if options is not None else None,
                method=method,
                abstain=may_abstain,
                settings={name: value for name, value in given.items() if value is not None},
            )
            job = await asyncio.to_thread(desk.ask, ask)
        except ValueError as error:
            raise ToolError(str(error)) from None
        await _followed(job, desk, context)
        if job.trace is None or job.state not in (State.ANSWERED, State.ABSTAINED):
            raise ToolError(f"no answer ({job.trace.outcome if job.trace else job.state}): {job.error}")
        return answered(job.trace)

    return server


def answered(trace: Trace) -> Answered:
    """The answer of a trace as it is handed on."""
    answer = trace.answer
    index = answer.option_index if answer is not None else None
    costs = [use.cost for use in trace.usage if use.cost is not None]
    return Answered(
        answer=trace.question.options[index] if index is not None else None,
        option_index=index,
        options=trace.question.options,
        proposed=trace.question.proposed,
        outcome=trace.outcome.value,
        confidence=answer.confidence if answer is not None else None,
        status=trace.status.value if trace.status is not None else None,
        reasoning=answer.reasoning if answer is not None else "",
        evidence=trace.evidence,
        conflicts=answer.conflicts if answer is not None else (),
        degraded=tuple(f"{one.step}: {one.why}" for one in trace.degraded),
        calls=trace.calls,
        tokens=sum(use.prompt_tokens + use.completion_tokens for use in trace.usage),
        cost=sum(costs) if costs else None,
        seconds=round(trace.seconds, 1),
    )


async def _followed(job: Job, desk: Desk, context: Context[Any, Any]) -> None:
    """Wait for the end of a job and tell of its steps; whoever stops waiting stops the job."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(changed.set)

    end, after, told, said = job.watch(wake), 0, 0, "waiting for its turn"
    try:
        while True:
            changed.clear()
            over = job.state.is_end
            for step in job.steps(after):
                after, told, said = step.number, told + 1, _said(step.event)
                await context.report_progress(told, message=said)
            if over:
                return
            try:
                await asyncio.wait_for(changed.wait(), BEAT_SECONDS)
            except TimeoutError:
                told += 1
                await context.report_progress(told, message=f"still at work; last: {said}")
    finally:
        end()
        desk.jobs.cancel(job, "stopped: nobody waits for it any longer")


def _said(event: Event) -> str:
    value = event.value
    where = f"round {event.round}: " if event.round else ""
    if isinstance(value, Progress):
        return f"{where}{value.step} {value.done} of {value.total}"
    return f"{where}{event.kind}"
