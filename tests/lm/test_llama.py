from __future__ import annotations

import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import pytest

from videohv.errors import InputError, ModelError
from videohv.lm import llama
from videohv.lm.llama import Llama, Refused, Threads, choose_context, choose_threads, cores, load


class Params(types.SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(
            model=types.SimpleNamespace(),
            cpuparams=types.SimpleNamespace(),
            cpuparams_batch=types.SimpleNamespace(),
        )


class Server:
    """Stands in for the native one: plays back `pieces`, or raises `error`, and notes how many were in it at once."""

    made: list[Server]
    pieces: list[dict[str, Any]]
    error: Exception | None = None

    def __init__(self, params: Params) -> None:
        if not Path(params.model.path).read_bytes().startswith(b"GGUF"):
            raise RuntimeError("")
        self.params = params
        self.bodies: list[dict[str, Any]] = []
        self.inside = self.most = 0
        self.made.append(self)

    def handle_chat_completions(self, body: dict[str, Any], callback: Any) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.bodies.append(body)
        threading.Event().wait(0.002)
        try:
            if self.error is not None:
                raise self.error
            for piece in self.pieces:
                if callback(piece):
                    return
        finally:
            self.inside -= 1


def said(*texts: str, finish: str | None = "stop") -> list[dict[str, Any]]:
    pieces: list[dict[str, Any]] = [
        {"choices": [{"finish_reason": None, "delta": {"content": text}}]} for text in texts
    ]
    pieces.append({"choices": [{"finish_reason": finish, "delta": {}}]})
    details = {"cached_tokens": 7}
    used = {"prompt_tokens": 11, "completion_tokens": 3, "prompt_tokens_details": details}
    return [*pieces, {"choices": [], "usage": used}]  # type: ignore[list-item]


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> type[Server]:
    class Fresh(Server):
        made: list[Server] = []  # noqa: RUF012
        pieces = said("hel", "lo")

    module = types.SimpleNamespace(
        CommonParams=Params, Server=Fresh, json_schema_to_grammar=lambda schema: f"grammar of {schema['type']}"
    )
    monkeypatch.setitem(sys.modules, "xllamacpp", module)  # type: ignore[arg-type]
    monkeypatch.setattr(llama, "require_llama", lambda: None)
    monkeypatch.setattr(llama, "_loaded", {})
    return Fresh


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and so on")
    return path


def model(gguf: Path) -> Llama:
    return load(gguf, 2048, Threads(2, 1))


def test_a_reply_is_put_together(native: type[Server], gguf: Path) -> None:
    reply = model(gguf).ask({"messages": []})
    assert reply == ("hello", "stop", 11, 7, 3)


def test_a_cut_reply_says_so(native: type[Server], gguf: Path) -> None:
    native.pieces = said("and so o", finish="length")
    assert model(gguf).ask({}).finish == "length"


def test_the_schema_becomes_a_grammar(native: type[Server], gguf: Path) -> None:
    model(gguf).ask({"seed": 1}, {"type": "json_schema", "schema": {"type": "object", "properties": {}}})
    (body,) = native.made[0].bodies
    assert body["grammar"] == "grammar of object"
    assert body["seed"] == 1


def test_a_model_is_loaded_once_whoever_asks(native: type[Server], gguf: Path) -> None:
    threads = [threading.Thread(target=model, args=(gguf,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(native.made) == 1
    assert load(gguf.parent / "." / gguf.name, 512, Threads(9, 9)) is model(gguf)


def test_a_forked_child_loads_its_own(native: type[Server], gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = model(gguf)
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert model(gguf) is not first


def test_requests_take_turns(native: type[Server], gguf: Path) -> None:
    loaded = model(gguf)
    threads = [threading.Thread(target=loaded.ask, args=({},)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(native.made[0].bodies) == 8
    assert native.made[0].most == 1


def test_nobody_else_can_use_the_port_it_opens(native: type[Server], gguf: Path) -> None:
    (key,) = model(gguf)._server.params.api_keys
    assert len(key) > 30


def test_a_file_that_is_no_model_is_named(native: type[Server], tmp_path: Path) -> None:
    (tmp_path / "no.gguf").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"no\.gguf could not be loaded as a GGUF model"):
        load(tmp_path / "no.gguf", 512, Threads(1, 1))


@pytest.mark.parametrize(
    ("error", "too_long", "invalid"),
    [
        ({"code": 400, "type": "exceed_context_size_error", "message": "too long"}, True, True),
        ({"code": 400, "type": "invalid_request_error", "message": "bad"}, False, True),
        ({"code": 500, "type": "server_error", "message": "broken"}, False, False),
    ],
)
def test_errors_keep_their_meaning(
    error: dict[str, Any], too_long: bool, invalid: bool, native: type[Server], gguf: Path
) -> None:
    native.pieces = [{"error": error}]
    with pytest.raises(Refused, match=error["message"]) as raised:
        model(gguf).ask({})
    assert (raised.value.too_long, raised.value.invalid) == (too_long, invalid)


@pytest.mark.parametrize(("error", "invalid"), [(ValueError("bad schema"), True), (RuntimeError("broken"), False)])
def test_what_the_runtime_raises_is_a_refusal(
    error: Exception, invalid: bool, native: type[Server], gguf: Path
) -> None:
    native.error = error
    with pytest.raises(Refused, match=str(error)) as raised:
        model(gguf).ask({})
    assert raised.value.invalid is invalid


def test_a_reply_without_an_end_is_none(native: type[Server], gguf: Path) -> None:
    native.pieces = said("cut o")[:1]
    with pytest.raises(Refused, match="broke off"):
        model(gguf).ask({})


def test_an_interrupt_ends_the_wait_and_the_generation(
    native: type[Server], gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(server: Server, body: dict[str, Any], callback: Any) -> None:
        begun.set()
        while not callback(said("on and on ")[0]):
            time.sleep(0.001)
        ended.set()

    def interrupted(*_: Any, **__: Any) -> None:
        assert begun.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(native, "handle_chat_completions", endless)
    monkeypatch.setattr(llama, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model(gguf).ask({})
    assert ended.wait(10)


def test_threads_leave_one_core_when_generating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIDEOHV_THREADS", raising=False)
    for available, expected in ((1, (1, 1)), (2, (2, 1)), (8, (8, 7))):
        monkeypatch.setattr(llama, "cores", lambda available=available: available)
        assert choose_threads() == expected
    monkeypatch.setenv("VIDEOHV_THREADS", "3")
    assert choose_threads() == (3, 3)
    assert choose_threads(5) == (5, 5)
    monkeypatch.setenv("VIDEOHV_THREADS", "many")
    with pytest.raises(InputError, match="VIDEOHV_THREADS is 'many'"):
        choose_threads()


def test_a_containers_quota_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(llama, "_CGROUP_QUOTA", quota)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)), raising=False)
    assert cores() == 16
    quota.write_text("max 100000\n")
    assert cores() == 16
    quota.write_text("250000 100000\n")
    assert cores() == 2
    quota.write_text("10000 100000\n")
    assert cores() == 1


def test_the_context_is_halved_on_a_small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama, "_memory", lambda: 32 << 30)
    assert choose_context() == 16_384
    monkeypatch.setattr(llama, "_memory", lambda: 4 << 30)
    assert choose_context() == 8192
    assert choose_context(1024) == 1024
