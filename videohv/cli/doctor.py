"""`videohv doctor`: which models a run would use, whether they are there, and what they and this machine can do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import typer

import videohv.modules  # noqa: F401  The methods make their steps known.
from videohv.captioners.registry import captioner_names
from videohv.cli.console import OUT, clean
from videohv.cli.lms import LMOption, ProfileOption, RoleOption, VisionLMOption
from videohv.cli.machine import Machine, look_around
from videohv.lm.naming import name_models
from videohv.lm.probe import Probe, known_of, probe
from videohv.lm.roles import Assigned, Choice, assignments, looks
from videohv.lm.team import make_team
from videohv.types import Value

NOT_READY = 1
NOBODY = "none that sees images"


class Report(Value):
    """Args:
    ready: Whether a run would work, as far as was looked.
    problems: Why not, a line each.
    roles: What each step uses and who says so.
    models: What was found out about each distinct model.
    machine: What there is here.
    """

    ready: bool
    problems: tuple[str, ...]
    roles: tuple[Choice, ...]
    models: tuple[Probe, ...]
    machine: Machine


def doctor(
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Only resolve the names: ask no model, no server.")
    ] = False,
) -> int:
    """Show which model each step would use, ask each once, and look at what is installed. Downloads nothing.

    Exit code 0 if a run would work, 1 if not, 2 if what was given cannot be understood.
    """
    named = name_models(lm, vision_lm, role or (), profile)
    with make_team(named, fetch=False, tolerant=True).at_work():
        report = examine(assignments(), offline=offline)
    if as_json:
        OUT.out(json.dumps(report.model_dump(mode="json"), ensure_ascii=True))
    else:
        for line in as_text(report):
            OUT.out(clean(line))
    return 0 if report.ready else NOT_READY


def examine(team: tuple[Assigned, ...], *, offline: bool) -> Report:
    """Look at the machine and at each distinct model once."""
    machine = look_around()
    asked = {id(lm): lm for _, lm in team if lm is not None}
    seers = {id(lm) for choice, lm in team if lm is not None and looks(choice.role)}
    models = tuple(known_of(lm) if offline else probe(lm, show_picture=key in seers) for key, lm in asked.items())
    problems = [
        problem if problem.startswith(model.name) else f"{model.name}: {problem}"
        for model in models
        for problem in model.problems
    ]
    problems += [
        f"{choice.role}: no model is configured" for choice, lm in team if lm is None and not looks(choice.role)
    ]
    if not machine.pyav:
        problems.append("PyAV cannot be imported: no video can be read")
    if not seers and not machine.detectors:
        problems.append(
            "no model sees images and the detectors are not installed: name a --vision-lm, or  "
            "pip install 'videohv[local]'"
        )
    return Report(
        ready=not problems,
        problems=tuple(problems),
        roles=tuple(choice for choice, _ in team),
        models=models,
        machine=machine,
    )


def as_text(report: Report) -> Iterator[str]:
    """The report as lines."""
    yield "roles"
    wide = max(len(choice.role) for choice in report.roles)
    wider = max(len(choice.lm or NOBODY) for choice in report.roles)
    for choice in report.roles:
        yield f"  {choice.role:<{wide}}  {choice.lm or NOBODY:<{wider}}  {choice.origin}".rstrip()
    yield "models"
    for model in report.models:
        yield f"  {model.lm}"
        yield from (f"    {name:<12}{text}" for name, text in _about(model))
    yield "machine"
    yield from (f"  {name:<12}{text}" for name, text in _about_machine(report.machine))
    for problem in report.problems:
        yield f"not ready: {problem}"
    if report.ready:
        yield (
            "ready: a run would work"
            if any(model.structured for model in report.models)
            else "ready, as far as names go"
        )


def _about(model: Probe) -> Iterator[tuple[str, str]]:
    if model.server:
        yield "server", model.server
    if not model.structured and model.problems:
        yield from (("problem", problem) for problem in model.problems if problem != model.server)
        return
    if model.structured:
        yield "replies", f"{model.structured}{_took(model.structured_seconds)}"
    if model.images is not None:
        yield "images", f"{'seen' if model.images else 'not seen'}{_took(model.images_seconds)}"
    yield (
        "context",
        f"{model.context_tokens} tokens" if model.context_tokens else "not told; give context=… in the spec",
    )
    if model.prices is not None:
        yield "price", f"${model.prices[0]:g} in, ${model.prices[1]:g} out, for a million tokens"
    else:
        yield "price", "not known"
    yield "cache", "replies are kept and given again" if model.cached else "replies are not kept"
    yield from (("problem", problem) for problem in model.problems)
    yield from (("hint", hint) for hint in model.hints)


def _took(seconds: float | None) -> str:
    return f", {seconds:.2f} s" if seconds is not None else ""


def _about_machine(machine: Machine) -> Iterator[tuple[str, str]]:
    yield "python", machine.python
    yield "videohv", f"{machine.videohv}, DSPy {machine.dspy}"
    decord = f"decord {machine.decord}" if machine.decord else "no decord"
    yield "decoders", f"{'PyAV ' + machine.pyav if machine.pyav else 'no PyAV'}, {decord}"
    missing = "not installed: pip install 'videohv[local]'"
    yield "detectors", "installed" if machine.detectors else missing
    yield "embedded", "installed" if machine.embedded else missing
    yield "captioners", ", ".join(("auto", "lm", *captioner_names()))
    yield "cache", f"{machine.cache}, {_bytes(machine.cache_bytes)}; {_bytes(machine.free_bytes)} free"
    yield "replies", f"{machine.replies}, {_bytes(machine.replies_bytes)}"


def _bytes(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
