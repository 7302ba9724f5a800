from __future__ import annotations

import copy
import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.engine import FakeEngine
from tests.support.server import FakeServer
from videohv import signatures
from videohv.lm import make_lm
from videohv.lm.adapter import DEEPEST, KeepingJSONAdapter, Kept, json_adapter

SIGNATURES = [getattr(signatures, name) for name in signatures.__all__]
PIXEL = dspy.Image("data:image/png;base64,iVBORw0KGgo=")


def value_for(annotation: Any, text: str = "[[ ## x ## ]] a “text”,\n two lines") -> Any:
    """Something that fits an input field."""
    return {str: text, bool: True, float: 12.5, int: 3}.get(annotation, [PIXEL, PIXEL])


def inputs_of(signature: Any, **changes: Any) -> dict[str, Any]:
    return {name: value_for(field.annotation) for name, field in signature.input_fields.items()} | changes


REPLIES: dict[str, Any] = {
    "summary": "s",
    "windows": [{"start": 1, "end": 2}],
    "captions": [{"time": 1, "seen": "x"}],
    "sights": [{"time": 1, "seen": "x"}],
    "hypotheses": [{"option": "A", "statement": "x", "plausibility": 0.5}],
    "comparison": "c",
    "clue": "c",
    "predictions": [{"option": "A", "expectation": "x"}],
    "quality": "DISTINCT",
    "rationale": "r",
    "verdicts": [{"option": "A", "why": "x", "support": "supported"}],
    "status": "VERIFIED",
    "wanted": [],
    "conflicts": [],
    "reasoning": "r",
    "answer": "A",
    "confidence": 0.5,
    "certainty": 2,
    "missing": "m",
    "options": ["a", "b"],
}


def reply_for(signature: Any) -> dict[str, Any]:
    return {name: REPLIES[name] for name in signature.output_fields}


def sent(adapter: dspy.Adapter, signature: Any, demos: list[dict[str, Any]]) -> str:
    """The body that a server gets."""
    with FakeServer(lambda request: json.dumps(reply_for(signature))) as server:
        lm = make_lm(server.spec()).copy(cache=False)
        with dspy.context(adapter=adapter, disable_history=True, warn_on_type_mismatch=False):
            dspy.Predict(signature)(lm=lm, demos=demos, **inputs_of(signature))
        (request,) = server.requests
    return json.dumps(request.body)


def demos_of(signature: Any) -> list[dict[str, Any]]:
    whole = inputs_of(signature) | reply_for(signature)
    return [whole, {name: value for number, (name, value) in enumerate(whole.items()) if number != 1}]


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda s: s.__name__)
@pytest.mark.parametrize("with_demos", [False, True], ids=["bare", "demos"])
def test_what_is_sent_is_what_dspy_sends(signature: Any, with_demos: bool) -> None:
    demos = demos_of(signature) if with_demos else []
    keeping = KeepingJSONAdapter()
    reference = sent(dspy.JSONAdapter(), signature, demos)
    for _ in range(2):
        assert sent(keeping, signature, demos) == reference


def test_the_key_of_the_response_cache_stays_the_same() -> None:
    lm = dspy.LM("fake/keyed", engine=FakeEngine({"judge": reply_for(signatures.Judge)}), num_retries=0)
    engine: FakeEngine = lm.engine
    for adapter in (dspy.JSONAdapter(), keeping := KeepingJSONAdapter(), keeping):
        with dspy.context(adapter=adapter):
            dspy.Predict(signatures.Judge)(lm=lm, **inputs_of(signatures.Judge, question="kept under one key"))
    assert len(engine.requests) == 1


def test_what_an_optimizer_changes_is_sent() -> None:
    keeping, plain = KeepingJSONAdapter(), dspy.JSONAdapter()
    base = signatures.Judge
    changed = [
        base,
        base.with_instructions("Something else."),
        base.with_updated_fields("clue", desc="another description"),
        base.append("extra", dspy.OutputField(), str),
        base.delete("quality"),
    ]
    for _ in range(2):
        for signature in changed:
            inputs = inputs_of(signature)
            assert keeping.format(signature, [], inputs) == plain.format(signature, [], inputs)


def test_a_signature_changed_in_place_is_noticed() -> None:
    signature = signatures.Summarize.with_instructions("First.")
    keeping, plain = KeepingJSONAdapter(), dspy.JSONAdapter()
    inputs = inputs_of(signature)
    keeping.format(signature, [], inputs)
    signature.instructions = "Second."
    signature.output_fields["summary"].json_schema_extra["desc"] = "third"
    formatted = keeping.format(signature, [], inputs)
    assert formatted == plain.format(signature, [], inputs)
    assert "Second." in formatted[0]["content"]
    assert "third" in formatted[0]["content"]


def test_a_schema_that_somebody_writes_into_is_not_spoiled_for_others() -> None:
    engine = FakeEngine()
    lm = dspy.LM("fake/model", engine=engine, cache=False)
    keeping, seen = KeepingJSONAdapter(), []
    for _ in range(2):
        chosen: dict[str, Any] = {}
        keeping._prepare_response_format(lm, chosen, signatures.Judge)
        schema = chosen["response_format"].model_json_schema()
        seen.append(json.dumps(schema))
        schema["properties"].clear()
    assert seen[0] == seen[1]


def test_a_model_without_schemas_gets_none_beside_one_with() -> None:
    keeping = KeepingJSONAdapter()
    able = dspy.LM("fake/able", engine=FakeEngine(), cache=False)
    unable = dspy.LM("fake/unable", engine=FakeEngine(supported_params=frozenset()), cache=False)
    for lm, expected in ((able, 1), (unable, 0), (able, 1)):
        chosen: dict[str, Any] = {}
        keeping._prepare_response_format(lm, chosen, signatures.Judge)
        assert len(chosen) == expected


@settings(max_examples=50)
@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.text(), max_size=3)))
def test_every_value_is_said_as_dspy_says_it(value: Any) -> None:
    signature = dspy.Signature("thing, other -> answer")
    inputs = {"thing": value, "other": "x"}
    assert json_adapter().format(signature, [], inputs) == dspy.JSONAdapter().format(signature, [], inputs)


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda s: s.__name__)
@settings(max_examples=20)
@given(data=st.data())
def test_every_reply_is_read_as_dspy_reads_it(signature: Any, data: st.DataObject) -> None:
    odd = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
    odd = st.one_of(odd, st.lists(odd, max_size=2), st.just("A"), st.just("[]"))
    fields = reply_for(signature)
    for name in data.draw(st.lists(st.sampled_from([*fields, "unasked"]), max_size=2)):
        fields[name] = data.draw(odd)
    if data.draw(st.booleans()):
        fields.pop(data.draw(st.sampled_from(sorted(fields))))
    text = data.draw(st.sampled_from(["{}", "```json\n{}\n```", "Well: {}", "[{}]"])).replace("{}", json.dumps(fields))
    assert outcome(json_adapter(), signature, text) == outcome(dspy.JSONAdapter(), signature, text)


def outcome(adapter: dspy.Adapter, signature: Any, text: str) -> str:
    try:
        return repr(adapter.parse(signature, text))
    except Exception as error:
        return f"{type(error).__name__} {str(error).replace(type(adapter).__name__, 'JSONAdapter')}"


@pytest.mark.parametrize("reply", ["[" * 5_000, '{"summary": ' * (DEEPEST + 1), '{"summary": "' + "x" * 200_000])
def test_what_would_take_minutes_to_repair_is_not(reply: str) -> None:
    with pytest.raises(dspy.AdapterParseError, match="too long to be repaired, or nested"):
        json_adapter().parse(signatures.Summarize, reply)


def test_what_is_kept_is_bounded_and_the_latest_stays() -> None:
    kept = Kept(3)
    for number in range(10):
        assert kept.get("first", lambda: "kept") == "kept"
        assert kept.get(number, lambda number=number: number) == number
    assert len(kept) == 3
    assert kept.get("first", lambda: "made anew") == "kept"
    keeping = KeepingJSONAdapter()
    keeping._kept = Kept(8)
    for number in range(10):
        keeping.format(dspy.Signature("a -> b", f"Number {number}."), [], {"a": "x"})
    assert len(keeping._kept) == 8


def test_threads_get_whole_results() -> None:
    keeping, plain, start = KeepingJSONAdapter(), dspy.JSONAdapter(), threading.Barrier(16)
    expected = {s: plain.format(s, [], inputs_of(s)) for s in SIGNATURES}

    def work(_: int) -> bool:
        start.wait()
        return all(keeping.format(s, [], inputs_of(s)) == expected[s] for s in SIGNATURES * 3)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(16)))


def test_it_can_be_copied_and_pickled() -> None:
    keeping = KeepingJSONAdapter(use_native_function_calling=False)
    keeping.format(signatures.Judge, [], inputs_of(signatures.Judge))
    for other in (copy.deepcopy(keeping), pickle.loads(pickle.dumps(keeping))):
        assert other.use_native_function_calling is False
        assert len(other._kept) == 0
    assert json_adapter() is json_adapter()
