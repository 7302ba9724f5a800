from __future__ import annotations

import copy
from typing import Literal

import pydantic

from videohv.lm.grammar import FIELD, WITHIN, bounded, constrained
from videohv.types import REPLY_ITEMS


class Span(pydantic.BaseModel):
    start: float = pydantic.Field(ge=0)
    label: str


class Stated(pydantic.BaseModel):
    option: Literal["A", "B"]
    statement: str
    short: str = pydantic.Field(max_length=7)
    spans: list[Span]


class Reply(pydantic.BaseModel):
    type: str
    hypotheses: list[Stated]
    many: list[int] = pydantic.Field(max_length=99)
    at_least: list[str] = pydantic.Field(min_length=20)
    note: str | None = None


SCHEMA = Reply.model_json_schema()


def test_texts_and_lists_get_a_bound_where_they_have_none() -> None:
    out = bounded(SCHEMA)
    fields, stated = out["properties"], out["$defs"]["Stated"]["properties"]
    assert fields["type"]["maxLength"] == FIELD.characters
    assert fields["hypotheses"]["maxItems"] == FIELD.items
    assert stated["statement"]["maxLength"] == WITHIN.characters
    assert stated["spans"]["maxItems"] == WITHIN.items
    assert fields["note"]["anyOf"] == [{"type": "string", "maxLength": FIELD.characters}, {"type": "null"}]


def test_lists_whose_length_the_prompts_limit_are_held_to_it() -> None:
    lists = {name: {"type": "array", "items": {"type": "string"}} for name in (*REPLY_ITEMS, "verdicts")}
    fields = bounded({"type": "object", "properties": lists})["properties"]
    assert {name: fields[name]["maxItems"] for name in REPLY_ITEMS} == REPLY_ITEMS
    assert fields["verdicts"]["maxItems"] == FIELD.items
    nested = bounded({"$defs": {"Shape": {"type": "object", "properties": lists}}})["$defs"]["Shape"]["properties"]
    assert nested["sights"]["maxItems"] == WITHIN.items, "inside a shape the names mean something else"


def test_a_bound_that_is_there_is_left() -> None:
    out = bounded(SCHEMA)
    assert out["$defs"]["Stated"]["properties"]["short"]["maxLength"] == 7
    assert out["properties"]["many"]["maxItems"] == 99
    assert out["properties"]["at_least"]["maxItems"] == 20


def test_choices_numbers_and_names_are_left() -> None:
    out = bounded(SCHEMA)
    stated = out["$defs"]["Stated"]
    assert stated["properties"]["option"] == SCHEMA["$defs"]["Stated"]["properties"]["option"]
    assert stated["required"] == ["option", "statement", "short", "spans"]
    assert out["$defs"]["Span"]["properties"]["start"]["minimum"] == 0


def test_the_input_is_left_alone() -> None:
    before = copy.deepcopy(SCHEMA)
    constrained({"type": "json_schema", "schema": SCHEMA})
    assert before == SCHEMA


def test_plain_json_mode_is_any_object_on_one_line() -> None:
    made = constrained({"type": "json_object"})
    assert made["type"] == "object"
    assert made["x-guidance"]["whitespace_flexible"] is False
