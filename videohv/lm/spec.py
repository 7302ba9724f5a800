"""How a language model is named on the command line and in code: `provider/model[?option=value&…]`.

    embedded                                              the default embedded model
    embedded/qwen2.5-coder-0.5b                           another one of the catalogue
    embedded/models/my.gguf?threads=4                     an own file; absolute with a second slash
    openai/gpt-4o-mini?temperature=0                      whatever DSPy knows by name
    ollama/qwen3                                          a local server at its usual address
    openai-compatible/qwen3-vl?api_base=http://host:8000  any other server of one's own

A key is never part of a spec, because specs end up in logs, traces and shell histories.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from pydantic import Field, ValidationError, field_validator

from videohv.errors import InputError
from videohv.lm.redact import without_keys
from videohv.types import Value

_SECRET = re.compile(r"key$|token$|secret|password|authorization", re.IGNORECASE)


class Options(Value):
    """What may follow the question mark. Each backend takes some of these.

    Args:
        temperature: 0 to 2.
        max_tokens: Longest reply.
        seed: For sampling; beats the seed given beside the spec.
        timeout: Seconds without a byte from the server.
        retries: How often a call is tried again after a failure that may pass; rate limits five times as often.
        api_base: Address of a server, `http(s)://host[:port][/path]`; without a path `/v1` is meant.
        key_env: Name of the environment variable that holds the server's key.
        context: Tokens of prompt and reply together.
        images: Whether the model sees images.
        threads: Threads of the embedded engine.
    """

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    seed: int | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None
    retries: Annotated[int, Field(ge=0, le=20)] | None = None
    api_base: str | None = None
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    context: Annotated[int, Field(ge=512)] | None = None
    images: bool | None = None
    threads: Annotated[int, Field(ge=1)] | None = None

    @field_validator("api_base")
    @classmethod
    def _plain_address(cls, address: str | None) -> str | None:
        if address is None:
            return None
        parts = urlsplit(address.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected http://host[:port][/path]")
        if "@" in parts.netloc:
            raise ValueError("an address must not carry a name or password; name a variable with key_env=")
        if parts.query or parts.fragment:
            raise ValueError("an address must not carry a query")
        return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/") or "/v1", "", ""))

    @property
    def given(self) -> frozenset[str]:
        """Names of the options that were given."""
        return frozenset(name for name in Options.model_fields if getattr(self, name) is not None)


class Spec(Value):
    """A parsed spec."""

    provider: str
    model: str
    options: Options = Options()

    def __str__(self) -> str:
        """As it is written; `parse_spec` reads it back."""
        name = f"{self.provider}/{self.model}" if self.model else self.provider
        given = self.options.model_dump(mode="json", exclude_none=True)
        written = "&".join(f"{key}={quote(_written(value), safe=':/,')}" for key, value in given.items())
        return f"{name}?{written}" if written else name

    def only(self, *allowed: str) -> None:
        """Raise `InputError` if an option was given that is not among those `allowed`."""
        if wrong := sorted(self.options.given - set(allowed)):
            raise InputError(
                f"{self.provider}/{self.model}: the option {wrong[0]!r} is not for this backend; "
                f"it takes {', '.join(sorted(allowed))}"
            )


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_spec(text: str) -> Spec:
    """Parse `provider/model[?option=value&…]`. Values are percent-decoded.

    Raises:
        InputError: If it is not of that form, or an option is unknown, doubled, out of range, or a secret.
    """
    name, mark, query = text.strip().partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if mark else []
    except ValueError:
        raise InputError(f"{_called(name)}: after the question mark, expected option=value&option=value") from None
    return make_spec(name, pairs)


def make_spec(name: str, options: Iterable[tuple[str, Any]]) -> Spec:
    """The spec of a `provider/model` with options that were already taken apart.

    Args:
        name: `provider/model`, or a provider alone where it has a default model.
        options: Names and values.

    Raises:
        InputError: As `parse_spec`. A value is never repeated, in case it is a secret.
    """
    provider, slash, model = name.partition("/")
    if not provider or (slash and not model):
        raise InputError(f"{_called(name)}: expected provider/model, such as openai/gpt-4o-mini or embedded")
    if without_keys(provider) != provider:
        raise InputError("a key stands where a model belongs: put it into an environment variable")
    values: dict[str, Any] = {}
    for key, value in options:
        if is_secret(key):
            raise InputError(
                f"{_called(name)}: {key!r} does not belong in a spec; put the key into an environment variable"
            )
        if key not in Options.model_fields:
            raise InputError(f"{_called(name)}: no option is called {key!r}; known: {', '.join(Options.model_fields)}")
        if key in values:
            raise InputError(f"{_called(name)}: the option {key!r} is given twice")
        values[key] = value
    try:
        made = Options.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise InputError(f"{_called(name)}, option {first['loc'][0]!r}: {first['msg']}") from None
    return Spec(provider=provider, model=model, options=made)


def is_secret(name: str) -> bool:
    """Whether something of this name would be a key, token or password; the name of a variable is none."""
    return _SECRET.search(name) is not None


def _called(name: str) -> str:
    # Whoever puts a key where a model belongs must not find it in a log.
    return f"model {without_keys(name)!r}"
