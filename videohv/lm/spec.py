"""How a language model is named on the command line and in code: `provider/model[?option=value&…]`.

    embedded                                              the default embedded model
    embedded/qwen2.5-coder-0.5b                           another one of the catalogue
    embedded/models/my.gguf?threads=4                     an own file; absolute with a second slash
    openai/gpt-4o-mini?temperature=0                      whatever DSPy knows by name
    openai-compatible/qwen3-vl?api_base=http://host:8000  a server of one's own

A key is never part of a spec, because specs end up in logs, traces and shell histories.
"""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from pydantic import Field, ValidationError, field_validator

from videohv.errors import InputError
from videohv.types import Value

_SECRET = re.compile(r"(?<!_)key$|token$|secret|password|authorization", re.IGNORECASE)


class Options(Value):
    """What may follow the question mark. Each backend takes some of these.

    Args:
        temperature: 0 to 2.
        max_tokens: Longest reply.
        seed: For sampling; beats the seed given beside the spec.
        timeout: Seconds without a byte from the server.
        retries: How often DSPy tries again after a failure that may pass.
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
        return frozenset(self.model_fields_set)


class Spec(Value):
    """A parsed spec."""

    provider: str
    model: str
    options: Options = Options()

    def only(self, *allowed: str) -> None:
        """Raise `InputError` if an option was given that is not among those `allowed`."""
        if wrong := sorted(self.options.given - set(allowed)):
            raise InputError(
                f"{self.provider}/{self.model}: the option {wrong[0]!r} is not for this backend; "
                f"it takes {', '.join(sorted(allowed))}"
            )


def parse_spec(text: str) -> Spec:
    """Parse `provider/model[?option=value&…]`. Values are percent-decoded.

    Raises:
        InputError: If it is not of that form, or an option is unknown, doubled, out of range, or a secret.
    """
    name, mark, query = text.strip().partition("?")
    provider, slash, model = name.partition("/")
    if not provider or (slash and not model):
        raise InputError(f"model {name!r}: expected provider/model, such as openai/gpt-4o-mini or embedded")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if mark else []
    except ValueError:
        raise InputError(f"model {name!r}: after the question mark, expected option=value&option=value") from None
    values: dict[str, str] = {}
    for key, value in pairs:
        if _SECRET.search(key):
            raise InputError(
                f"model {name!r}: {key!r} does not belong in a spec; put the key into an environment variable"
            )
        if key not in Options.model_fields:
            raise InputError(f"model {name!r}: no option is called {key!r}; known: {', '.join(Options.model_fields)}")
        if key in values:
            raise InputError(f"model {name!r}: the option {key!r} is given twice")
        values[key] = value
    try:
        options = Options.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise InputError(f"model {name!r}, option {first['loc'][0]!r}: {first['msg']}") from None
    return Spec(provider=provider, model=model, options=options)
