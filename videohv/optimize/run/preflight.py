"""One real question through the whole program, and a call of every other model, before money is spent on many."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError

from videohv.errors import InputError, VideoHVError
from videohv.evaluate.jobs import Answerer, Job
from videohv.lm import lm_name
from videohv.lm.adapter import json_adapter
from videohv.lm.budget import OverBudget
from videohv.lm.call import Caller
from videohv.lm.redact import without_keys
from videohv.lm.roles import Assigned
from videohv.lm.usage import Ledger
from videohv.types import Outcome, RoleUsage, Trace, Value

TRIES = 3
"""Questions that a role may take until it brought something usable once: small models do not always."""

PROMPT_ROLE = "prompt writer"


class PreflightFailed(VideoHVError):
    """A role or model brought nothing in the preflight, so nothing more was spent.

    Attributes:
        failed: (role, why), each role once.
    """

    def __init__(self, failed: Sequence[tuple[str, str]]) -> None:
        self.failed = tuple(failed)
        said = "; ".join(f"{role}: {why}" for role, why in self.failed)
        super().__init__(f"the preflight failed, and nothing was compiled: {said}")


class Measured(Value):
    """What a question took in the preflight.

    Args:
        questions: How many were asked.
        calls: A question, those out of the cache included.
        tokens: A question, prompt and reply.
        cost: A question in US dollars, or None if no price is known.
        seconds: A question.
        prompt_seconds: Of the one call of the model that writes prompts; 0 if it was not called.
        roles: That were reached.
    """

    questions: int
    calls: float
    tokens: float
    cost: float | None = None
    seconds: float
    prompt_seconds: float = 0.0
    roles: tuple[str, ...] = ()


class Ready(dspy.Signature):
    """Say that you are ready."""

    word: str = dspy.InputField()
    reply: str = dspy.OutputField(desc="the same word")


def preflight(
    answer: Answerer,
    jobs: Iterable[Job],
    team: Sequence[Assigned],
    prompt_lm: dspy.BaseLM | None,
    tell: Callable[[str], None] = lambda what: None,
) -> Measured:
    """Try everything that a compile will need. What comes back stays in the response cache.

    Args:
        answer: Asks the program.
        jobs: Real questions; of the first, and as far as a role brought nothing usable, of the next ones, so many as
            `TRIES`.
        team: Which model each role of the program uses.
        prompt_lm: Writes instructions; None if no optimizer needs it.
        tell: Told what is tried.

    Raises:
        PreflightFailed: A role or a model brought nothing; the message says which and why.
        OverBudget: A budget had no room for it.
    """
    roles = {choice.role for choice, _ in team}
    worked: set[str] = set()
    failed: dict[str, str] = {}
    usage: list[RoleUsage] = []
    seconds = 0.0
    asked = 0
    for job in list(jobs)[:TRIES]:
        tell(f"question {job.question.id} through the whole program")
        trace = answer(job)
        asked += 1
        seconds += trace.seconds
        usage += trace.usage
        wrong = _wrong(trace, roles)
        worked |= {row.role for row in trace.usage if row.role not in wrong and _brought(row)}
        failed = {role: why for role, why in {**failed, **wrong}.items() if role not in worked}
        if not failed:
            break
        if trace.outcome in (Outcome.LM_FAILED, Outcome.MISSING_INPUT):
            break
    reached = {id(lm) for choice, lm in team if choice.role in worked}
    for choice, lm in team:
        if lm is None or id(lm) in reached or choice.role in failed:
            continue
        tell(f"{choice.role}: {choice.lm}")
        reached.add(id(lm))
        if why := _unreachable(lm, choice.role):
            failed[choice.role] = why
    prompt_seconds = 0.0
    if prompt_lm is not None:
        tell(f"{PROMPT_ROLE}: {lm_name(prompt_lm)}")
        began = time.perf_counter()
        if why := _unreachable(prompt_lm, PROMPT_ROLE):
            failed[PROMPT_ROLE] = why
        prompt_seconds = time.perf_counter() - began
    if failed:
        raise PreflightFailed(tuple(failed.items()))
    return _measured(usage, asked, seconds, prompt_seconds, worked)


def cached_only(lms: Iterable[dspy.BaseLM]) -> None:
    """Make sure that what was asked once is never asked again.

    Raises:
        InputError: A model is used without the response cache.
    """
    for lm in lms:
        if not lm.cache:
            raise InputError(
                f"{lm_name(lm)} is used without the response cache (cache=False), so that a compile could not go on "
                "after an interruption without asking everything again: make the LM with cache=True"
            )


def _wrong(trace: Trace, roles: set[str]) -> dict[str, str]:
    """Roles that brought nothing usable for a question, and why."""
    wrong = {step: why for step, why in ((d.step, d.why) for d in trace.degraded) if step in roles}
    if trace.outcome in (Outcome.ANSWERED, Outcome.ABSTAINED):
        return wrong
    if trace.outcome is Outcome.OVER_BUDGET:
        raise OverBudget(f"the preflight could not be ended: {trace.error}")
    step, _, why = trace.error.partition(": ")
    return {**wrong, step: why} if step in roles else {**wrong, str(trace.outcome): trace.error}


def _brought(row: RoleUsage) -> bool:
    return row.calls + row.cached_calls > row.failed_calls


def _unreachable(lm: dspy.BaseLM, role: str) -> str:
    """Why a model brings no reply at all; empty if it does. What it says does not matter."""
    caller = Caller(lm, role, Ledger())
    try:
        with dspy.context(adapter=json_adapter(), trace=None):
            dspy.Predict(Ready)(word="ready", lm=caller.lm())
    except AdapterParseError:
        return ""
    except OverBudget:
        raise
    except (LMError, VideoHVError) as error:
        lines = str(getattr(error, "message", "") or error).strip().splitlines()
        return f"{type(error).__name__}: {without_keys(lines[0], lm)[:200] if lines else ''}"
    return ""


def _measured(
    usage: Sequence[RoleUsage], asked: int, seconds: float, prompt_seconds: float, worked: set[str]
) -> Measured:
    sent = sum(row.calls for row in usage)
    calls = sent + sum(row.cached_calls for row in usage)
    tokens = sum(row.prompt_tokens + row.completion_tokens + row.spared_tokens for row in usage)
    costs = [row.cost for row in usage if row.cost is not None]
    # A sitting that was killed left replies in the cache, which cost neither money nor time any longer.
    scale = calls / sent if sent else 1.0
    return Measured(
        questions=asked,
        calls=calls / asked,
        tokens=tokens / asked,
        cost=sum(costs) * scale / asked if costs else None,
        seconds=seconds * scale / asked,
        prompt_seconds=prompt_seconds,
        roles=tuple(sorted(worked)),
    )
