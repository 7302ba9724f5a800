"""One question as two runs answered it, side by side."""

from __future__ import annotations

from videohv.evaluate.columns import number, percent
from videohv.evaluate.relied import relied_windows
from videohv.evaluate.row import Row
from videohv.report.answer import last_check
from videohv.report.markup import Markup, joined, tag
from videohv.report.page import note
from videohv.report.pieces import chip, facts, outcome_chip, prose, right_chip, status_chip
from videohv.types import Outcome, Trace, letter


def pair_fragment(row_a: Row, a: Trace, row_b: Row, b: Trace) -> Markup:
    """The question with its options, and what each run answered, found and spent."""
    question = a.question
    moved = row_a.permutation != row_b.permutation
    return joined(
        tag("p", " · ".join(word for word in (question.id, question.video, question.type) if word), class_="over"),
        tag("h1", question.text, dir="auto"),
        note("The options were shown in another order in run B; letters are of each run's own order.", kind="fair")
        if moved
        else None,
        _options(a, b) if not moved else None,
        tag("div", _side("A", row_a, a), _side("B", row_b, b), class_="sides"),
    )


def _options(a: Trace, b: Trace) -> Markup:
    chosen = [(name, t.answer.option_index) for name, t in (("A", a), ("B", b)) if t.answer is not None]
    items = []
    for i, text in enumerate(a.question.options):
        marks = [chip(f"chosen by run {name}", "here", "●") for name, index in chosen if index == i]
        if a.question.answer_index is not None and a.question.is_right(i):
            marks.append(chip("right option", "good", "✓"))
        items.append(
            tag(
                "li",
                tag("span", letter(i), class_="letter", aria_hidden="true"),
                tag(
                    "div", tag("p", tag("span", text), tag("span", marks, class_="marks"), class_="option", dir="auto")
                ),
                aria_label=f"Option {letter(i)}",
            )
        )
    return tag("ol", items, class_="options")


def _side(name: str, row: Row, trace: Trace) -> Markup:
    check = last_check(trace)
    answer = trace.answer
    index = answer.option_index if answer is not None else None
    said = f"{letter(index)}. {trace.question.options[index]}" if index is not None else "no answer"
    clue = trace.rounds[-1].clue if trace.rounds else None
    chips = [
        outcome_chip(trace.outcome) if trace.outcome is not Outcome.ANSWERED else None,
        right_chip(row.right) if row.right is not None and trace.outcome is Outcome.ANSWERED else None,
        status_chip(trace.status),
    ]
    spent = [
        ("confidence", percent(answer.confidence) if answer is not None and answer.confidence is not None else ""),
        ("relied on", ", ".join(str(w) for w in relied_windows(trace))),
        ("rounds, looks", f"{row.rounds}, {row.looks}" if row.rounds else ""),
        ("calls", number(row.calls)),
        ("tokens", number(row.prompt_tokens + row.completion_tokens)),
        ("seconds", number(row.seconds)),
        ("cost", number(row.cost, money=True) if row.cost is not None else ""),
    ]
    return tag(
        "div",
        tag("h2", f"Run {name}"),
        tag("p", said, class_="answer", dir="auto"),
        tag("p", chips, class_="chips"),
        _told("Reasoning", answer.reasoning if answer is not None else ""),
        _told("What was looked for", clue.observation if clue is not None else ""),
        _told("What the check said", check.rationale if check is not None else ""),
        [_told("Conflict", text) for text in (answer.conflicts if answer is not None else ())],
        [_told(f"Went without {d.step}", d.why) for d in trace.degraded],
        _told("Error", trace.error),
        facts([(label, value) for label, value in spent if value]),
    )


def _told(label: str, text: str) -> Markup | None:
    said = prose(text)
    return tag("div", tag("p", label, class_="label"), said, class_="told") if said is not None else None
