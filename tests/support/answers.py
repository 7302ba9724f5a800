"""Replies of a fake server to what `videohv doctor` asks."""

from __future__ import annotations

import json

from tests.support.server import Request

SHAPE = json.dumps({"shape": "square", "count": 3})
HALVES = json.dumps({"left": "yellow", "right": "blue"})


def keeps_schemas(request: Request) -> str:
    """As a server that holds replies to their schema, with a model that sees."""
    if request.outputs == {"left", "right"}:
        return HALVES
    return SHAPE if request.schema is not None else "banana"


def ignores_schemas(request: Request) -> str:
    """As a server that takes no notice of schemas, with an able model that sees nothing."""
    if request.outputs == {"left", "right"}:
        return json.dumps({"left": "red", "right": "red"})
    return SHAPE if request.outputs else "banana"
