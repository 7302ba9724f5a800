"""A compile from Python: proof before an artifact, refusals before money, and what is kept when it stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.benchmark import make_benchmark
from tests.support.compiling import RULE, TRAP, taught_lm
from tests.support.engine import FakeEngine
from videohv.compiled import load_program, program_hash, read_artifact
from videohv.data.registry import load_questions
from videohv.errors import InputError, OptimizerFailed, VideoHVError
from videohv.evaluate.limits import Limits
from videohv.evaluate.manifest import read_manifest
from videohv.evaluate.results import compare_runs
from videohv.lm.roles import using
from videohv.modules.videohv import VideoHV
from videohv.optimize import Compiled, compile_program
from videohv.optimize.guard import CompileStopped, Reason
from videohv.optimize.run.card import card_of
from videohv.optimize.run.forecast import Forecast
from videohv.optimize.run.preflight import PreflightFailed
from videohv.optimize.run.progress import Phase, Progress
from videohv.optimize.run.split import Sizes, parts_of
from videohv.optimize.run.state import NAME

COUNT = 24


def compiled(folder: Path, lm: dspy.LM, **changes: Any) -> Compiled:
    root = folder / "data"
    if not root.exists():
        make_benchmark(root, COUNT)
    given: dict[str, Any] = {
        "optimizer": "planned",
        "captions": root / "captions.json",
        "sizes": Sizes(train=3, dev=2, test=4),
        **changes,
    }
    out = given.pop("out", folder / "best.json")
    program = given.pop("program", None) or VideoHV(rounds=1, workers=1)
    with using(lm):
        return compile_program(program, load_questions("egoschema:subset", data_root=root), out, **given)


def test_a_better_program_comes_with_its_proof(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    seed = VideoHV(rounds=1, workers=1)
    made = compiled(tmp_path, lm, program=seed)
    assert made.artifact == tmp_path / "best.json"
    assert made.proof.compiled.value == 1.0
    assert made.proof.seed.value < 1.0
    assert made.proof.difference.value == pytest.approx(made.proof.compiled.value - made.proof.seed.value)
    assert RULE in made.program.answer.predict.signature.instructions
    assert RULE not in seed.answer.predict.signature.instructions
    written = read_artifact(made.artifact)
    assert written is not None
    parts = parts_of(load_questions("egoschema:subset", data_root=tmp_path / "data"), Sizes(train=3, dev=2, test=4))
    assert (written.data.train, written.data.dev, written.data.test) == (
        parts.split.train,
        parts.split.dev,
        parts.split.test,
    )
    assert written.data.split_hash == parts.split.hash
    assert [(step.name, step.options["passes"]) for step in written.optimizers] == [("planned", 1)]
    assert written.scores[0].difference == made.proof.difference
    assert written.cost.calls == made.spent.calls == len(engine.requests)
    assert {model.name for model in written.models} == {"fake/model"}
    assert program_hash(load_program(made.artifact)) == program_hash(made.program) == written.program_hash
    assert (tmp_path / "best.md").read_text(encoding="utf-8") == card_of(written)


def test_the_runs_are_ordinary_ones(tmp_path: Path) -> None:
    made = compiled(tmp_path, taught_lm()[0])
    found = compare_runs(made.seed_run, made.compiled_run)
    assert found.contrast is not None
    assert (found.shared, found.contrast.n, found.warnings) == (4, 4, ())
    assert found.contrast.difference == made.proof.difference


def test_the_stride_thins_the_captions_out(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    made = compiled(tmp_path, lm, stride=4)
    asked = "".join(text for seen in engine.requests for text in seen.inputs.values())
    assert "moves tool 4," in asked
    assert "moves tool 1," not in asked
    assert read_manifest(made.seed_run).stride == read_manifest(made.compiled_run).stride == 4
    written = read_artifact(made.artifact)
    assert written is not None
    assert written.data.stride == 4
    assert "captions.json, one in 4" in card_of(written)


def test_a_worse_program_is_kept_under_another_name(tmp_path: Path) -> None:
    made = compiled(tmp_path, taught_lm()[0], options={"says": TRAP})
    assert made.proof.is_worse
    assert made.artifact == tmp_path / "best.worse.json"
    assert made.artifact.exists()
    assert not (tmp_path / "best.json").exists()
    written = read_artifact(made.artifact)
    assert written is not None
    assert "It did worse than the program that it was made from." in written.notes


def test_an_equal_program_is_said_to_be_equal(tmp_path: Path) -> None:
    made = compiled(tmp_path, taught_lm()[0], options={"says": "Be kind."})
    assert made.proof.is_equal
    assert made.artifact == tmp_path / "best.json"


def test_a_finished_compile_asks_nothing_again(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    first = compiled(tmp_path, lm)
    asked, written = len(engine.requests), first.artifact.read_bytes()
    again = compiled(tmp_path, lm)
    assert len(engine.requests) == asked
    assert again.artifact.read_bytes() == written
    assert (again.proof, again.learnt, again.spent) == (first.proof, first.learnt, first.spent)
    first.artifact.unlink()
    assert compiled(tmp_path, lm).artifact.exists()
    assert len(engine.requests) == asked


def test_another_compile_in_the_same_place_is_refused_by_what_differs(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    compiled(tmp_path, lm)
    asked = len(engine.requests)
    with pytest.raises(InputError) as refused:
        compiled(
            tmp_path,
            lm,
            options={"passes": 2},
            program=VideoHV(rounds=2, workers=1),
            roles=["judge"],
            sizes=Sizes(train=3, dev=2, test=5),
            stride=4,
            threads=3,
        )
    said = str(refused.value)
    for line in (
        "option passes of planned: 1 then, 2 now",
        "stride: 1 then, 4 now",
        "settings.rounds: 1 then, 2 now",
        "test: 4 questions then, 5 now",
        "then, judge now",
    ):
        assert line in said, said
    assert "threads" not in said
    assert len(engine.requests) == asked


def test_a_leak_is_caught_by_the_run(tmp_path: Path) -> None:
    lm, _ = taught_lm()
    with pytest.raises(VideoHVError, match="dev") as caught:
        compiled(tmp_path, lm, options={"leaks": True})
    parts = parts_of(load_questions("egoschema:subset", data_root=tmp_path / "data"))
    assert parts.split.dev[0] in str(caught.value)
    assert not list(tmp_path.glob("best*.json"))
    assert not (tmp_path / "best.json.work" / "seed").exists()


def test_the_preflight_names_the_role_that_failed(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    engine.scripts["judge"] = "I would rather not."
    with pytest.raises(PreflightFailed) as refused:
        compiled(tmp_path, lm)
    assert [role for role, _ in refused.value.failed] == ["judge"]
    assert "could not be read" in str(refused.value)
    assert {seen.inputs.get("question") for seen in engine.of("answer")} != set()
    assert not (tmp_path / "best.json").exists()


def test_the_preflight_calls_models_that_no_question_reaches(tmp_path: Path) -> None:
    lm, _ = taught_lm()
    lost = dspy.LM("fake/lost", engine=FakeEngine({"unknown": dspy.lm15.AuthError("no key")}), num_retries=0)
    with using(None, roles={"verifier.look": lost}), pytest.raises(PreflightFailed) as refused:
        compiled(tmp_path, lm)
    assert [role for role, _ in refused.value.failed] == ["verifier.look"]
    assert "no key" in str(refused.value)


def test_what_the_preflight_paid_for_is_not_paid_again(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    asked: list[int] = []

    def decline(forecast: Forecast) -> bool:
        asked.append(len(engine.requests))
        return False

    for _ in range(2):
        with pytest.raises(InputError, match="nobody agreed"):
            compiled(tmp_path, lm, confirm=decline)
    assert asked[0] == asked[1] > 0
    compiled(tmp_path, lm)
    assert len(prompts(engine)) == len(set(prompts(engine)))


def prompts(engine: FakeEngine) -> list[str]:
    return [repr((seen.system, sorted(seen.inputs.items()))) for seen in engine.requests]


def test_the_forecast_is_from_above_and_agreed_to_once(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    agreed: list[Forecast] = []

    def agree(forecast: Forecast) -> bool:
        agreed.append(forecast)
        return True

    compiled(tmp_path, lm, confirm=agree, options={"passes": 2})
    compiled(tmp_path, lm, confirm=agree, options={"passes": 2})
    assert len(agreed) == 1
    assert agreed[0].questions == 2 * 3 + 2 * 4
    assert agreed[0].calls >= len(engine.requests) - agreed[0].calls / agreed[0].questions
    assert agreed[0].tokens > 0


def test_a_limit_stops_it_and_more_of_it_goes_on(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    with pytest.raises(CompileStopped, match="preflight"):
        compiled(tmp_path, lm, limits=Limits(calls=3))
    with pytest.raises(CompileStopped) as stopped:
        compiled(tmp_path, lm, limits=Limits(calls=40))
    assert stopped.value.reason is Reason.BUDGET
    assert "run the same again to go on" in str(stopped.value)
    assert len(engine.requests) <= 40
    with pytest.raises(CompileStopped):
        compiled(tmp_path, lm, limits=Limits(calls=40))
    assert len(engine.requests) <= 40
    made = compiled(tmp_path, lm, limits=Limits(calls=10_000))
    assert made.proof.compiled.value == 1.0
    assert len(prompts(engine)) == len(set(prompts(engine)))
    assert made.spent.calls == len(engine.requests)


@pytest.mark.parametrize("after", [12, 34])
def test_an_outage_stops_it_and_keeps_what_was_learnt(tmp_path: Path, after: int) -> None:
    lm, engine = taught_lm()
    complete = engine.complete
    down = True

    def fails(request: Any) -> Any:
        if down and len(engine.requests) >= after:
            raise dspy.lm15.ServerError("down")
        return complete(request)

    engine.complete = fails  # type: ignore[method-assign]
    with pytest.raises(VideoHVError):
        compiled(tmp_path, lm)
    assert not list(tmp_path.glob("best*.json"))
    assert len(engine.requests) == after
    down = False
    made = compiled(tmp_path, lm)
    assert made.proof.compiled.value == 1.0
    assert len(prompts(engine)) == len(set(prompts(engine)))


def test_a_model_without_a_cache_is_refused(tmp_path: Path) -> None:
    lm, engine = taught_lm()
    with pytest.raises(InputError, match="fake/model is used without the response cache"):
        compiled(tmp_path, lm.copy(cache=False))
    assert engine.requests == []


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    lm, _ = taught_lm()

    def meanwhile(forecast: Forecast) -> bool:
        with pytest.raises(InputError, match="in use by another process"):
            compiled(tmp_path, lm)
        return True

    compiled(tmp_path, lm, confirm=meanwhile)


def test_an_artifact_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "best.json").write_text("mine")
    lm, engine = taught_lm()
    with pytest.raises(InputError, match="exists and no compile"):
        compiled(tmp_path, lm)
    assert engine.requests == []
    assert (tmp_path / "best.json").read_text() == "mine"


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    lm, _ = taught_lm()
    compiled(tmp_path, lm)
    (tmp_path / "best.json.work" / NAME).write_text("{}")
    with pytest.raises(InputError, match="no state of a compile"):
        compiled(tmp_path, lm)


def test_an_optimizer_may_change_its_roles_only(tmp_path: Path) -> None:
    with pytest.raises(OptimizerFailed, match=r"changed answer\.predict, which it may not"):
        compiled(tmp_path, taught_lm()[0], roles=["judge"])


def test_progress_goes_through_the_phases(tmp_path: Path) -> None:
    seen: list[Progress] = []
    compiled(tmp_path, taught_lm()[0], on_progress=seen.append, options={"passes": 2})
    assert list(dict.fromkeys(p.phase for p in seen)) == list(Phase)
    calls = [p.calls for p in seen]
    assert calls == sorted(calls)
    assert calls[-1] > 0
    assert [p.trial.number for p in seen if p.trial and p.phase is Phase.OPTIMISE][-1] == 2
    assert [p.scored.done for p in seen if p.scored][-1] == 4


def test_no_key_and_no_address_is_in_what_is_kept(tmp_path: Path) -> None:
    made = compiled(tmp_path, taught_lm()[0])
    state = json.loads((tmp_path / "best.json.work" / NAME).read_text())
    assert state["what"]["run"]["models"]
    assert str(tmp_path) not in made.artifact.read_text()
