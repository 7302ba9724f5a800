from __future__ import annotations

import importlib.util

import pytest

from videohv.errors import InputError
from videohv.video import PyAVDecoder, decoders, get_decoder
from videohv.video.decoder import decoder


def test_built_in_decoders() -> None:
    assert {"decord", "pyav"} <= set(decoders())
    assert isinstance(get_decoder(), PyAVDecoder)
    assert isinstance(get_decoder("auto"), PyAVDecoder)
    if importlib.util.find_spec("decord"):
        assert get_decoder("decord").name == "decord"


@pytest.mark.parametrize("name", ["pyav", "auto"])
def test_names_are_taken_once(name: str) -> None:
    with pytest.raises(InputError, match="already"):
        decoder(name)(PyAVDecoder)


def test_a_decoder_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.video.decoder._factories", {})

    @decoder("mine")
    class Mine(PyAVDecoder):
        name = "mine"

    assert isinstance(get_decoder("mine"), Mine)
    with pytest.raises(InputError, match="known are auto, mine"):
        get_decoder("pyav")
