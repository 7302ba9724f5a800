"""The embedded engine: DSPy's requests answered by llama.cpp inside this process."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import dspy
from dspy import lm15

from videohv.errors import ModelError
from videohv.lm.llama import Llama, Refused, Reply, Threads, load

MAX_TOKENS = 1024


@dataclass(frozen=True)
class EmbeddedEngine:
    """A DSPy engine on one GGUF file. It is only a description; the model itself is loaded at the first request.

    Args:
        path: The GGUF file.
        context_tokens: Prompt and reply together.
        threads: How many work on it.
    """

    path: Path
    context_tokens: int
    threads: Threads

    supports_images: ClassVar[bool] = False
    supports_response_schema: ClassVar[bool] = True
    supported_params: ClassVar[frozenset[str]] = frozenset(
        {"temperature", "max_tokens", "top_p", "top_k", "seed", "stop", "response_format"}
    )

    def load(self) -> Llama:
        """The model, loaded if it was not.

        Raises:
            MissingExtra: If the runtime is not installed.
            ModelError: If the file cannot be loaded.
        """
        return load(self.path, self.context_tokens, self.threads)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer one request.

        Raises:
            lm15.UnsupportedFeatureError: If it holds anything but text.
            lm15.ContextLengthError: If it does not fit into the context.
            lm15.InvalidRequestError: If its schema cannot be made into a grammar.
            lm15.ServerError: If llama.cpp fails; DSPy tries again.
            lm15.ConfigurationError: If the model cannot be loaded.
        """
        body = chat_body(request)
        try:
            model = self.load()
        except ModelError as error:
            raise lm15.ConfigurationError(str(error)) from error
        try:
            reply = model.ask(body, request.config.response_format)
        except Refused as refused:
            raise _canonical(refused) from refused
        return _response(request, reply)

    def dump_state(self) -> dict[str, Any]:
        """What a saved program needs to have this engine again on the same machine."""
        return {"path": str(self.path), "context_tokens": self.context_tokens, "threads": list(self.threads)}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> EmbeddedEngine:
        """The engine that `dump_state` described."""
        return cls(Path(state["path"]), state["context_tokens"], Threads(*state["threads"]))


@dataclass(frozen=True)
class AsyncEmbeddedEngine:
    """The same for `acall`: the event loop goes on while the model works."""

    engine: EmbeddedEngine

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer one request, as `EmbeddedEngine.complete`."""
        return await asyncio.to_thread(self.engine.complete, request)

    def dump_state(self) -> dict[str, Any]:
        """See `EmbeddedEngine`."""
        return self.engine.dump_state()

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> AsyncEmbeddedEngine:
        """See `EmbeddedEngine`."""
        return cls(EmbeddedEngine.load_state(state))


def embedded_lm(name: str, engine: EmbeddedEngine, **options: Any) -> dspy.LM:
    """A DSPy LM on an engine. DSPy's response cache knows the model by `name` only, so it must tell models apart."""
    return dspy.LM(f"embedded/{name}", engine=engine, async_engine=AsyncEmbeddedEngine(engine), **options)


def chat_body(request: lm15.Request) -> dict[str, Any]:
    """An lm15 request as an OpenAI-compatible chat completion, greedy unless it says otherwise.

    Raises:
        lm15.UnsupportedFeatureError: If it holds images, tools or anything else that is not text.
    """
    if request.tools:
        raise lm15.UnsupportedFeatureError("this model cannot call tools", feature="tools")
    messages = []
    if request.system is not None:
        system = request.system if isinstance(request.system, str) else _text(request.system)
        messages.append({"role": "system", "content": system})
    for message in request.messages:
        role = "system" if message.role == "developer" else message.role
        messages.append({"role": role, "content": _text(message.parts)})
    config = request.config
    body: dict[str, Any] = {
        "messages": messages,
        "temperature": 0.0 if config.temperature is None else config.temperature,
        "max_tokens": config.max_tokens or MAX_TOKENS,
    }
    optional = {"seed": config.seed, "top_p": config.top_p, "top_k": config.top_k, "stop": list(config.stop) or None}
    return body | {key: value for key, value in optional.items() if value is not None}


def _text(parts: Any) -> str:
    texts = []
    for part in parts:
        if isinstance(part, lm15.TextPart):
            texts.append(part.text)
        elif isinstance(part, lm15.DataPart):
            texts.append(json.dumps(part.value, ensure_ascii=False))
        elif isinstance(part, lm15.ImagePart):
            raise lm15.UnsupportedFeatureError(
                "this model cannot see images: choose one that can with --vision-lm or configure(vision_lm=…)",
                feature="images",
            )
        else:
            raise lm15.UnsupportedFeatureError(f"this model reads text only, not {part.type}", feature=part.type)
    return "".join(texts)


def _canonical(refused: Refused) -> lm15.LM15Error:
    if refused.too_long:
        return lm15.ContextLengthError(str(refused), provider="embedded")
    if refused.invalid:
        return lm15.InvalidRequestError(str(refused), provider="embedded")
    return lm15.ServerError(str(refused), provider="embedded")


def _response(request: lm15.Request, reply: Reply) -> lm15.Response:
    return lm15.Response(
        id=None,
        model=request.model,
        message=lm15.Message.assistant(reply.text),
        finish_reason="length" if reply.finish == "length" else "stop",
        usage=lm15.Usage(
            input_tokens=reply.prompt_tokens,
            output_tokens=reply.completion_tokens,
            cache_read_tokens=reply.cached_tokens,
        ),
    )
