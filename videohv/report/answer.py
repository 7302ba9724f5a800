"""One answered question with its evidence: what stands at its head, its options, and how it was found."""

from __future__ import annotations

from videohv.report.cost import cost_table, settings_table
from videohv.report.markup import Child, Markup, joined, tag
from videohv.report.page import Section, note
from videohv.report.pieces import View, chip, outcome_chip, prose, right_chip, span, status_chip
from videohv.report.reasoning import rounds
from videohv.report.timeline import timeline
from videohv.types import Check, Outcome, Trace, Verdict, clock, letter

_PROPOSED = "No options were given: these were proposed from what is known of the video."
_NONE = "No options were given, and none could be proposed."


def head(trace: Trace, view: View) -> Markup:
    """Question, answer and why, and what the answer had to do without."""
    question = trace.question
    right = question.is_right(trace.answer.option_index if trace.answer else None)
    chips = [
        outcome_chip(trace.outcome) if trace.outcome is not Outcome.ANSWERED else None,
        status_chip(trace.status) if trace.status is not None or trace.rounds else None,
        right_chip(right) if question.answer_index is not None and trace.outcome is Outcome.ANSWERED else None,
        chip(question.type) if question.type else None,
    ]
    return tag(
        "div",
        tag("p", " · ".join(_about(trace)), class_="over"),
        tag("h1", question.text, dir="auto"),
        note(_PROPOSED if question.options else _NONE) if question.proposed else None,
        tag("div", _answer(trace), tag("p", chips, class_="chips"), class_="verdict"),
        prose(trace.answer.reasoning, "why") if trace.answer else None,
        _troubles(trace),
        class_="head",
        id=f"{view.prefix}-top",
    )


def sections(trace: Trace, view: View) -> list[Section]:
    """The parts below the head."""
    p = view.prefix
    return [
        Section(f"{p}-options", "Options", options(trace), "Options"),
        Section(f"{p}-time", "Timeline", timeline(trace, p), "Timeline"),
        Section(f"{p}-rounds", "How it was checked", rounds(trace, view), "Evidence"),
        Section(f"{p}-summary", "Summary of the video for this question", _summary(trace, view), "Summary"),
        Section(f"{p}-cost", "Cost", joined(cost_table(trace), settings_table(trace)), "Cost"),
    ]


def fragment(trace: Trace, view: View, before: Child = None) -> Markup:
    """An answer as a part of another page."""
    return joined(
        before,
        head(trace, view),
        [tag("section", tag("h2", s.title), s.body, id=s.key) for s in sections(trace, view) if s.body],
    )


def options(trace: Trace) -> Markup:
    """Every option with its hypothesis, what the last check found for it, and what the answer made of it."""
    question, chosen = trace.question, trace.answer.option_index if trace.answer else None
    last = trace.rounds[-1] if trace.rounds else None
    hypotheses = {h.option_index: h for h in last.hypotheses} if last else {}
    checked = last_check(trace)
    found = {v.option_index: v for v in checked.verdicts} if checked else {}
    weighed = {v.option_index: v for v in trace.answer.verdicts} if trace.answer else {}
    items = []
    for i, text in enumerate(question.options):
        made = hypotheses.get(i)
        own = made is not None and made.statement.strip() != text
        marks = [
            chip("answer", "here", "●") if i == chosen else None,
            chip("right option", "good", "✓") if question.answer_index is not None and question.is_right(i) else None,
            chip("set aside") if made is not None and made.pruned else None,
        ]
        items.append(
            tag(
                "li",
                tag("span", letter(i), class_="letter", aria_hidden="true"),
                tag(
                    "div",
                    tag("p", tag("span", text), tag("span", marks, class_="marks"), class_="option", dir="auto"),
                    _line("if so", made.statement) if made is not None and own else None,
                    _line("at first", f"{made.plausibility:.0%} plausible, from the summary alone")
                    if made is not None and made.stated
                    else None,
                    _weighed("check", found.get(i)),
                    _weighed("answer", weighed.get(i)),
                ),
                class_="chosen" if i == chosen else None,
                aria_label=f"Option {letter(i)}",
            )
        )
    return tag("ol", items, class_="options")


def last_check(trace: Trace) -> Check | None:
    """The check that the status is of."""
    checks = [look.check for round_ in trace.rounds for look in round_.looks if look.check is not None]
    return checks[-1] if checks else None


def _answer(trace: Trace) -> Markup:
    answer = trace.answer
    if answer is not None and answer.option_index is not None:
        i = answer.option_index
        text = trace.question.options[i] if i < len(trace.question.options) else ""
        sure = tag("small", f"confidence {answer.confidence:.0%}") if answer.confidence is not None else None
        return tag("p", tag("b", letter(i)), tag("span", tag("span", text, dir="auto"), " ", sure), class_="answer")
    if trace.outcome is Outcome.ABSTAINED:
        return tag("p", "Declined: the evidence does not decide.", class_="answer none")
    said = f"No answer: {trace.error or str(trace.outcome).replace('_', ' ')}"
    return tag("p", said, class_="answer none")


def _about(trace: Trace) -> list[str]:
    question, said = trace.question, []
    if question.video or trace.video is not None:
        # The name alone: where a file lies on somebody's disk is nobody's business.
        said.append(question.video or (trace.video.path if trace.video else "").replace("\\", "/").rpartition("/")[2])
    if trace.video is not None:
        said.append(f"{clock(trace.video.duration)}, {trace.video.width} × {trace.video.height}")
    if question.id and question.id != question.video:
        said.append(question.id)
    said.append(trace.method)
    if trace.captions is not None:
        given = trace.captions.captioner
        said.append(f"{trace.captions.count} captions" + (" given" if given == "given" else f" from {given}"))
    if trace.speech is not None:
        said.append(f"{trace.speech.count} lines of speech")
    return said


def _troubles(trace: Trace) -> Markup:
    conflicts = trace.answer.conflicts if trace.answer else ()
    warnings = dict.fromkeys((*trace.warnings, *(trace.video.warnings if trace.video else ())))
    lines = [note(tag("b", "Conflict"), " ", text, kind="fair") for text in dict.fromkeys(conflicts)]
    lines += [note(tag("b", f"Went without {d.step}"), " ", d.why, kind="fair") for d in trace.degraded]
    lines += [note(tag("b", "Warning"), " ", text) for text in warnings]
    return joined(lines)


def _summary(trace: Trace, view: View) -> Markup:
    if not trace.summary:
        return Markup()
    return tag(
        "ol",
        [tag("li", span(view, s.window), tag("p", s.text, dir="auto")) for s in trace.summary],
        class_="passages",
    )


def _line(name: str, text: str) -> Markup:
    return tag("p", tag("span", name, class_="name"), tag("span", text, dir="auto"), class_="line")


def _weighed(name: str, verdict: Verdict | None) -> Markup | None:
    if verdict is None:
        return None
    return tag(
        "p",
        tag("span", name, class_="name"),
        tag("span", status_chip(verdict.support), " ", tag("span", verdict.why, dir="auto")),
        class_="line",
    )
