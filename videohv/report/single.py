"""The report of one answered question, as a whole page."""

from __future__ import annotations

from collections.abc import Mapping

from videohv.report.answer import head, sections
from videohv.report.markup import Markup, joined, tag
from videohv.report.page import note, page
from videohv.report.pieces import View
from videohv.types import Trace


def html_of(trace: Trace, *, pictures: Mapping[float, str] | None = None, video: str = "", remark: str = "") -> str:
    """A question's report: one HTML document that needs nothing beside itself.

    Args:
        trace: What happened.
        pictures: Thumbnails by the time of their frame (`videohv.report.pictures.thumbnails`).
        video: Address of the video as seen from the report, such as `./party.mp4`; empty if it does not lie there.
            Either way the reader can open the file.
        remark: What is to be said of the report itself.

    Raises:
        ValueError: If `video` is not an address beside the report.
    """
    view = View(seekable=True, pictures=pictures or {})
    return page(
        trace.question.text,
        joined(head(trace, view), note(remark) if remark else None, _player(video)),
        sections=sections(trace, view),
        styles=("answer.css",),
        scripts=("answer.js",),
    )


def _player(video: str) -> Markup:
    if video and not video.startswith("./"):
        raise ValueError(f"not an address beside the report: {video[:40]!r}")
    return tag(
        "div",
        tag("video", controls=True, preload="metadata", playsinline=True, hidden=True, aria_label="The video"),
        tag(
            "label",
            "Open the video file",
            tag("input", type="file", accept="video/*", aria_label="Open the video file"),
            class_="button",
        ),
        tag("span", role="status", class_="quiet"),
        class_="player",
        data_src=video or None,
    )
