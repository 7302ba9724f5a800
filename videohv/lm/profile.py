"""A profile: the models of a run in a TOML file, under names if there are several.

    lm = "ollama/qwen3"                                  # used by  --profile lab.toml

    [mixed]                                              # used by  --profile lab.toml#mixed
    lm = "openai/gpt-4o-mini?temperature=0"
    vision_lm = { model = "vllm/qwen3-vl", api_base = "http://lab:8000", key_env = "LAB_KEY" }

    [mixed.roles]
    judge = "anthropic/claude-sonnet-4-5"
    verifier.check = { model = "openai/gpt-4o", temperature = 0 }

Keys do not belong in it; `key_env` names the environment variable that holds one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from videohv.errors import InputError
from videohv.lm.roles import LM, VISION, check_role
from videohv.lm.spec import Options, Spec, is_secret, make_spec, parse_spec

_KEYS = (LM, VISION, "roles")


class Entry(NamedTuple):
    """One line of a profile: what it sets (`lm`, `vision_lm` or a role), the spec, and where it says so."""

    setting: str
    spec: Spec
    origin: str


class _Place(NamedTuple):
    """Where in the file something stands, for messages."""

    file: str
    table: str

    def __str__(self) -> str:
        return f"{self.file}, [{self.table}]" if self.table else f"{self.file}, at the top"

    def inside(self, key: str) -> _Place:
        return _Place(self.file, f"{self.table}.{key}" if self.table else key)


def read_profile(where: str) -> tuple[Entry, ...]:
    """The models that a profile names.

    Args:
        where: `lab.toml` for what stands at the top of the file, `lab.toml#name` for the table `[name]`.

    Raises:
        InputError: If the file cannot be read, has no such profile, or holds anything but specs for known roles. The
            message names file, table and key; it never repeats a value.
    """
    file, mark, name = where.partition("#")
    path = Path(file).expanduser()
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"profile {file}: {error.strerror or type(error).__name__}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"profile {file} is not TOML: {error}") from None
    named = {key: table for key, table in whole.items() if key not in _KEYS and isinstance(table, dict)}
    at_top = {key: value for key, value in whole.items() if key not in named}
    # The whole file is read whichever profile is meant: a slip in another one shall not wait for its day.
    read = {key: _read(table, _Place(file, key), f"{file}#{key}") for key, table in named.items()}
    top = _read(at_top, _Place(file, ""), file)
    if not mark:
        if not top:
            known = f"; name one of its profiles: {', '.join(f'{file}#{key}' for key in read)}" if read else ""
            raise InputError(f"profile {file}: no model is named at its top{known}")
        return top
    if name not in read:
        raise InputError(f"profile {file}: it has no [{name}]; there is {', '.join(read) or 'none'}")
    return read[name]


def _read(table: dict[str, Any], place: _Place, origin: str) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for key, value in table.items():
        if key == "roles":
            if not isinstance(value, dict):
                raise InputError(f"{place}: 'roles' must be a table of roles and specs")
            entries += _roles(value, place.inside(key), origin)
        elif key in _KEYS:
            entries.append(Entry(key, _spec(value, place.inside(key)), f"{origin}, {key}"))
        else:
            raise _refused(key, place, _KEYS)
    return tuple(entries)


def _roles(table: dict[str, Any], place: _Place, origin: str, family: str = "") -> Iterator[Entry]:
    for key, value in table.items():
        role = family + key
        if is_secret(key):
            raise _refused(key, place, ())
        check_role(role, str(place))
        # `verifier.check = …` is written without quotes as well, which TOML reads as a table within a table.
        if isinstance(value, dict) and not value.keys() & {"model", *Options.model_fields}:
            yield from _roles(value, place.inside(key), origin, f"{role}.")
        else:
            yield Entry(role, _spec(value, place.inside(key)), f"{origin}, role {role}")


def _spec(value: Any, place: _Place) -> Spec:
    if isinstance(value, dict):
        for key in value:
            if key != "model" and key not in Options.model_fields:
                raise _refused(key, place, ("model", *Options.model_fields))
        name = value.get("model")
        if not isinstance(name, str) or "?" in name:
            raise InputError(f"{place}: 'model' must be provider/model, with its options beside it")
        return _said(place, lambda: make_spec(name, [(k, v) for k, v in value.items() if k != "model"]))
    if not isinstance(value, str):
        raise InputError(
            f"{place}: expected a spec such as \"openai/gpt-4o-mini\", or a table with 'model' and options"
        )
    return _said(place, lambda: parse_spec(value))


def _said(place: _Place, make: Any) -> Spec:
    try:
        made: Spec = make()
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    return made


def _refused(key: str, place: _Place, known: tuple[str, ...]) -> InputError:
    if is_secret(key):
        return InputError(
            f"{place}: {key!r} does not belong in a profile: put the key into an environment variable (key_env names "
            "it) or a keyring"
        )
    return InputError(f"{place}: no key is called {key!r}; known: {', '.join(known)}")
