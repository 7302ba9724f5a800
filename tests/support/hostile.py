"""Texts that try to become markup or code, and a trace that has one in every field that holds words."""

from __future__ import annotations

from videohv.types import (
    Answer,
    CaptionInfo,
    Check,
    Clue,
    Degradation,
    Draft,
    Evidence,
    Hypothesis,
    Look,
    Mode,
    Observation,
    Outcome,
    Prediction,
    Quality,
    Question,
    RoleUsage,
    Round,
    Segment,
    Source,
    Status,
    Support,
    Trace,
    Verdict,
    VideoInfo,
    Window,
)

PLANTED = (
    "<script>window.pwned=1</script>"
    "</script><script>window.pwned=2</script>"
    "<img src=x onerror=window.pwned=3>"
    "\"'><svg onload=window.pwned=4>"
    '<a href="javascript:window.pwned=5">x</a>'
    "</title></style></textarea><!--<script>]]>"
    "\u2028\u2029`${window.pwned=6}`&lt;b&gt;\x00\x1b[31m\u202e"
)
"""Everything at once."""


def planted(where: str) -> str:
    """The planted text with a word in front by which it is found again."""
    return f"{where}-here {PLANTED}"


def a_hostile_trace(path: str = "clip.mp4", content_hash: str = "0" * 64) -> Trace:
    """An answered question in which every word is planted."""
    p, w = planted, Window(start=1.0, end=4.0)
    verdict = Verdict(option_index=0, support=Support.SUPPORTED, why=p("verdict"))
    clue = Clue(observation=p("clue"), predictions=(Prediction(option_index=0, expectation=p("prediction")),))
    draft = Draft(
        mode=Mode.INITIAL,
        hypotheses=(Hypothesis(option_index=0, statement=p("hypothesis")),),
        clue=clue,
        quality=Quality.OVERLAPPING,
        critique=p("critique"),
    )
    seen = Evidence(
        window=w, times=(1.5, 2.5), observations=(Observation(time=2.5, text=p("observation")),), source=Source.FRAMES
    )
    check = Check(status=Status.PARTIAL, rationale=p("rationale"), verdicts=(verdict,), wanted=(w,))
    return Trace(
        method=p("method"),
        question=Question(
            text=p("question"),
            options=(p("option"), p("other")),
            id=p("id"),
            video=p("video"),
            answer_index=0,
            type=p("type"),
            facets=((p("facet"), p("value")),),
        ),
        outcome=Outcome.ANSWERED,
        answer=Answer(
            option_index=0, confidence=0.5, reasoning=p("reasoning"), verdicts=(verdict,), conflicts=(p("conflict"),)
        ),
        status=Status.PARTIAL,
        video=VideoInfo(
            path=f"/somewhere/{path}",
            content_hash=content_hash,
            duration=6.0,
            fps=10.0,
            width=128,
            height=96,
            warnings=(p("video-warning"),),
        ),
        captions=CaptionInfo(captioner=p("captioner"), count=6),
        summary=(Segment(window=w, text=p("summary")),),
        rounds=(Round(drafts=(draft,), looks=(Look(windows=(w,), evidence=(seen,), check=check),)),),
        degraded=(Degradation(step=p("step"), why=p("why")),),
        warnings=(p("warning"),),
        error=p("error"),
        settings={p("setting"): p("set"), "listed": [p("item")]},
        usage=(
            RoleUsage(role=p("role"), model=p("model"), calls=2, prompt_tokens=100, completion_tokens=10, seconds=1.0),
            RoleUsage(role="answer", model="m", calls=1),
        ),
        seconds=2.0,
    )
