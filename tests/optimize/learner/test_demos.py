"""The rules for demonstrations."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import dspy
import pytest
from pydantic import BaseModel

from tests.support.clips import make_clip
from tests.support.engine import fake_lm
from tests.support.learning import a_task, all_right, an_example, asked
from videohv import signatures
from videohv.compiled.agents import SOURCE, agents_of, tell
from videohv.errors import InputError
from videohv.modules.methods import make_method
from videohv.optimize.guard import Guard
from videohv.optimize.learner.demos import longest_demo, plain_demo, source_of, takes_images, text_roles
from videohv.optimize.learner.teacher import Teacher
from videohv.optimize.registry import make_optimizer


class Framed(BaseModel):
    frame: dspy.Image
    at: float


def test_roles_that_are_shown_images_are_known() -> None:
    agents = dict(make_method("videohv").named_predictors())
    shown = {name for name, predictor in agents.items() if takes_images(predictor.signature)}
    assert shown == {"captioner.predict", "verifier.look"}
    assert takes_images(dspy.Signature("a: str, b: Framed -> c", custom_types={"Framed": Framed}))
    assert not takes_images(signatures.Judge)


def test_only_roles_that_read_text_get_any() -> None:
    program = make_method("videohv")
    assert text_roles(program, ["verifier.look", "verifier.check"]) == ("verifier.check",)
    with pytest.raises(InputError, match=r"verifier\.look: they are shown images"):
        text_roles(program, ["verifier.look"])
    direct = make_method("direct")
    with pytest.raises(InputError, match="direct"):
        text_roles(direct, [name for name, _ in direct.named_predictors()])


def test_demonstrations_are_plain_data_that_says_where_it_is_from() -> None:
    demo = plain_demo({"a": "[[ ## x ## ]]", "b": [Framed.model_construct(at=1.0, frame="f")], "c": True}, "q7")
    assert demo == {"a": "[ [ ## x ## ]]", "b": [{"at": 1.0, "frame": "f"}], "c": True, SOURCE: "q7"}
    assert source_of(demo) == "q7"
    assert source_of({"a": 1}) is None
    json.dumps(demo, allow_nan=False)


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), "data:image/png;base64,AAAA", {1: 2}])
def test_what_no_artifact_can_hold_makes_none(value: Any) -> None:
    assert plain_demo({"a": value}, "q7") is None


def test_room_is_half_of_the_smallest_context() -> None:
    lm, _ = fake_lm(context_tokens=4_000)
    small, _ = fake_lm(context_tokens=2_000)
    with dspy.context(lm=lm):
        assert longest_demo(2) == int(4_000 * 0.5 * 3.5 / 2)
        with dspy.context(videohv_role_lms={"judge": small}):
            assert longest_demo(2) == int(2_000 * 0.5 * 3.5 / 2)


def test_no_prompt_shows_where_a_demonstration_is_from() -> None:
    program = make_method("captions")
    program.captions.answer.demos = [
        {**{"captions": "c", "question": "q", "options": "A. a", "may_abstain": False}, **given, SOURCE: "secret-id"}
        for given in ({"reasoning": "r", "answer": "A", "confidence": 1.0},)
    ]
    lm, engine = fake_lm()
    for adapter in (None, dspy.ChatAdapter(), dspy.XMLAdapter()):
        messages = (adapter or dspy.JSONAdapter()).format(
            program.captions.answer.signature, program.captions.answer.demos, {"question": "?"}
        )
        assert "secret-id" not in str(messages)
        assert SOURCE not in str(messages)
    with dspy.context(lm=lm):
        program(**an_example(0).inputs())
    assert len(engine.requests) == 1


def test_they_reload_and_render_byte_for_byte(tmp_path: Path) -> None:
    with asked(all_right()):
        task = a_task(tmp_path)
        made = make_optimizer("bootstrap").improve(task)
    first, second = (_rendered(program) for program in (made, _reloaded(made)))
    assert first == second
    assert len(first) == len(task.roles)


def _reloaded(program: Any) -> Any:
    fresh = make_method("videohv")
    agents = [type(agent).model_validate_json(agent.model_dump_json()) for agent in agents_of(program)]
    tell(fresh, agents)
    return fresh


def _rendered(program: Any) -> dict[str, str]:
    adapter = dspy.JSONAdapter()
    return {
        name: str(adapter.format_demos(predictor.signature, predictor.demos))
        for name, predictor in program.named_predictors()
    }


class TestTeacher:
    def teacher(self, program: str = "videohv", **options: Any) -> Teacher:
        made = make_method(program, workers=1)
        names = [name for name, _ in made.named_predictors()]
        return Teacher(made, names, Guard(), **{"longest": 100_000, **options})

    def test_it_asks_each_question_once_and_tells_it_again(self) -> None:
        teacher = self.teacher()
        with asked() as engine:
            with dspy.context(trace=[]):
                first = teacher(**an_example(0).inputs())
                told = list(dspy.settings.trace)
            calls = len(engine.requests)
            again = teacher.deepcopy()
            with dspy.context(trace=[]):
                assert again(**an_example(0).inputs()) is first
                assert [step[1] for step in dspy.settings.trace] == [step[1] for step in told]
                own = {id(predictor) for predictor in again.predictors()}
                assert {id(step[0]) for step in dspy.settings.trace} <= own
        assert len(engine.requests) == calls

    def test_questions_without_an_id_are_not_confused(self) -> None:
        teacher = self.teacher("captions")
        bare = [example.question.model_copy(update={"id": ""}) for example in map(an_example, range(2))]
        with asked() as engine:
            for question in bare:
                teacher(question=question, captions=an_example(0).captions)
        assert len(engine.requests) == 2

    def test_a_step_that_failed_spoils_the_whole_trace(self) -> None:
        with asked({"judge": "nothing of use"}):
            lesson = self.teacher().lesson(an_example(0))
        assert lesson.prediction.answer is not None
        assert lesson.demos == {}

    def test_a_failed_question_teaches_nothing(self) -> None:
        with asked({"captions.answer": "nothing of use"}):
            lesson = self.teacher("captions").lesson(an_example(0))
        assert lesson.demos == {}

    def test_agents_that_are_shown_images_have_none_whatever_could_be_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("videohv.optimize.learner.teacher.plain_demo", lambda values, question: {"of": question})
        example = (
            an_example(0).copy(video=make_clip(tmp_path / "clip.mp4")).with_inputs("question", "captions", "video")
        )
        with asked() as engine:
            lesson = self.teacher().lesson(example)
        assert engine.of("look")[0].images
        assert "verifier.check" in lesson.demos
        assert "verifier.look" not in lesson.demos

    def test_what_is_too_long_is_left_out_and_named(self) -> None:
        with asked():
            lesson = self.teacher(longest=700).lesson(an_example(0))
        assert "summary.predict" in lesson.demos or "summary.predict" in lesson.too_long
        assert "verifier.locate" in lesson.too_long
        assert not set(lesson.demos) & set(lesson.too_long)

    def test_the_choice_among_calls_is_by_seed_and_question(self) -> None:
        with asked():
            ones, others = (
                [self.teacher(seed=seed).lesson(an_example(n)).demos["summary.predict"]["captions"] for n in range(6)]
                for seed in (1, 2)
            )
        with asked():
            assert [
                self.teacher(seed=1).lesson(an_example(n)).demos["summary.predict"]["captions"] for n in range(6)
            ] == ones
        assert ones != others
