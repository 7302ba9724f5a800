"""The submission of EgoSchema's Kaggle competition (`egoschema-public`): a CSV file with the columns `q_uid,answer`.

Upload it with  kaggle competitions submit -c egoschema-public -f FILE -m MESSAGE.
"""

from __future__ import annotations

import csv
import io

from videohv.evaluate.export.egoschema import checked
from videohv.evaluate.export.formats import Answers, export_format


@export_format("kaggle", benchmark="egoschema", suffix=".csv", about="for EgoSchema's Kaggle competition")
def write(answers: Answers) -> str:
    """The submission's text.

    Raises:
        InputError: If it isn't a run of the full set, or an answer is none of five options.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("q_uid", "answer"))
    lines.writerows(checked(answers).items())
    return text.getvalue()
