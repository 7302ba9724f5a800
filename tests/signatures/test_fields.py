from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from videohv.signatures.fields import Likelihood, Span, Time

time = TypeAdapter(Time)
share = TypeAdapter(Likelihood)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (12, 12),
        (12.5, 12.5),
        ("12", 12),
        ("12.5s", 12.5),
        ("[3 s]", 3),
        ("1:05", 65),
        ("01:02:03", 3723),
        ("7 seconds", 7),
    ],
)
def test_times_are_read_however_a_model_writes_them(written: object, read: float) -> None:
    assert time.validate_python(written) == read


@pytest.mark.parametrize("written", ["soon", "", "1:2:3:4", None, [1]])
def test_what_is_no_time_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        time.validate_python(written)


@pytest.mark.parametrize(
    ("written", "read"), [(0.8, 0.8), ("0.8", 0.8), ("80%", 0.8), (80, 0.8), (1, 1), ("0.5%", 0.005), (-1, 0), (1e9, 1)]
)
def test_shares_are_read_however_a_model_writes_them(written: object, read: float) -> None:
    assert share.validate_python(written) == pytest.approx(read)


@given(st.floats() | st.integers() | st.text(max_size=8))
def test_a_share_is_within_its_bounds_or_refused_or_not_a_number(written: object) -> None:
    try:
        value = share.validate_python(written)
    except ValidationError:
        return
    assert value != value or 0 <= value <= 1


def test_shapes_drop_what_a_model_adds() -> None:
    assert Span.model_validate({"start": "0:01", "end": 2, "note": "x"}) == Span(start=1, end=2)
