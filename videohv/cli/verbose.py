"""`--verbose`: every prompt and every reply on stderr as it happens, without keys and without the bytes of pictures."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from videohv.cli.console import ERRORS, clean
from videohv.lm.about import lm_name, without_login
from videohv.lm.overheard import Asked, Ended, overhearing
from videohv.lm.redact import without_keys
from videohv.lm.reply import Finish
from videohv.modules.recorder import current

VerboseOption = Annotated[
    bool, typer.Option("--verbose", help="Show every prompt and reply on stderr as it happens, without keys.")
]

_DATA = re.compile(r"data:([\w.+-]*)(?:/[\w.+-]*)?(?:;[\w.+=-]*)*?;base64,([A-Za-z0-9+/=_-]*)")
_PNG = b"\x89PNG\r\n\x1a\n"


class Verbose:
    """A listener for `overhearing`: each prompt and each reply is one block, written in one piece.

    A reply has the number of its prompt, since others may come in between.

    Args:
        console: Where they are written.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, heard: Asked | Ended) -> None:
        """Write one block."""
        asked = heard if isinstance(heard, Asked) else heard.asked
        recorder = current()
        where = [asked.role, lm_name(asked.lm)]
        if recorder is not None:
            where += [recorder.question.id] if recorder.question.id else []
            where += [f"{what} {n}" for what, n in zip(("round", "look"), recorder.position, strict=True) if n]
        if isinstance(heard, Asked):
            head, body = f"prompt {asked.number}", "\n".join(_prompt(heard))
        else:
            head, body = f"reply {asked.number}", _reply(heard)
            where += _figures(heard)
        made = Text(f"── {head} ── {clean(', '.join(where))}\n", style="cyan")
        made.append(clean(without_keys(body, asked.lm)), style="default")
        # In one piece: the console writes what is printed at once under its lock.
        self._console.print(made, soft_wrap=True)


def verbosely(verbose: bool) -> AbstractContextManager[None]:
    """Inside the block every call is shown on stderr, if `verbose`."""
    return overhearing(Verbose(ERRORS)) if verbose else nullcontext()


def _prompt(asked: Asked) -> Iterator[str]:
    for message in asked.messages:
        if not isinstance(message, Mapping):
            yield without_data(str(message))
            continue
        content = message.get("content")
        yield f"{message.get('role', '?')}:"
        for part in [content] if isinstance(content, str) else content or ():
            yield _part(part)


def _part(part: Any) -> str:
    """One piece of a message: text as it is, anything else in a few words."""
    if isinstance(part, str):
        return without_data(part)
    if not isinstance(part, Mapping):
        return without_data(str(part))
    if isinstance(part.get("text"), str):
        return without_data(part["text"])
    kind = str(part.get("type", "?")).removeprefix("input_").removesuffix("_url")
    held = part.get("image_url", part.get("url"))
    address = held.get("url") if isinstance(held, Mapping) else held
    if not isinstance(address, str):
        return f"[{kind}]"
    return without_data(address) if address.startswith("data:") else f"[{kind} at {without_login(address)}]"


def _reply(ended: Ended) -> str:
    said = without_data(ended.reply.text) if ended.reply is not None else ""
    if ended.failure:
        said += f"{chr(10) if said else ''}failed: {without_data(ended.failure)}"
        said += "\nit is asked again" if ended.again else ""
    elif ended.reply is not None and ended.reply.finish is not Finish.WHOLE:
        why = f": {ended.reply.why}" if ended.reply.why else ""
        said += f"{chr(10) if said else ''}[{ended.reply.finish}{why}]"
    return said


def _figures(ended: Ended) -> Iterator[str]:
    reply = ended.reply
    if reply is not None and (reply.prompt_tokens or reply.completion_tokens):
        yield f"{reply.prompt_tokens} + {reply.completion_tokens} tokens"
    yield "from the cache" if ended.cached else f"{ended.seconds:.1f} s"


def without_data(text: str) -> str:
    """The text with each data URI replaced by what it holds, such as `[image 640x360, 42 KB]`."""
    return _DATA.sub(_told, text) if "base64," in text else text


def _told(match: re.Match[str]) -> str:
    kind, encoded = match.groups()
    try:
        data = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
    except binascii.Error:
        data = b""
    size = _size(data)
    pixels = f" {size[0]}x{size[1]}" if size else ""
    return f"[{kind or 'data'}{pixels}, {len(encoded) * 3 / 4000:.0f} KB]"


def _size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a JPEG or PNG file in pixels; None of anything else."""
    if data.startswith(_PNG) and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    at = 2 if data.startswith(b"\xff\xd8") else len(data)
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        # The frame headers are C0 to CF, but for the tables and the arithmetic coder among them.
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
