"""The pacer against servers that are played in a time of their own: no test here waits."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.support.faults import Quota
from videohv.lm.pacer import Pacer


class Played(NamedTuple):
    """How a run went: its length over the least that the quota allows, and refused requests for each call."""

    times_ideal: float
    refused: float
    pacer: Pacer


def play(
    rate: float,
    burst: float,
    calls: int = 200,
    threads: int = 32,
    latency: float = 0.05,
    retry_after: Callable[[float], float | None] = math.ceil,
) -> Played:
    """So many threads work off calls that take `latency` seconds, against a quota; refusals come back at once."""
    quota, pacer, order = Quota(rate, burst), Pacer(), itertools.count()
    waiting, under_way = deque(range(threads)), list[tuple[float, int, float | None, float]]()
    left, done, refused, now = calls - threads, 0, 0, 0.0
    while done < calls:
        wait = pacer.wait(now) if waiting else math.inf
        if not wait:
            waiting.popleft()
            pacer.sent(now)
            short = quota.wait(now)
            refused += bool(short)
            back = now + (min(latency, 0.01) if short else latency)
            heapq.heappush(under_way, (back, next(order), short or None, now))
            continue
        now = max(now, min(now + wait, under_way[0][0] if under_way else math.inf)) + 1e-9
        while under_way and under_way[0][0] <= now:
            _, _, short, sent_at = heapq.heappop(under_way)
            if short is not None:
                pacer.refused(sent_at, now, retry_after(short))
                waiting.append(0)
                continue
            pacer.answered(now)
            done += 1
            if left > 0:
                left -= 1
                waiting.append(0)
    return Played(now / ((calls - burst) / rate), refused / calls, pacer)


@pytest.mark.parametrize("threads", [8, 32, 64])
@pytest.mark.parametrize("latency", [0.001, 0.05, 1.0])
def test_a_quota_is_used_up_to_near_its_own_limit(threads: int, latency: float) -> None:
    played = play(5.0, 5.0, threads=threads, latency=latency)
    assert played.times_ideal < 1.3
    assert played.refused < 0.1 + threads / 200, "the first ones, sent together, and few after that"


@pytest.mark.parametrize(
    "retry_after", [math.ceil, lambda short: short, lambda short: None], ids=["whole seconds", "exact", "untold"]
)
def test_a_server_without_any_burst_is_met_too(retry_after: Callable[[float], float | None]) -> None:
    played = play(5.0, 1.0, calls=400, retry_after=retry_after)
    assert played.times_ideal < 1.4
    assert played.refused < 0.2


def test_a_great_burst_does_not_mislead_it_for_long() -> None:
    played = play(1.0, 60.0, calls=300)
    assert played.times_ideal < 1.2
    assert played.refused < 0.3


def test_a_minute_long_window_is_spread_over_the_minute() -> None:
    """A hundred a minute, refused until the minute is over."""
    pacer, now, taken, minute, refused = Pacer(), 0.0, 0, 0, 0
    for _ in range(300):
        while wait := pacer.wait(now):
            now += wait
        if int(now // 60) != minute:
            minute, taken = int(now // 60), 0
        pacer.sent(now)
        taken += 1
        now += 0.01
        if taken > 100:
            refused += 1
            pacer.refused(now - 0.01, now, 60 - now % 60)
        else:
            pacer.answered(now)
    assert refused < 10
    assert now < 4 * 60


def test_nothing_is_held_back_before_the_first_refusal() -> None:
    pacer = Pacer()
    for number in range(1_000):
        assert pacer.wait(number * 1e-6) == 0
        pacer.sent(number * 1e-6)
    assert pacer.in_flight == 1_000


def test_the_first_refusal_halves_what_is_in_flight_and_holds_everything_until_retry_after() -> None:
    pacer = Pacer()
    for _ in range(32):
        pacer.sent(0.0)
    pacer.refused(0.0, 0.1, 5.0)
    for _ in range(10):
        pacer.refused(0.0, 0.2, 5.0)
    assert pacer.limit == 16, "those that were under way together count once"
    assert pacer.wait(1.0) == pytest.approx(4.2)
    assert pacer.wait(5.3) == math.inf, "21 of 16 are in flight"
    for _ in range(6):
        pacer.answered(5.4)
    assert pacer.wait(5.4) == 0


def test_answers_raise_the_limit_and_the_cap_bounds_it() -> None:
    pacer = Pacer()
    for _ in range(8):
        pacer.sent(0.0)
    pacer.refused(0.0, 0.1, 0.0)
    assert pacer.limit == 4
    for _ in range(7):
        pacer.answered(0.2)
    assert pacer.limit > 4
    for _ in range(2):
        pacer.sent(0.3)
    assert pacer.wait(0.3, cap=2) == math.inf
    assert pacer.wait(0.3, cap=3) == 0
    assert pacer.wait(0.3) == 0


def test_one_call_at_a_time_is_always_possible() -> None:
    pacer = Pacer()
    for _ in range(20):
        pacer.sent(0.0)
        pacer.refused(0.0, 0.0, 0.0)
    assert pacer.limit >= 1
    assert pacer.wait(0.0, cap=0.5) == 0


def test_a_refusal_that_names_no_time_holds_longer_each_time() -> None:
    pacer, now, holds = Pacer(), 0.0, []
    for _ in range(10):
        pacer.sent(now)
        pacer.refused(now, now + 0.01)
        holds.append(round(pacer.wait(now + 0.01)))
        now += 0.01 + holds[-1] + 1e-6
        while wait := pacer.wait(now):
            now += wait
    assert holds[:6] == [1, 2, 4, 8, 16, 32]
    assert holds[-1] == 60


def test_asked_again_at_once_changes_no_rate() -> None:
    pacer = Pacer()
    pacer.sent(0.0)
    pacer.refused(0.0, 0.1, 0.0)
    assert (pacer.wait(0.1), pacer.rate) == (0, math.inf)


def test_a_rest_does_not_count_as_a_time_in_which_little_was_taken() -> None:
    pacer = Pacer()
    pacer.sent(0.0)
    pacer.answered(0.1)
    for _ in range(20):
        pacer.sent(90.0)
    pacer.refused(90.0, 90.1, 1.0)
    for _ in range(19):
        pacer.answered(90.2)
    while wait := pacer.wait(91.2):
        assert wait < 1
        break
    assert pacer.rate > 10


def test_a_lost_call_gives_its_place_back_and_says_nothing() -> None:
    pacer = Pacer()
    pacer.sent(0.0)
    pacer.lost(1.0)
    assert (pacer.in_flight, pacer.limit, pacer.rate) == (0, math.inf, math.inf)


def test_a_server_that_refused_everything_for_hours_is_still_asked_now_and_then() -> None:
    pacer, now = Pacer(), 0.0
    for _ in range(200):
        while wait := pacer.wait(now):
            assert wait <= 75, "seconds"
            now += wait
        pacer.sent(now)
        pacer.refused(now, now + 0.01, 30.0)
    assert pacer.wait(now + 31.0) <= 75
