"""Runs of any size for reports: every question with a trace of its own, written in one go."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.traces import a_check, a_draft, a_look, evidence, window
from videohv.evaluate.journal import NAME as JOURNAL
from videohv.evaluate.journal import line_of
from videohv.evaluate.manifest import NAME as MANIFEST
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.row import Row
from videohv.types import (
    Answer,
    CaptionInfo,
    Degradation,
    Hypothesis,
    Outcome,
    Question,
    RoleUsage,
    Round,
    Segment,
    Status,
    Trace,
)

_ROLES = ("summary", "thinker", "judge", "verifier.locate", "verifier.look", "verifier.check", "answer")
_TYPES = ("causal", "temporal", "descriptive")
_WORDS = ("man", "woman", "dog", "cup", "table", "door", "slowly", "picks", "opens", "before", "after", "blue", "holds")


def traces(n: int, seed: int = 0, skill: float = 0.6) -> Iterator[Trace]:
    """Traces of `n` questions, answered, declined and failed; the questions do not depend on the seed.

    Args:
        n: How many.
        seed: For everything but the questions.
        skill: Share of right answers where the check verified.
    """
    for i in range(n):
        ask, luck = random.Random(i), random.Random(f"{seed}-{i}")
        options = tuple(f"{_said(ask, 9)} {letter}" for letter in "ABCDE")
        kind = _TYPES[i % 3]
        question = Question(
            text=f"{_said(ask, 14).capitalize()} in clip {i}?",
            options=options,
            id=f"clip-{i:05d}",
            video=f"v{i // 3}",
            answer_index=ask.randrange(5),
            type=kind,
            facets=(("duration", ask.choice(("short", "medium", "long"))),),
        )
        yield _answered(question, luck, skill)


def a_large_run(folder: Path, n: int = 5_031, seed: int = 0, skill: float = 0.6, **manifest: Any) -> Path:
    """A run's directory with `n` finished questions and their traces."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = []
    with (folder / JOURNAL).open("wb") as file:
        for trace in traces(n, seed, skill):
            ids.append(trace.question.id)
            file.write(line_of(Row.of(trace), trace.model_dump_json()))
    made = Manifest.model_validate(
        {"benchmark": "egoschema", "split": "full", "question_ids": ids, "labelled": n, **manifest}
    )
    (folder / MANIFEST).write_text(made.model_dump_json(), encoding="utf-8")
    return folder


def _answered(question: Question, luck: random.Random, skill: float) -> Trace:
    status = luck.choices(list(Status), (5, 3, 2))[0]
    share = skill if status is Status.VERIFIED else 0.7 * skill if status is Status.PARTIAL else 0.5 * skill
    right = luck.random() < share
    assert question.answer_index is not None
    chosen = question.answer_index if right else luck.choice([i for i in range(5) if i != question.answer_index])
    ending = luck.random()
    outcome = Outcome.PARSE_FAILED if ending < 0.03 else Outcome.ABSTAINED if ending < 0.06 else Outcome.ANSWERED
    statements = tuple(
        Hypothesis(option_index=i, statement=_said(luck, 20), plausibility=round(luck.random(), 2)) for i in range(5)
    )
    looks = tuple(
        a_look(
            a_check(luck.choice(("+--", "-+-", "??+")), status).model_copy(update={"rationale": _said(luck, 40)}),
            (evidence(start, start + 5), evidence(start + 60, start + 64, times=(start + 61, start + 62))),
            windows=(window(start, start + 5), window(start + 60, start + 64)),
        )
        for start in (luck.uniform(0, 100) for _ in range(luck.choice((1, 1, 2))))
    )
    draft = a_draft(hypotheses=statements)
    rounds = tuple(Round(drafts=(draft,), looks=looks) for _ in range(luck.choice((1, 1, 1, 2))))
    usage = tuple(
        RoleUsage(
            role=role,
            model="openai/gpt-4o-mini",
            calls=luck.randint(1, 4),
            prompt_tokens=int(luck.lognormvariate(7.2, 0.5)),
            completion_tokens=luck.randint(80, 400),
            seconds=luck.lognormvariate(0.5, 0.6),
            cost=luck.lognormvariate(-8, 0.4),
        )
        for role in _ROLES
    )
    answer = Answer(
        option_index=chosen if outcome is Outcome.ANSWERED else None,
        confidence=round(min(1.0, max(0.0, luck.gauss(0.75 if right else 0.6, 0.15))), 2),
        reasoning=_said(luck, 40),
    )
    failed = outcome is Outcome.PARSE_FAILED
    return Trace(
        question=question,
        outcome=outcome,
        answer=None if failed else answer,
        status=status,
        captions=CaptionInfo(captioner="given", count=180),
        summary=tuple(Segment(window=window(45 * k, 45 * k + 45), text=_said(luck, 50)) for k in range(4)),
        rounds=rounds,
        degraded=(Degradation(step="judge", why="no usable reply in 3 attempts"),) if luck.random() < 0.04 else (),
        error="answer: no reply could be read in 3 attempts" if failed else "",
        usage=usage,
        seconds=sum(u.seconds for u in usage),
    )


def _said(luck: random.Random, words: int) -> str:
    return " ".join(luck.choices(_WORDS, k=words))
