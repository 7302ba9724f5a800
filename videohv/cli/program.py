"""`videohv program`: compiled programs looked at and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from videohv.cli.console import OUT, say
from videohv.cli.prompts import agent_lines, change_lines
from videohv.compiled import agents_of, load_program, read_artifact, shipped
from videohv.compiled.artifact import SEED, Agent, Artifact
from videohv.compiled.changes import changes
from videohv.errors import InputError, ProgramError
from videohv.evaluate.columns import ABSENT, bounds, percent, plain, table
from videohv.modules.methods import make_method, method_names
from videohv.optimize.run.card import about, facts, limits, points, score_line

program = typer.Typer(help="Compiled programs.", no_args_is_help=True, rich_markup_mode=None)

JSONOption = Annotated[bool, typer.Option("--json", help="Print everything as one JSON value.")]
FullOption = Annotated[bool, typer.Option("--full", help="Leave nothing out and shorten nothing.")]


class Told(NamedTuple):
    """A program as it was named: what its agents are told, and what is recorded of it."""

    name: str
    method: str
    agents: tuple[Agent, ...]
    artifact: Artifact | None


@program.command("list")
def list_programs(as_json: JSONOption = False) -> None:
    """Show the compiled programs that come with the package."""
    found = [(name, _artifact(name)) for name in shipped()]
    if as_json:
        OUT.out(_json([{"name": name, **_listed(artifact)} for name, artifact in found]))
    elif found:
        OUT.out(
            table(
                ("name", "method", "optimizer", "model", "metric", "held out", "compiled", "difference to the seed"),
                [(name, *_row(artifact)) for name, artifact in found],
                right=(5,),
            )
        )
    else:
        say("none", "no compiled program comes with this version; make one with  videohv compile")


@program.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A name that `videohv program list` shows, or a file.")],
    full: FullOption = False,
    as_json: JSONOption = False,
) -> None:
    """Show a program: what it is, its figures and limits, and what each agent is told."""
    told = _told(name)
    if as_json:
        value = (
            told.artifact.model_dump(mode="json")
            if told.artifact
            else {"method": told.method, "agents": [agent.model_dump(mode="json") for agent in told.agents]}
        )
        OUT.out(_json(value))
        return
    if told.artifact is not None:
        _card(told.artifact)
    else:
        OUT.out(f"{told.name}\nA program of the method {told.method} as DSPy saves it: how it was made is not known.")
    own = _differing(told)
    for agent in told.agents:
        if full or agent.name in own:
            OUT.print()
            for line in agent_lines(agent, full=full):
                OUT.print(line)
    if not full and (same := [agent.name for agent in told.agents if agent.name not in own]):
        OUT.out(f"\nas the package has them (--full shows them too): {', '.join(same)}")


@program.command("diff")
def diff(
    a: Annotated[str, typer.Argument(help="A name, a file, or `seed` for the prompts that the package comes with.")],
    b: Annotated[str, typer.Argument(help="Likewise.")],
    full: FullOption = False,
    as_json: JSONOption = False,
) -> None:
    """Show what one program's agents are told and another's are not: - only in A, + only in B."""
    if a == b == SEED:
        raise InputError("both are the seed: name a compiled program")
    first = _told(a) if a != SEED else None
    second = _told(b) if b != SEED else None
    other = first or second
    assert other is not None
    first, second = first or _seed(other.method), second or _seed(other.method)
    if first.method != second.method:
        raise InputError(f"{a} is of the method {first.method!r} and {b} of {second.method!r}: they have other agents")
    made = changes(first.agents, second.agents)
    if as_json:
        OUT.out(_json([change.model_dump(mode="json") for change in made]))
        return
    for mark, one in (("A", first), ("B", second)):
        scores = f"; {score_line(one.artifact.scores[0])}" if one.artifact and one.artifact.scores else ""
        OUT.print(f"{mark}: {one.name}{scores}", markup=False)
    for change in made:
        OUT.print()
        for line in change_lines(change, full=full):
            OUT.print(line)
    changed = {change.agent for change in made}
    if same := [agent.name for agent in second.agents if agent.name not in changed]:
        OUT.out(f"\nthe same in both: {', '.join(same)}")


def _card(artifact: Artifact) -> None:
    OUT.print(plain(artifact.name), style="bold", markup=False)
    OUT.out(about(artifact))
    OUT.print()
    for score in artifact.scores:
        OUT.out(score_line(score))
    if artifact.scores:
        OUT.print()
    lines = facts(artifact)
    width = max(len(fact.name) for fact in lines)
    for fact in lines:
        OUT.print(f"{fact.name:<{width}}  ", style="cyan", end="")
        OUT.print(fact.text, markup=False)
    OUT.print()
    for limit in limits(artifact):
        OUT.out(f"- {limit}")


def _told(name: str) -> Told:
    artifact = read_artifact(name)
    if artifact is not None:
        return Told(plain(artifact.name), artifact.method, artifact.agents, artifact)
    problems = []
    for method in method_names():
        made = make_method(method)
        try:
            load_program(name, into=made)
        except ProgramError as error:
            problems.append((method, error))
        else:
            return Told(plain(Path(name).name), method, agents_of(made), None)
    raise next((error for method, error in problems if method == "videohv"), problems[0][1])


def _differing(told: Told) -> set[str]:
    """Agents that are told something else than this version's prompts; all of them, if it does not fit this version."""
    try:
        return {change.agent for change in changes(_seed(told.method).agents, told.agents)}
    except (ProgramError, InputError) as error:
        say("does not fit", str(error))
        return {agent.name for agent in told.agents}


def _seed(method: str) -> Told:
    return Told(SEED, method, agents_of(make_method(method)), None)


def _artifact(name: str) -> Artifact | None:
    try:
        return read_artifact(name)
    except ProgramError as error:
        say(name, str(error))
        return None


def _row(artifact: Artifact | None) -> tuple[str, ...]:
    if artifact is None:
        return (ABSENT,) * 7
    score = artifact.scores[0] if artifact.scores else None
    return (
        artifact.method,
        ", ".join(step.name for step in artifact.optimizers) or ABSENT,
        ", ".join(dict.fromkeys(model.name for model in artifact.models)) or ABSENT,
        score.metric if score else artifact.metric,
        str(score.compiled.n) if score else ABSENT,
        f"{percent(score.compiled.value)} ({bounds(score.compiled)})" if score else ABSENT,
        points(score.difference) if score else ABSENT,
    )


def _listed(artifact: Artifact | None) -> dict[str, Any]:
    return artifact.model_dump(mode="json", exclude={"agents", "name"}) if artifact is not None else {}


def _json(value: Any) -> str:
    return json.dumps(value, indent=1)
