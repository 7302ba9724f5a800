"""The manifest of a run that is about to begin: read off the program, its models and its questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import dspy

from videohv.compiled.fingerprint import program_hash, signature_hashes
from videohv.data.dataset import Dataset, content_hash
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.manifest import Manifest, Recorded, code_version, dspy_version
from videohv.lm import lm_name
from videohv.lm.roles import eyes, lm_for, looks
from videohv.types import Model, Question

_SECRET_OR_PLACE = ("api_key", "api_base", "base_url", "headers", "extra_headers")
_SPEED_ONLY = ("workers",)
"""Settings that change how fast answers come and not which."""


def manifest_of(
    dataset: Dataset,
    questions: Sequence[Question],
    answerer: Answerer,
    *,
    orders: int = 1,
    program_name: str = "",
    concurrency: int = 1,
) -> Manifest:
    """What a run is, with the models that are in use in this context.

    Args:
        dataset: Where the questions come from.
        questions: Those that are asked, in that order.
        answerer: Who answers them.
        orders: Option orders under which each is asked.
        program_name: What the compiled program is called; empty for none.
        concurrency: LM calls at once; recorded, but not part of what the run is.
    """
    program, inputs = answerer.program, answerer.inputs
    return Manifest(
        benchmark=dataset.benchmark,
        split=dataset.split,
        part=dataset.part,
        source=", ".join(dataset.source),
        data_hash=content_hash(questions, dataset.subtitles),
        question_ids=tuple(question.id for question in questions),
        labelled=sum(question.answer_index is not None for question in questions),
        refused=len(dataset.problems),
        orders=orders,
        method=program.method,
        settings={k: v for k, v in program.settings.model_dump(mode="json").items() if k not in _SPEED_ONLY},
        program=program_name,
        program_hash=program_hash(program),
        signatures=tuple(signature_hashes(program).items()),
        models=tuple(_models(program)),
        captioner=program.captioner_name if inputs.videos is not None else "",
        captions=inputs.captions.name if inputs.captions is not None else "",
        captions_hash=inputs.captions_hash,
        stride=inputs.stride,
        videos=inputs.videos is not None,
        seed=program.settings.seed,
        code=code_version(),
        dspy=dspy_version(),
        recorded=Recorded(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            concurrency=concurrency,
        ),
    )


def _models(program: dspy.Module) -> Iterator[Model]:
    for agent, predictor in program.named_predictors():
        role = agent.removesuffix(".predict")
        lm = eyes(predictor.lm, role) if looks(role) else lm_for(role, predictor.lm)
        if lm is not None:
            yield model_of(role, lm)


def model_of(role: str, lm: dspy.BaseLM) -> Model:
    """What is recorded of the model that a role uses."""
    return Model(role=role, name=lm_name(lm), identity=str(lm.model), parameters=_parameters(lm))


def _parameters(lm: dspy.BaseLM) -> dict[str, Any]:
    """What is sent with each call, as far as it is plain; no key, no address."""
    return {
        name: value
        for name, value in lm.kwargs.items()
        if name not in _SECRET_OR_PLACE and value is not None and isinstance(value, str | int | float | bool)
    }
