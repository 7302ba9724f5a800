"""How an answer was found, round by round: hypotheses, clue, windows, what was seen, what the check said."""

from __future__ import annotations

from videohv.report.markup import Markup, joined, tag
from videohv.report.pieces import View, chip, folded, moment, prose, span, status_chip
from videohv.types import Clue, Draft, Evidence, Look, Mode, Quality, Round, Source, Trace, Window, letter

_WHY = {
    Mode.INITIAL: "First hypotheses",
    Mode.SPECIFICITY: "Sharper hypotheses, since the evidence did not decide",
    Mode.DISCRIMINABILITY: "Hypotheses that differ more, since they overlapped",
}
_SOURCES = {
    Source.FRAMES: "seen by a vision model",
    Source.TAGS: "objects, text and light detected",
    Source.CAPTIONS: "from the captions",
}


def rounds(trace: Trace, view: View) -> Markup:
    """Every round with its looks."""
    alone = len(trace.rounds) == 1
    return joined([_round(round_, i, view, alone) for i, round_ in enumerate(trace.rounds, start=1)])


def _round(round_: Round, number: int, view: View, alone: bool) -> Markup:
    several = len(round_.looks) > 1
    return tag(
        "div",
        None if alone else tag("h3", f"Round {number}"),
        _clue(round_.clue) if round_.clue is not None else None,
        folded(_drafts_title(round_), [_draft(draft) for draft in round_.drafts]) if round_.drafts else None,
        [
            _look(look, view, f"{view.prefix}-{number}-{k}", f"Look {k}" if several else "")
            for k, look in enumerate(round_.looks, start=1)
        ],
        class_="round",
    )


def _clue(clue: Clue) -> Markup:
    return tag(
        "div",
        tag("p", "Clue", class_="label"),
        tag("p", clue.observation, class_="clue", dir="auto"),
        tag(
            "ul",
            [
                tag("li", tag("b", f"if {letter(p.option_index)}"), " ", tag("span", p.expectation, dir="auto"))
                for p in clue.predictions
            ],
            class_="predictions",
        )
        if clue.predictions
        else None,
    )


def _drafts_title(round_: Round) -> str:
    made = len(round_.drafts)
    return "Hypotheses and the judge's critique" + (f", {made} drafts" if made > 1 else "")


def _draft(draft: Draft) -> Markup:
    quality = None
    if draft.quality is not None:
        quality = chip(draft.quality.lower(), "good" if draft.quality is Quality.DISTINCT else "fair")
    return tag(
        "div",
        tag("p", tag("b", _WHY[draft.mode]), " ", quality),
        tag(
            "ul",
            [
                tag(
                    "li",
                    tag("b", letter(h.option_index)),
                    " ",
                    tag("span", h.statement, dir="auto"),
                    "" if h.stated else " (the option's own text)",
                    " (set aside)" if h.pruned else "",
                )
                for h in draft.hypotheses
            ],
            class_="predictions",
        ),
        prose(draft.critique, "quiet"),
        prose(f"Clue: {draft.clue.observation}", "quiet") if draft.clue is not None else None,
        class_="draft",
    )


def _look(look: Look, view: View, key: str, name: str) -> Markup:
    seen = {e.window for e in look.evidence}
    blind = [window for window in look.windows if window not in seen]
    return tag(
        "div",
        tag("h4", name) if name else None,
        [_evidence(evidence, view) for evidence in look.evidence],
        tag("p", "Nothing came of ", _windows(blind, view), class_="quiet") if blind else None,
        _check(look, view),
        class_="look",
        id=key,
    )


def _evidence(evidence: Evidence, view: View) -> Markup:
    texts: dict[float, list[str]] = {}
    for observation in evidence.observations:
        texts.setdefault(observation.time, []).append(observation.text)
    pictured = [t for t in evidence.times if t in view.pictures and t not in texts]
    return tag(
        "div",
        tag("p", span(view, evidence.window), " ", tag("span", _SOURCES[evidence.source], class_="quiet")),
        tag(
            "ol",
            [
                tag("li", _still(time, view), tag("div", [tag("p", text, dir="auto") for text in texts[time]]))
                for time in sorted(texts)
            ],
            class_="seen",
        ),
        tag("div", [_still(time, view) for time in pictured], class_="stills") if pictured else None,
        class_="evidence",
    )


def _still(time: float, view: View) -> Markup:
    picture = view.pictures.get(time)
    if picture is None:
        return moment(view, time)
    # The time beside it says the same, and is what the keyboard reaches.
    image = tag("img", src=picture, alt="", data_seek=time if view.seekable else None)
    return tag("figure", image, tag("figcaption", moment(view, time)), class_="still")


def _check(look: Look, view: View) -> Markup | None:
    check = look.check
    if check is None:
        return None
    return tag(
        "div",
        tag("p", "Check ", status_chip(check.status), class_="label"),
        prose(check.rationale),
        tag(
            "ul",
            [
                tag(
                    "li",
                    tag("b", letter(v.option_index)),
                    " ",
                    status_chip(v.support),
                    " ",
                    tag("span", v.why, dir="auto"),
                )
                for v in check.verdicts
            ],
            class_="predictions",
        )
        if check.verdicts
        else None,
        tag("p", "Wanted to see ", _windows(list(check.wanted), view), class_="quiet") if check.wanted else None,
        class_="check",
    )


def _windows(windows: list[Window], view: View) -> list[Markup | str]:
    made: list[Markup | str] = []
    for window in windows:
        made += [", ", span(view, window)] if made else [span(view, window)]
    return made
