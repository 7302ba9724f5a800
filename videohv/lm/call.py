"""One call of an LM, whatever it takes: out of the response cache, or sent when budget and pace allow, and sent again.

DSPy calls an LM from inside its predictors and tells nobody how a reply ended. `Caller.lm` is a copy of an LM to hand
to a predictor: it sends what the LM would send, and goes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import dspy
from dspy.clients import execution
from dspy.utils.callback import with_callbacks
from dspy.utils.exceptions import LMError

from videohv.lm.budget import estimated, paying
from videohv.lm.cache import in_cache_thread, keeps_replies
from videohv.lm.counter import Amount
from videohv.lm.direct import direct
from videohv.lm.faults import LIMITED_PATIENCE, EmptyReply, FaultKind, fault_of, patience, pause, was_sent
from videohv.lm.mixed import mixed_in
from videohv.lm.overheard import Call as Overheard
from videohv.lm.pace import LONG, Slot, gate_for
from videohv.lm.redact import scrubbed
from videohv.lm.reply import Finish, Reply, read_reply, written
from videohv.lm.usage import Call, Ledger, highest_price

Message = dict[str, Any]

_THROTTLED = (FaultKind.LIMITED, FaultKind.BUSY)


class Caller:
    """Makes the calls of one step.

    Args:
        lm: Whose model, settings, cache and number of retries are used.
        role: What the ledger books them to.
        ledger: Where they are booked.
        images: How many images each call sends.
        check: Called before each attempt and now and then while waiting; an exception of it ends the call.
        tell: Told in a few words why a call waits for long.

    Attributes:
        reply: What the latest call brought; None before the first and when DSPy does not let it be seen.
        cached: Whether that came out of the response cache.
    """

    def __init__(
        self,
        lm: dspy.BaseLM,
        role: str,
        ledger: Ledger,
        *,
        images: int = 0,
        check: Callable[[], None] = lambda: None,
        tell: Callable[[str], None] = lambda why: None,
    ) -> None:
        self.source = lm
        self.reply: Reply | None = None
        self.cached = False
        self._role, self._ledger, self._images = role, ledger, images
        self._check, self._tell = check, tell

    def lm(self, turns: Sequence[Message] = ()) -> dspy.BaseLM:
        """The LM to hand to a predictor.

        Args:
            turns: Messages to send after those of the predictor.
        """
        kind: Any = type(self.source)
        made = mixed_in(self.source, _Observed if kind.__call__ is dspy.BaseLM.__call__ else _Watched)
        # Attempts are counted here, where pace and budget see every one of them.
        made.num_retries = 0
        made._videohv_call = (self, list(turns))
        engine = direct(self.source)
        if engine is not None:
            made._engine_spec = engine
        return made

    def call(self, lm: dspy.BaseLM, prompt: Any, messages: Any, options: dict[str, Any]) -> Any:
        """What DSPy expects of calling `lm`, after as many attempts as it takes and the LM allows.

        Raises:
            LMError: After the last attempt, or when no other can help.
            OverBudget: If a budget has no room for it.
            InputError: If a budget is in money and the price is not known.
        """
        self.reply, self.cached = None, False
        own = type(self.source).__call__
        call = Overheard(self._role, self.source, lambda: messages or [{"role": "user", "content": prompt}])
        try:
            if own is dspy.BaseLM.__call__:
                prepared = execution.prepare(lm, prompt, messages, options)
                outputs = self._until_done(lambda: self._once(lm, prepared), call)
            else:
                # A class with a way of its own to be called: paced and paid for, but what it does cannot be seen.
                outputs = self._until_done(
                    lambda: self._sent(
                        lm, messages or [], None, lambda _: own(lm, prompt, messages=messages, **options)
                    ),
                    call,
                )
        except Exception as error:
            call.failed(error, self.reply)
            raise
        unseen = Reply(written(outputs)[0] if isinstance(outputs, list) else str(outputs))
        call.ended(self.reply or unseen, cached=self.cached)
        return outputs

    def _until_done(self, attempt: Callable[[], Any], call: Overheard) -> Any:
        # What a listener has shown of a reply cannot be taken back.
        retries = self.source.num_retries if dspy.settings.send_stream is None else 0
        limited = passing = 0
        while True:
            self._check()
            try:
                return attempt()
            except LMError as error:
                # Here, because whoever gets it may keep it as a cause, and a traceback prints causes whole.
                scrubbed(error, self.source)
                kind = fault_of(error)
                limited += kind is FaultKind.LIMITED
                passing += kind in (FaultKind.BUSY, FaultKind.PASSING)
                over = limited > retries * LIMITED_PATIENCE or passing > retries
                if over or kind not in (FaultKind.LIMITED, FaultKind.BUSY, FaultKind.PASSING):
                    raise
                call.failed(error, self.reply, again=True)
                self._wait(error, kind, passing)

    def _wait(self, error: LMError, kind: FaultKind, attempt: int) -> None:
        asked, longest = error.retry_after, patience().longest
        if asked is not None and asked > longest:
            said = str(error.message).partition("\n")[0]
            error.message = f"{said} (it asks to be left alone for {asked:g} s; {longest:g} s are waited at most)"
            raise error
        if kind in _THROTTLED:
            return  # the gate holds every call to this server until it may be asked again
        seconds = asked if asked is not None else patience().delay(attempt)
        if seconds > LONG:
            self._tell(f"the server failed ({type(error).__name__}) and is asked again after a while")
        pause(seconds, self._check)

    def _once(self, lm: dspy.BaseLM, prepared: Any) -> Any:
        """One attempt."""
        found = None
        kept = prepared.cache and keeps_replies()
        if kept:
            found = in_cache_thread(execution._cached, lm, prepared, False)
        if found is not None:
            reply = read_reply(found)
            # Nothing at all is not a reply to be had for ever.
            if reply.finish is not Finish.EMPTY:
                self.reply, self.cached = reply, True
                with self._ledger.role(self._role, self.source, self._images) as call:
                    call.spared_tokens = reply.prompt_tokens + reply.completion_tokens
                    return execution.finalize(lm, prepared, found)

        def send(slot: Slot) -> Any:
            result = execution.execute(lm, replace(prepared, cache=False))
            slot.answered()
            outputs = execution.finalize(lm, prepared, result)
            self.reply = read_reply(result)
            if self.reply.finish is Finish.EMPTY:
                raise EmptyReply("the reply is empty", model=lm.model)
            if kept:
                in_cache_thread(execution._store, lm, prepared, result, False)
            return outputs

        asked = prepared.legacy
        room = asked.get("max_tokens") or asked.get("max_completion_tokens")
        return self._sent(lm, asked.get("messages") or [], room, send)

    def _sent(self, lm: dspy.BaseLM, messages: Sequence[Message], room: int | None, send: Callable[[Slot], Any]) -> Any:
        """What `send` gives: within the budgets, in its turn, and booked."""
        source, gate = self.source, gate_for(self.source)
        with (
            paying(source, lambda: estimated(source, messages, room), self._check) as spent,
            gate.slot(self._check, lambda _: self._tell(f"{gate.server} takes no more calls for now")) as slot,
            self._booked(spent) as booked,
        ):
            try:
                outputs = send(slot)
            except LMError as error:
                booked.sent = was_sent(error)
                if fault_of(error) in _THROTTLED:
                    asked = error.retry_after
                    # Nobody waits for that long; see `_wait`.
                    slot.refused(0.0 if asked is not None and asked > patience().longest else asked)
                raise
            slot.answered()
            return outputs

    @contextmanager
    def _booked(self, spent: list[Amount]) -> Iterator[Call]:
        call = None
        try:
            with self._ledger.role(self._role, self.source, self._images) as call:
                yield call
        finally:
            if call is not None:
                tokens, cost = (call.prompt_tokens, call.completion_tokens), call.cost
                if cost is None:
                    cost = highest_price(str(self.source.model), *tokens) or 0.0
                spent.append(Amount(call.calls, sum(tokens), cost))


class _Watched:
    """Mixed into the class of a copy of an LM: calls go through its `Caller`."""

    _videohv_call: tuple[Caller, list[Message]]

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        caller, turns = self._videohv_call
        if messages is not None:
            # In place: DSPy knows the list that its adapter made, and deprecates all others.
            messages.extend(turns)
        return caller.call(self, prompt, messages, kwargs)


class _Observed(_Watched):
    """The same, and DSPy's callbacks are told, as they are by `BaseLM`."""

    __call__ = with_callbacks(_Watched.__call__)
