"""EgoSchema's submission: one JSON object from `q_uid` to the chosen option, 0 to 4, for all 5,031 questions.

The form that `validate.py` of egoschema/EgoSchema (commit c7a639fa) posts to the validation server.
"""

from __future__ import annotations

import json

from videohv.errors import InputError
from videohv.evaluate.export.formats import Answers, export_format

QUESTIONS = 5_031
OPTIONS = 5


@export_format("egoschema", benchmark="egoschema", suffix=".json", about="for EgoSchema's validation server")
def write(answers: Answers) -> str:
    """The submission's text.

    Raises:
        InputError: If it isn't a run of the full set, or an answer is none of five options.
    """
    return json.dumps(checked(answers), indent=0) + "\n"


def checked(answers: Answers) -> dict[str, int]:
    """The answers in the order of the questions, fit to be submitted.

    Raises:
        InputError: As `write`.
    """
    if len(answers.ids) != QUESTIONS:
        raise InputError(
            f"the run asks {len(answers.ids):,} questions and a submission needs all {QUESTIONS:,}: "
            "run egoschema:full without --limit, --ids and --types"
        )
    if wrong := [name for name, index in answers.given.items() if not 0 <= index < OPTIONS]:
        raise InputError(f"{len(wrong)} answers are none of the options 0 to {OPTIONS - 1}, such as that of {wrong[0]}")
    return {name: answers.given[name] for name in answers.ids}
