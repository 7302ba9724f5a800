"""A small benchmark of our own in the form of EgoSchema, and a server that answers each question always the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.support.engine import Seen, answer_reply, check_reply, default_reply, letters, seen_in
from tests.support.server import Fault, Request

_NUMBER = re.compile(r"person number (\d+)")


def make_benchmark(folder: Path, count: int, moments: int = 12) -> tuple[Path, Path]:
    """Write `count` questions, two a recording, and `moments` captions for each.

    Returns:
        What goes into `--data-root` and `--captions`.
    """
    home = folder / "egoschema"
    home.mkdir(parents=True)
    rows = {
        f"q{i:04d}": {
            "q_uid": f"q{i:04d}",
            "question": f"What does the person number {i} do?",
            **{
                f"option {k}": f"{what}, number {i}"
                for k, what in enumerate(("cooks", "reads", "sews", "digs", "runs"))
            },
            "truth": i % 5,
        }
        for i in range(count)
    }
    (home / "subset_anno.json").write_text(json.dumps(rows), encoding="utf-8")
    of = {uid: {"video_uid": f"r{i // 2}", "starting_sec": 0, "ending_sec": 180} for i, uid in enumerate(rows)}
    (home / "uid_to_ego4d.json").write_text(json.dumps(of), encoding="utf-8")
    captions = {uid: [f"#C C moves tool {second}, {uid}" for second in range(moments)] for uid in rows}
    (folder / "captions.json").write_text(json.dumps(captions), encoding="utf-8")
    return folder, folder / "captions.json"


def seen(request: Request) -> Seen:
    """What a request asks of which role."""
    system, user = request.body["messages"][0], request.body["messages"][1]["content"]
    text = user if isinstance(user, str) else "".join(part.get("text", "") for part in user)
    return seen_in(
        text, request.images, request.body.get("temperature"), request.schema is not None, str(system["content"])
    )


def number_of(request: Request) -> int | None:
    """The number of the question that a request is about, as far as it says so."""
    found = _NUMBER.search(request.text)
    return int(found.group(1)) if found else None


def steady(request: Request) -> str:
    """A reply that depends on role and question alone, whatever the attempt, so that runs can be compared.

    A third of the questions is answered rightly at once, some look twice, and some think again.
    """
    what = seen(request)
    number = number_of(request)
    dice = _dice(what.role, number)
    if what.role == "answer":
        shown = letters(what)
        return json.dumps(answer_reply(shown[dice % len(shown)], shown))
    if what.role == "check" and number is not None:
        return json.dumps(check_reply(("VERIFIED", "NOT_VERIFIED", "VERIFIED")[dice % 3]))
    return json.dumps(default_reply(what))


def faulty(faults: Callable[[Request], Fault | None]) -> Callable[[Request], str | Fault]:
    """`steady`, with a fault in its place where `faults` gives one."""
    return lambda request: faults(request) or steady(request)


def _dice(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4])
