from __future__ import annotations

import pickle

import cloudpickle
import pytest

from tests.support.keyrings import keyring_with
from tests.support.server import FakeServer
from videohv.errors import InputError
from videohv.lm import keys, make_lm
from videohv.lm.keys import FromKeyring, find_key, from_keyring, keys_read
from videohv.lm.redact import scrubbed, without_keys

KEY = "planted in the keyring 7261"


def test_the_environment_comes_first_then_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    with keyring_with(openai=KEY) as ring:
        assert find_key(["OPENAI_API_KEY"], ["openai"]) == {"api_key": FromKeyring("openai")}
        assert ring.asked == [("videohv", "openai")]
        monkeypatch.setenv("OPENAI_API_KEY", "in the environment")
        assert find_key(["OPENAI_API_KEY"], ["openai"]) == {}
        assert len(ring.asked) == 1, "not even looked at"


def test_a_key_of_the_keyring_reaches_the_server_and_stays_on_no_lm() -> None:
    with FakeServer(lambda _: "hello") as server, keyring_with(LAB_KEY=KEY) as ring:
        lm = make_lm(server.spec(key_env="LAB_KEY"))
        for used in (lm, lm.copy(temperature=1.0), pickle.loads(cloudpickle.dumps(lm))):
            used("who?", cache=False)
            assert server.requests[-1].authorization == f"Bearer {KEY}"
            assert KEY not in str(used.history) + str(vars(used)) + str(used.dump_state())
            assert KEY.encode() not in cloudpickle.dumps(used)
        ring.held["videohv", "LAB_KEY"] = "a newer one"
        lm("who now?", cache=False)
        assert server.requests[-1].authorization == "Bearer a newer one", (
            "a key that was changed is the one that counts"
        )


def test_a_key_lies_under_its_variable_or_its_provider() -> None:
    with FakeServer(lambda _: "hello") as server, keyring_with(**{"openai-compatible": KEY}):
        make_lm(server.spec(key_env="LAB_KEY"))("hello?")
        assert server.requests[0].authorization == f"Bearer {KEY}"
        make_lm(server.spec())("hello without?")
        assert KEY not in server.requests[1].authorization, "only sent where the spec says that there is one"


def test_a_provider_that_dspy_speaks_to_takes_its_key_from_the_keyring() -> None:
    with FakeServer(lambda _: "hello") as server, keyring_with(openai=KEY):
        lm = make_lm("openai/gpt-4o-mini").copy(api_base=server.address)
        assert lm("keyring?") == ["hello"]
        assert server.requests[0].authorization == f"Bearer {KEY}"


def test_where_no_key_is_it_says_where_one_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with keyring_with(), pytest.raises(InputError, match=r"A_KEY or B_KEY, or .*  keyring set videohv lab$"):
        find_key(["A_KEY", "B_KEY"], ["lab"])
    with keyring_with(locked=True), pytest.raises(InputError, match=r"could not be read for 'lab': KeyringLocked"):
        find_key(["A_KEY"], ["lab"])
    monkeypatch.setattr(keys.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"\(needs  pip install 'videohv\[keyring\]'\)$"):
        find_key(["A_KEY"], ["lab"])


def test_without_a_keyring_on_the_machine_nothing_is_found() -> None:
    assert from_keyring("openai") is None


def test_a_key_that_went_is_missed_by_the_call_that_needs_it() -> None:
    with keyring_with(lab=KEY):
        assert FromKeyring("lab")() == KEY
    with pytest.raises(InputError, match="holds no key under 'videohv', 'lab'"):
        FromKeyring("lab")()


def test_a_key_that_was_read_is_taken_out_of_every_text() -> None:
    with keyring_with(lab=KEY):
        from_keyring("lab")
    assert KEY in keys_read()
    assert without_keys(f"refused: {KEY}!") == "refused: [key]!"


def test_an_error_is_scrubbed_with_all_that_led_to_it() -> None:
    with keyring_with(lab=KEY):
        from_keyring("lab")
    first = ValueError(f"no {KEY}", 7)
    first.message = f"and no {KEY}"  # type: ignore[attr-defined]
    second = RuntimeError(f"because of {KEY}")
    second.__cause__ = first
    first.__context__ = second
    assert scrubbed(second) is second
    assert str(second) == "because of [key]"
    assert first.args == ("no [key]", 7)
    assert first.message == "and no [key]"  # type: ignore[attr-defined]
