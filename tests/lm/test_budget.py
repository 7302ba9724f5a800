from __future__ import annotations

import json
import multiprocessing
import pickle
import random
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import dspy
import pytest

from tests.support.engine import fake_lm
from videohv.errors import InputError
from videohv.lm import budget as module
from videohv.lm.adapter import json_adapter
from videohv.lm.budget import Budget, OverBudget, budgets, estimated, prompt_tokens, spending
from videohv.lm.call import Caller
from videohv.lm.counter import Amount, LocalCounter, SharedCounter
from videohv.lm.usage import Ledger, highest_price
from videohv.modules.parallel import side_by_side

PREDICT = dspy.Predict("question -> summary")


def ask(lm: dspy.LM, question: str = "q", ledger: Ledger | None = None) -> str:
    with dspy.context(adapter=json_adapter(), disable_history=True):
        return str(PREDICT(lm=Caller(lm, "step", ledger or Ledger()).lm(), question=question).summary)


def summary_lm(**engine: Any) -> Any:
    return fake_lm({"summary": {"summary": "x"}}, **engine)


def test_calls_are_counted_and_the_last_one_over_is_not_made() -> None:
    lm, engine = summary_lm()
    with spending(Budget("run", max_calls=3)) as budget:
        for number in range(3):
            ask(lm, str(number))
        assert budget.is_used_up()
        with pytest.raises(
            OverBudget, match="a run may use 3 calls, has used 3 calls, and the next call takes about 1"
        ):
            ask(lm, "one more")
    assert len(engine.requests) == 3
    ask(lm, "outside the block nothing is counted")
    assert budget.spent.calls == 3


def test_tokens_are_those_that_the_server_counted() -> None:
    lm, _ = summary_lm()
    ledger = Ledger()
    with spending(Budget(max_tokens=100_000)) as budget:
        for number in range(5):
            ask(lm, f"question {number}", ledger)
    total = ledger.total()
    assert budget.spent == Amount(5, total.prompt_tokens + total.completion_tokens, 0)
    assert budget.counter.totals().held == Amount()


def test_a_prompt_that_would_go_beyond_is_not_sent() -> None:
    lm, engine = summary_lm()
    with spending(Budget("question", max_tokens=2_000)), pytest.raises(OverBudget, match="2,000 tokens"):
        ask(lm, "x" * 10_000)
    assert not engine.requests


def test_money_is_counted_by_the_listed_prices() -> None:
    _, engine = summary_lm()
    priced = dspy.LM("openai/gpt-4o-mini", engine=engine, cache=False, num_retries=0)
    ledger = Ledger()
    with spending(Budget(max_cost=1.0)) as budget:
        ask(priced, "q", ledger)
    assert budget.spent.cost == pytest.approx(ledger.total().cost)
    assert budget.spent.cost > 0
    with spending(Budget("run", max_cost=1e-6)), pytest.raises(OverBudget, match=r"a run may use \$0\.0000"):
        ask(priced, "x" * 1_000)


def test_without_a_price_a_limit_in_money_is_refused_before_any_work() -> None:
    lm, engine = summary_lm()
    budget = Budget("run", max_cost=5.0)
    with pytest.raises(InputError, match=r"the price of fake/model is not known: use --max-tokens-total"):
        budget.require_prices([lm])
    with spending(budget), pytest.raises(InputError, match="not known"):
        ask(lm)
    assert not engine.requests
    Budget(max_calls=5).require_prices([lm])
    Budget(max_cost=5).require_prices([dspy.LM("openai/gpt-4o-mini", api_key="k")])


def test_what_runs_in_this_process_costs_nothing() -> None:
    assert highest_price("embedded/qwen2.5-coder-1.5b", 1_000, 1_000) == 0.0
    assert highest_price("toy/model", 1, 1) is None
    short, long = (highest_price("gemini/gemini-2.5-pro", tokens, 0) for tokens in (100_000, 300_000))
    assert short is not None
    assert long is not None
    assert long > 3.5 * short, "the dearer tier counts for a long prompt"


def test_budgets_nest_and_each_holds() -> None:
    lm, _ = summary_lm()
    with spending(Budget("run", max_calls=5)) as run:
        for _ in range(2):
            with spending(Budget("question", max_calls=2)) as question:
                ask(lm)
                ask(lm)
                with pytest.raises(OverBudget, match="a question may use 2 calls"):
                    ask(lm)
                assert question.spent.calls == 2
            assert budgets() == (run,)
        assert run.spent.calls == 4
        assert run.counter.totals().held.calls == 0, "what the inner one refused the outer one does not hold"
        with spending(Budget("question", max_calls=9)):
            ask(lm)
            with pytest.raises(OverBudget, match="a run may use 5 calls"):
                ask(lm)


def test_replies_out_of_the_cache_are_free() -> None:
    lm, engine = summary_lm()
    cached = lm.copy(cache=True)
    with spending(Budget(max_calls=1)) as budget:
        for _ in range(5):
            ask(cached, "asked for in test_budget")
    assert (len(engine.requests), budget.spent.calls) == (1, 1)


def test_failed_calls_are_paid_for_and_hold_nothing_back() -> None:
    lm, _ = fake_lm({"summary": dspy.lm15.ServerError("down")})
    with spending(Budget(max_calls=10, max_tokens=100_000)) as budget:
        for _ in range(3):
            with pytest.raises(dspy.LMServerError):
                ask(lm)
    assert budget.counter.totals() == (Amount(3), Amount())


def test_side_by_side_calls_are_paid_from_the_same_budget() -> None:
    lm, _ = summary_lm()
    with spending(Budget(max_calls=100)) as budget:
        side_by_side(lambda number: ask(lm, str(number)), range(20), 8)
    assert budget.spent.calls == 20


@pytest.mark.parametrize("kind", ["calls", "tokens"])
def test_many_threads_do_not_overshoot(kind: str) -> None:
    """Each takes less than was estimated, so the limit is never passed, and it is used up to less than one call."""
    most = {"calls": 50, "tokens": 200 * 50}[kind]
    budget, start, over = Budget(**{f"max_{kind}": most}), threading.Barrier(16), 0

    def work(seed: int) -> int:
        chance, refused = random.Random(seed), 0
        start.wait()
        for _ in range(20):
            try:
                with budget.reserve(Amount(1, 200)) as spent:
                    spent.append(Amount(1, chance.randint(100, 200)))
            except OverBudget:
                refused += 1
        return refused

    with ThreadPoolExecutor(16) as pool:
        over = sum(pool.map(work, range(16)))
    spent = getattr(budget.spent, kind)
    assert over > 0
    assert most - 200 <= spent <= most
    assert budget.counter.totals().held == Amount()


def test_a_call_waits_while_others_hold_what_it_needs() -> None:
    budget, waiting = Budget(max_tokens=1_000), threading.Event()

    def second() -> str:
        with budget.reserve(Amount(1, 600), check=waiting.set) as spent:
            spent.append(Amount(1, 600))
        return "made"

    with ThreadPoolExecutor(1) as pool:
        with budget.reserve(Amount(1, 600)) as spent:
            job = pool.submit(second)
            assert waiting.wait(10)
            spent.append(Amount(1, 300))
        assert job.result() == "made"
    assert budget.spent.tokens == 900


def test_what_is_held_by_a_lost_process_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.0)
    budget = Budget(max_calls=1)
    budget.counter.update(lambda totals: totals._replace(held=Amount(1)))
    with pytest.raises(OverBudget), budget.reserve(Amount(1)):
        pass


def test_a_wait_can_be_ended() -> None:
    budget = Budget(max_calls=1)

    def check() -> None:
        raise KeyError("stopped")

    with budget.reserve(Amount(1)), pytest.raises(KeyError), budget.reserve(Amount(1), check):
        pass
    assert budget.counter.totals() == (Amount(), Amount())


@pytest.mark.parametrize("limits", [{"max_calls": -1}, {"max_cost": float("nan")}])
def test_a_limit_is_not_negative(limits: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="cannot be negative"):
        Budget(**limits)


def test_the_estimate_goes_by_the_prompt_and_a_usual_reply() -> None:
    lm, _ = summary_lm()
    picture = {"type": "image_url", "image_url": {"url": "data:," + "x" * 9_999}}
    messages = [
        {"role": "system", "content": "x" * 350},
        {"role": "user", "content": [{"type": "text", "text": "y" * 350}, picture]},
    ]
    assert prompt_tokens(messages) == 200 + module.TOKENS_AN_IMAGE
    assert estimated(lm, messages, None) == Amount(1, 200 + module.TOKENS_AN_IMAGE + module.TOKENS_A_REPLY, 0)
    assert estimated(lm, messages, 50).tokens == 250 + module.TOKENS_AN_IMAGE
    assert estimated(lm, messages, 16_000).tokens == estimated(lm, messages, None).tokens


shared: Budget | None = None


def adopt(budget: Budget) -> None:
    global shared
    shared = budget


def spend(_: int) -> int:
    assert shared is not None
    return spend_from(shared)


def spend_from(budget: Budget) -> int:
    try:
        with budget.reserve(Amount(1, 10)) as spent:
            spent.append(Amount(1, 10))
    except OverBudget:
        return 0
    return 1


def test_a_shared_counter_counts_as_a_local_one_does() -> None:
    for counter in (LocalCounter(), SharedCounter()):
        budget = Budget(max_calls=3, counter=counter)
        made = sum(spend_from(budget) for _ in range(5))
        assert (made, budget.spent) == (3, Amount(3, 30, 0))


@pytest.mark.slow
def test_processes_share_a_budget() -> None:
    context = multiprocessing.get_context("spawn")
    budget = Budget(max_calls=25, counter=SharedCounter(context))
    with ProcessPoolExecutor(2, mp_context=context, initializer=adopt, initargs=(budget,)) as pool:
        made = sum(pool.map(spend, range(40), chunksize=5))
    assert made == 25
    assert budget.spent == Amount(25, 250, 0)


def test_a_counter_of_threads_does_not_travel() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Budget(max_calls=1))
    assert LocalCounter().totals().spent == Amount()
    assert json.dumps(Budget(max_calls=1).limits) == '{"calls": 1.0}'
