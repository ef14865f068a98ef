"""Limits of several processes: each limiter here stands for one, the store for their database."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from django.db import connection

from research.fetch.rate_limit import RateLimiter
from research.limits.breaker import BreakerOpenError
from research.limits.database import DatabaseStore, change_state, free_places
from research.limits.limiter import Limiter, MemoryStore, Shared, Store, holder_prefix
from research.limits.state import LimitState, Rule
from research.models import SharedLimit

T = TypeVar("T")


def loop_store() -> MemoryStore:
    return MemoryStore(asyncio.get_running_loop().time)


async def most_at_once(limiters: list[Limiter], calls: int, seconds: float) -> int:
    now = most = 0

    async def call(limiter: Limiter) -> None:
        nonlocal now, most
        async with limiter.turn():
            now += 1
            most = max(most, now)
            await asyncio.sleep(seconds)
            now -= 1

    async with asyncio.TaskGroup() as group:
        for number in range(calls):
            group.create_task(call(limiters[number % len(limiters)]))
    return most


@pytest.mark.virtual_time
async def test_processes_together_keep_to_the_places_and_use_them() -> None:
    store, loop = loop_store(), asyncio.get_running_loop()
    limiters = [Limiter("model", Rule(at_once=4), store) for _ in range(8)]
    began = loop.time()
    assert await most_at_once(limiters, 64, 1.0) == 4
    assert 64 / 4 <= loop.time() - began <= 64 / 4 / 0.9


@pytest.mark.virtual_time
async def test_a_long_call_keeps_its_place() -> None:
    store = loop_store()
    first, second = (Limiter("model", Rule(at_once=1), store) for _ in range(2))
    assert await most_at_once([first, second], 2, 100.0) == 1


@pytest.mark.virtual_time
async def test_one_that_gives_up_waiting_takes_no_place() -> None:
    store = loop_store()
    first, second = (Limiter("model", Rule(at_once=1), store) for _ in range(2))
    async with first.turn():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5), second.turn():
                pass
    async with asyncio.timeout(1), second.turn():
        pass


@pytest.mark.virtual_time
async def test_the_tokens_that_a_turn_took_replace_those_it_expected() -> None:
    limiter = Limiter("model", Rule(tokens_per_minute=100), loop_store())
    async with limiter.turn(90) as turn:
        turn.took = 10
    async with asyncio.timeout(1), limiter.turn(90):
        pass
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1), limiter.turn(90):
            pass


class Away:
    """A store that cannot be reached once it is `gone`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.gone = False

    async def change(self, name: str, function: Callable[[LimitState, float], T]) -> T:
        if self.gone:
            raise OSError("no connection")
        return await self.store.change(name, function)


@pytest.mark.virtual_time
async def test_while_the_store_is_away_no_call_begins_and_none_is_broken_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Away(loop_store())
    limiter = Limiter("model", Rule(at_once=1), store)
    async with limiter.turn():
        store.gone = True
        await asyncio.sleep(60)
    with pytest.raises(OSError):
        async with limiter.turn():
            raise AssertionError("began without a place")
    assert "could not be given back" in caplog.text
    store.gone = False
    async with asyncio.timeout(1), limiter.turn():
        pass  # the lease of the place that could not be given back is over


@pytest.mark.virtual_time
async def test_requests_of_two_processes_to_one_host_are_an_interval_apart() -> None:
    store, loop, begun = loop_store(), asyncio.get_running_loop(), []
    paces = [RateLimiter(2, 1.0, Shared(store, "host")) for _ in range(2)]

    async def visit(pace: RateLimiter) -> None:
        async with pace.turn():
            begun.append(loop.time())

    await asyncio.gather(*(visit(paces[number % 2]) for number in range(6)))
    gaps = [later - earlier for earlier, later in itertools.pairwise(begun)]
    assert min(gaps) >= 0.999


@pytest.mark.virtual_time
async def test_a_retry_after_holds_the_other_process_too() -> None:
    store, loop = loop_store(), asyncio.get_running_loop()
    first, second = (RateLimiter(2, 0.0, Shared(store, "host")) for _ in range(2))
    first.hold(30.0)
    await asyncio.sleep(0.01)
    began = loop.time()
    async with second.turn():
        assert loop.time() - began >= 29


# --- on PostgreSQL -------------------------------------------------------------------------


@pytest.fixture
def database() -> Iterator[None]:
    if connection.vendor != "postgresql":
        pytest.skip("limits are shared on PostgreSQL only")
    yield


@pytest.mark.django_db(transaction=True)
def test_processes_share_a_limit_through_the_database(database: None) -> None:
    async def scenario() -> int:
        stores = [DatabaseStore() for _ in range(3)]
        limiters = [Limiter("model", Rule(at_once=2), store) for store in stores]
        most = await most_at_once(limiters, 12, 0.02)
        for store in stores:
            store.close()
        return most

    assert asyncio.run(scenario()) == 2
    assert SharedLimit.objects.get().state["places"] == {}


@pytest.mark.django_db(transaction=True)
def test_a_change_meanwhile_is_not_lost(database: None) -> None:
    """The function is called again with the state that another process has written."""
    rule, seen = Rule(at_once=2), list[int]()

    def take(state: LimitState, now: float) -> float | None:
        seen.append(len(state.places))
        if len(seen) == 1:
            change_state("model", lambda other, later: other.take(rule, later, "another"))
        return state.take(rule, now, "this")

    assert change_state("model", take) == 0
    assert seen == [0, 1]
    assert set(SharedLimit.objects.get().state["places"]) == {"another", "this"}


@pytest.mark.django_db(transaction=True)
def test_the_places_of_a_dead_process_are_free_at_once(database: None) -> None:
    dead, alive = holder_prefix("host", 17), holder_prefix("host", 177)
    for holder in (f"{dead}1", f"{alive}1"):
        change_state("model", lambda state, now, h=holder: state.take(Rule(at_once=2), now, h))
    free_places(dead)
    assert list(SharedLimit.objects.get().state["places"]) == [f"{alive}1"]


@pytest.mark.django_db(transaction=True)
def test_the_breaker_opens_for_all_processes(database: None) -> None:
    async def scenario() -> None:
        stores = [DatabaseStore() for _ in range(2)]
        first, second = (Limiter("model", Rule(), store) for store in stores)
        for _ in range(5):
            async with first.turn() as turn:
                await first.failed(turn)
        with pytest.raises(BreakerOpenError):
            async with second.turn():
                pass
        for store in stores:
            store.close()

    asyncio.run(scenario())
    assert SharedLimit.objects.get().state["breaker"]["failures"] == 5
