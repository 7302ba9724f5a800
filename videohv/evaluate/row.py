"""One finished question in a few figures: what tables, intervals and comparisons are made from."""

from __future__ import annotations

from typing import Self

from videohv.evaluate.relied import best_overlap, relied_windows, union_overlap
from videohv.types import MAX_OPTIONS, Outcome, Status, Trace, Value, Window


class Row(Value):
    """What a run keeps in memory of a finished question; the full trace stays on disk.

    Args:
        id: The question's id.
        order: Which option order it was asked under; 0 is the benchmark's own.
        permutation: Item i is the benchmark's index of the option that was shown at place i. Empty: its own order.
        video: The video's name.
        recording: What its interval is clustered by (`Question.recording`).
        type: The benchmark's kind of question.
        facets: Further (name, value) pairs by which figures are broken down.
        options: How many options it has.
        outcome: How it ended.
        answer_index: The answered option in the benchmark's own order; None without an answer.
        shown_index: The same as it was shown, for position bias.
        shown_right: Place at which the right option was shown; None if it is not known.
        right: Whether the answer is right; False without an answer; None if the right option is not known.
        confidence: As the answer gave it.
        status: Of the last check.
        rounds: Outer passes.
        looks: Evidence collections.
        calls: LM calls made; those served from the cache are counted apart.
        cached_calls: LM calls served from the response cache.
        failed_calls: LM calls that brought no usable reply.
        prompt_tokens: In all.
        cached_prompt_tokens: Of them read from the provider's prompt cache.
        completion_tokens: In all.
        spared_tokens: Of prompts and replies that came out of the response cache.
        images: Sent.
        cost: US dollars, as far as prices are known; None if none is.
        seconds: From its first to its last step.
        stages: (role, seconds spent in its LM calls), which may overlap.
        degraded: Steps that it had to do without.
        relied: The windows that it relied on, the most cited first (`relied_windows`).
        iou: Best intersection over union of the first of them with an annotated span (NExT-GQA); 0 without a window,
            None without spans.
        iop: The same as intersection over the window.
        union_iou: As `iou`, of all windows relied on together with all spans together.
        union_iop: As `iop`, likewise.
        error: Why it failed, in one line.
    """

    id: str
    order: int = 0
    permutation: tuple[int, ...] = ()
    video: str = ""
    recording: str = ""
    type: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    options: int = MAX_OPTIONS
    outcome: Outcome
    answer_index: int | None = None
    shown_index: int | None = None
    shown_right: int | None = None
    right: bool | None = None
    confidence: float | None = None
    status: Status | None = None
    rounds: int = 0
    looks: int = 0
    calls: int = 0
    cached_calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    spared_tokens: int = 0
    images: int = 0
    cost: float | None = None
    seconds: float = 0.0
    stages: tuple[tuple[str, float], ...] = ()
    degraded: tuple[str, ...] = ()
    relied: tuple[Window, ...] = ()
    iou: float | None = None
    iop: float | None = None
    union_iou: float | None = None
    union_iop: float | None = None
    error: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """What makes it one of a kind within a run."""
        return self.id, self.order

    @property
    def failed(self) -> bool:
        """Whether it ended without an answer and without having declined to give one."""
        return self.outcome not in (Outcome.ANSWERED, Outcome.ABSTAINED)

    @classmethod
    def of(cls, trace: Trace, order: int = 0, permutation: tuple[int, ...] = ()) -> Self:
        """The row of a trace whose question was asked with its options permuted like that."""
        question, usage = trace.question, trace.usage
        shown = trace.answer.option_index if trace.answer is not None else None
        costs = [u.cost for u in usage if u.cost is not None]
        relied = relied_windows(trace)
        best = best_overlap(relied[0] if relied else None, question.spans)
        union = union_overlap(relied, question.spans)
        return cls(
            id=question.id,
            order=order,
            permutation=permutation,
            video=question.video,
            recording=question.recording,
            type=question.type,
            facets=question.facets,
            options=len(question.options),
            outcome=trace.outcome,
            answer_index=permutation[shown] if shown is not None and permutation else shown,
            shown_index=shown,
            shown_right=question.answer_index,
            right=question.is_right(shown),
            confidence=trace.answer.confidence if trace.answer is not None else None,
            status=trace.status,
            rounds=len(trace.rounds),
            looks=sum(len(r.looks) for r in trace.rounds),
            calls=trace.calls,
            cached_calls=sum(u.cached_calls for u in usage),
            failed_calls=sum(u.failed_calls for u in usage),
            prompt_tokens=sum(u.prompt_tokens for u in usage),
            cached_prompt_tokens=sum(u.cached_prompt_tokens for u in usage),
            completion_tokens=sum(u.completion_tokens for u in usage),
            spared_tokens=sum(u.spared_tokens for u in usage),
            images=sum(u.images for u in usage),
            cost=sum(costs) if costs else None,
            seconds=trace.seconds,
            stages=tuple((u.role, u.seconds) for u in usage),
            degraded=tuple(d.step for d in trace.degraded),
            relied=relied,
            iou=best.iou if best else None,
            iop=best.iop if best else None,
            union_iou=union.iou if union else None,
            union_iop=union.iop if union else None,
            error=trace.error,
        )
