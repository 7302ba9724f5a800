"""A key that a server repeats in every error is in nothing that a run writes, prints, logs or raises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine import default_reply, seen_in
from tests.support.server import Failure, FakeServer, Fault, Request

ENVIRONMENT_KEY = "planted/in+the environment-4711"
KEYRING_KEY = "planted/in+the keyring-0815"
FORMS = [
    form.encode(encoding)
    for key in (ENVIRONMENT_KEY, KEYRING_KEY)
    for form in (key, json.dumps(key)[1:-1], key.replace("/", "%2F").replace("+", "%2B").replace(" ", "%20"))
    for encoding in ("utf-8", "utf-16-le")
]

RUN = """
import contextlib, io, json, logging, os, pickle, sys, traceback
from pathlib import Path

out = Path(sys.argv[1])
logging.basicConfig(filename=out / "everything.log", level=logging.DEBUG)

import cloudpickle
import dspy
from tests.support.keyrings import FakeKeyring
import keyring

keyring.set_keyring(FakeKeyring({("videohv", "RING_KEY"): os.environ.pop("PLANT_IN_KEYRING")}))
for name in ("dspy", "openai", "httpx", "litellm"):
    logger = logging.getLogger(name)
    logger.setLevel(logging.DEBUG)
    logger.propagate = True

from videohv import VideoHV, configure
from videohv.cli import run
from videohv.lm import make_lm
from videohv.lm.roles import choices

specs = json.loads(os.environ["SPECS"])
clip = sys.argv[2]
asked = ["-q", "what?", "-o", "a", "-o", "b", "--rounds", "1"]
codes = []
for name, spec in specs.items():
    trace = ["--trace", str(out / f"{name}.json")]
    for options in (["--lm", spec, "--json"], ["--lm", specs["good"], "--role", f"judge={spec}"]):
        codes.append(run(["ask", clip, *asked, *trace, "--vision-lm", spec, *options]))
    codes.append(run(["caption", clip, "--vision-lm", spec, "--lm", spec, "--captioner", "lm"]))
    codes.append(run(["doctor", "--lm", spec]))
    questions, captions = sys.argv[3:5]
    given = ["--captions", captions, "--lm", spec, "--concurrency", "2"]
    codes.append(run(["eval", f"custom:{questions}", *given, "--out", str(out / f"run-{name}")]))
codes.append(run(["doctor", "--lm", specs["bad-env"], "--json"]))
(out / "codes.json").write_text(json.dumps(codes))

profile = out / "lab.toml"
profile.write_text("\\n".join(f'[{name}]\\nlm = "{spec}"\\nvision_lm = "{spec}"' for name, spec in specs.items()))
for name in specs:
    configure(profile=f"{profile}#{name}")
    (out / f"{name}-choices.json").write_text(json.dumps([choice.model_dump() for choice in choices()]))
    program = VideoHV(rounds=1, store=out / f"{name}.sqlite3")
    prediction = program(question="what?", options=["a", "b"], video=clip)
    (out / f"{name}-trace.json").write_text(prediction.trace.model_dump_json())
    (out / f"{name}-prediction.pickle").write_bytes(pickle.dumps(prediction.toDict()))
    (out / f"{name}-lm.pickle").write_bytes(cloudpickle.dumps(dspy.settings.lm))
    (out / f"{name}-lm.txt").write_text(repr(vars(dspy.settings.lm)) + str(dspy.settings.lm.dump_state()))
    (out / f"{name}-history.txt").write_text(repr(dspy.settings.lm.history))
    program.save(out / f"{name}-program.json")
    program.set_lm(dspy.settings.lm)
    program.save(out / f"{name}-bound-program.json")
    try:
        program.caption(clip)
    except Exception:
        (out / f"{name}-traceback.txt").write_text(traceback.format_exc())
"""


def played(request: Request) -> str:
    user = request.body["messages"][-1]["content"]
    text = user if isinstance(user, str) else "".join(part.get("text", "") for part in user)
    what = seen_in(text, request.images, None, request.schema is not None, "")
    return json.dumps(default_reply(what)) if what.role != "unknown" else "{}"


def repeats(request: Request) -> Fault:
    key = request.authorization
    said = f"invalid key {key}, that is {json.dumps(key)}\nsecond line: {key}"
    return Fault(Failure.SERVER_ERROR, status=401, message=said)


class Moody:
    """Answers, and now and then fails with the key in its mouth; sometimes in a way that is tried again."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> str | Fault:
        with self._lock:
            self._count += 1
            first, broken = self._count == 1, self._count % 5 == 0
        # The first is tried again, after a second.
        if first or broken:
            return Fault(Failure.SERVER_ERROR, status=500 if first else 400, message=f"no {request.authorization}")
        return played(request)


@pytest.fixture
def servers() -> Iterator[dict[str, FakeServer]]:
    # No list of models: a refused list repeats the key as well.
    with FakeServer(repeats, models=None) as bad, FakeServer(Moody(), models=None) as moody, FakeServer(played) as good:
        yield {"bad": bad, "moody": moody, "good": good}


def test_no_byte_of_a_planted_key_is_left_anywhere(servers: dict[str, FakeServer], tmp_path: Path) -> None:
    from tests.support.clips import make_clip

    clip = make_clip(tmp_path / "clip.mp4", frames=30, fps=10.0)
    out = tmp_path / "out"
    out.mkdir()
    questions, captions = tmp_path / "questions.jsonl", tmp_path / "captions.json"
    rows = [
        {"id": f"q{i}", "video": "v", "question": f"what {i}?", "options": ["a", "b"], "answer": 0} for i in range(3)
    ]
    questions.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    captions.write_text(json.dumps({"v": ["someone walks", "someone sits"]}), encoding="utf-8")
    specs = {
        "bad-env": servers["bad"].spec(key_env="LAB_KEY"),
        "bad-ring": servers["bad"].spec(key_env="RING_KEY"),
        "moody": servers["moody"].spec(key_env="RING_KEY", retries=1),
    }
    environment = {
        **{name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
        "LAB_KEY": ENVIRONMENT_KEY,
        "PLANT_IN_KEYRING": KEYRING_KEY,
        "SPECS": json.dumps({**specs, "good": servers["good"].spec(key_env="RING_KEY")}),
        "VIDEOHV_CACHE": str(out / "videohv-cache"),
        "DSPY_CACHEDIR": str(out / "dspy-cache"),
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }
    del environment["PYTHON_KEYRING_BACKEND"]
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(out), str(clip), str(questions), str(captions)],
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )
    (out / "stdout.txt").write_bytes(ran.stdout)
    (out / "stderr.txt").write_bytes(ran.stderr)
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]

    sent: set[str] = {request.authorization for server in servers.values() for request in server.requests}
    assert {f"Bearer {ENVIRONMENT_KEY}", f"Bearer {KEYRING_KEY}"} <= sent, "the servers did get the keys"
    written = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    assert_all_was_written(out, written)
    found: list[Any] = [
        (str(path.relative_to(out)), form, content[max(0, content.find(form) - 200) :][:400])
        for path, content in written.items()
        for form in FORMS
        if form in content
    ]
    assert found == []


def assert_all_was_written(out: Path, written: dict[Path, bytes]) -> None:
    """What is searched is what there is to search: errors, replies, logs, tracebacks."""
    everything = b"".join(written.values())
    assert b"invalid key" in everything
    assert b"[key]" in (out / "stdout.txt").read_bytes()
    assert any("dspy-cache" in path.parts and content for path, content in written.items())
    assert (out / "videohv-cache" / "captions.sqlite3") in written
    for name in ("bad-env", "bad-ring", "moody"):
        assert (out / f"run-{name}" / "manifest.json") in written
        assert written[out / f"run-{name}" / "results.jsonl"].count(b"\n") == 3
    assert b"Traceback" in (out / "bad-env-traceback.txt").read_bytes()
    assert b"dspy" in (out / "everything.log").read_bytes() or (out / "everything.log").stat().st_size > 0
    assert set(json.loads((out / "codes.json").read_text())) >= {0, 1}
