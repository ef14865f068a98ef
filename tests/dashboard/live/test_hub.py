"""The hub without a database: what is rendered and what each socket is handed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace

import pytest
from channels.layers import get_channel_layer
from django.test import override_settings
from django.utils.translation import get_language

from config import environment
from dashboard.live import progress_publisher
from dashboard.live.fragments import Fragment, State
from dashboard.live.hub import Hub, Timing

FAST = Timing(render_seconds=0.02, tail_seconds=30)


class Rows:
    """Stands for the database: one run whose verdict says its sequence."""

    def __init__(self) -> None:
        self.sequence = 1
        self.ended = False
        self.there = True
        self.renderings = 0

    def render(self, public_id: str, previous: State | None) -> State | None:
        self.renderings += 1
        if not self.there:
            return None
        element = f"run-{public_id}-verdict"
        html = f'<h1 id="{element}">At {self.sequence} in {get_language()}</h1>'
        leaf = Fragment(element, {"at": self.sequence}, html)  # type: ignore[arg-type]
        return State(public_id, self.sequence, self.ended, {element: leaf})

    def sequences(self, public_ids: Iterable[str]) -> dict[str, int]:
        return {each: self.sequence for each in public_ids if self.there}


class SlowRows(Rows):
    """Stops after reading what there is, until it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.has_read, self.goes_on = threading.Event(), threading.Event()
        self.goes_on.set()

    def render(self, public_id: str, previous: State | None) -> State | None:
        state = super().render(public_id, previous)
        self.has_read.set()
        self.goes_on.wait(30)
        return state

    def hold(self) -> None:
        self.has_read.clear()
        self.goes_on.clear()


@pytest.fixture
def rows() -> Rows:
    return Rows()


@pytest.fixture
def hub(rows: Rows) -> Hub:
    return Hub(rows.render, rows.sequences, FAST)


async def next_of(socket: AsyncGenerator[str, None]) -> str:
    return await asyncio.wait_for(anext(socket), 15)


async def test_a_newcomer_gets_the_present_state(hub: Hub, rows: Rows) -> None:
    rows.sequence = 7
    socket = hub.follow("r")
    assert "At 7" in await next_of(socket)
    await socket.aclose()


@pytest.mark.requirement("A12")
async def test_a_change_is_rendered_once_for_all(hub: Hub, rows: Rows) -> None:
    sockets = [hub.follow("r") for _ in range(20)]
    for socket in sockets:
        await next_of(socket)
    before = rows.renderings
    rows.sequence = 2
    hub.heard("r", 2)
    told = [await next_of(socket) for socket in sockets]
    assert len(set(told)) == 1 and "At 2" in told[0]
    assert rows.renderings == before + 1
    for socket in sockets:
        await socket.aclose()


async def test_a_newcomer_that_knows_nothing_newer_is_not_rendered_for(
    hub: Hub, rows: Rows
) -> None:
    first = hub.follow("r")
    await next_of(first)
    before = rows.renderings
    newcomer = hub.follow("r", known=rows.sequence)
    assert f"At {rows.sequence}" in await next_of(newcomer)
    rows.sequence = 2
    other = hub.follow("r", known=2)
    while "At 2" not in await next_of(other):
        pass
    assert rows.renderings == before + 1
    for socket in (first, newcomer, other):
        await socket.aclose()


async def test_a_change_is_rendered_once_for_each_language(hub: Hub, rows: Rows) -> None:
    german = [hub.follow("r", "de") for _ in range(5)]
    english = [hub.follow("r", "en") for _ in range(5)]
    for socket in (*german, *english):
        await next_of(socket)
    before = rows.renderings
    rows.sequence = 2
    hub.heard("r", 2)
    told = {
        language: {await next_of(socket) for socket in sockets}
        for language, sockets in (("de", german), ("en", english))
    }
    assert {language: len(texts) for language, texts in told.items()} == {"de": 1, "en": 1}
    assert "in de" in told["de"].pop() and "in en" in told["en"].pop()
    assert rows.renderings == before + 2
    for socket in german:
        await socket.aclose()
    rows.sequence = 3
    hub.heard("r", 3)
    assert "At 3" in await next_of(english[0])
    assert rows.renderings == before + 3
    for socket in english:
        await socket.aclose()
    assert hub.runs == {}


async def test_many_changes_become_few_messages_and_the_last_one_wins(hub: Hub, rows: Rows) -> None:
    socket = hub.follow("r")
    await next_of(socket)
    begun, told = time.monotonic(), []

    async def commit() -> None:
        for sequence in range(2, 102):
            rows.sequence = sequence
            hub.heard("r", sequence)
            await asyncio.sleep(0.002)

    writing = asyncio.create_task(commit())
    while not told or "At 101" not in told[-1]:
        told.append(await next_of(socket))
    await writing
    assert len(told) <= (time.monotonic() - begun) / FAST.render_seconds + 1
    await socket.aclose()


async def test_a_client_that_does_not_read_costs_nothing_and_ends_on_the_present(
    hub: Hub, rows: Rows
) -> None:
    slow, quick = hub.follow("r"), hub.follow("r")
    await next_of(slow)
    await next_of(quick)
    for sequence in range(2, 30):
        rows.sequence = sequence
        hub.heard("r", sequence)
        await next_of(quick)
    assert len(hub.runs["r"]["en"]._messages) <= 2
    assert "At 29" in await next_of(slow)
    await slow.aclose()
    await quick.aclose()


@pytest.mark.parametrize("begun_by", ["a change", "a newcomer"])
async def test_a_change_while_another_is_rendered_is_shown_next(begun_by: str) -> None:
    """Without waiting for the tail check, which is half a minute away."""
    rows = SlowRows()
    hub = Hub(rows.render, rows.sequences, FAST)
    socket, newcomer = hub.follow("r"), hub.follow("r")
    await next_of(socket)
    rows.hold()
    rows.sequence = 2
    if begun_by == "a change":
        hub.heard("r", 2)
    else:
        await next_of(newcomer)
    await asyncio.to_thread(rows.has_read.wait, 15)
    rows.sequence = 3
    hub.heard("r", 3)
    rows.goes_on.set()
    async with asyncio.timeout(15):
        while "At 3" not in await anext(socket):
            pass
    await socket.aclose()
    await newcomer.aclose()


async def test_a_late_one_joins_at_the_present(hub: Hub, rows: Rows) -> None:
    first = hub.follow("r")
    await next_of(first)
    rows.sequence = 5
    second = hub.follow("r")
    told = await next_of(second)
    while "At 5" not in told:
        told = await next_of(second)
    await first.aclose()
    await second.aclose()


async def test_a_lost_message_heals_by_the_tail(rows: Rows) -> None:
    hub = Hub(rows.render, rows.sequences, Timing(0.01, tail_seconds=0.05))
    socket = hub.follow("r")
    await next_of(socket)
    rows.sequence = 2
    assert "At 2" in await next_of(socket)
    await socket.aclose()


async def test_it_ends_with_the_run(hub: Hub, rows: Rows) -> None:
    socket = hub.follow("r")
    await next_of(socket)
    rows.sequence, rows.ended = 2, True
    hub.heard("r", 2)
    assert "At 2" in await next_of(socket)
    with pytest.raises(StopAsyncIteration):
        await next_of(socket)


async def test_it_ends_where_the_run_was_deleted(rows: Rows) -> None:
    hub = Hub(rows.render, rows.sequences, Timing(0.01, tail_seconds=0.05))
    socket = hub.follow("r")
    await next_of(socket)
    rows.there = False
    with pytest.raises(StopAsyncIteration):
        await next_of(socket)


async def test_nothing_is_left_when_the_last_one_goes(hub: Hub) -> None:
    socket = hub.follow("r")
    await next_of(socket)
    await socket.aclose()
    await asyncio.sleep(0.05)
    assert hub.runs == {}
    assert {task.get_name() for task in asyncio.all_tasks()} & {
        "hub listens",
        "hub stays subscribed",
        "hub checks the tail",
    } == set()


async def test_a_commit_in_any_thread_is_heard_through_the_channel_layer(
    hub: Hub, rows: Rows
) -> None:
    socket = hub.follow("r")
    await next_of(socket)
    await asyncio.sleep(0.02)
    rows.sequence = 2
    await asyncio.to_thread(progress_publisher.announce_sequence, "r", 2)
    assert "At 2" in await next_of(socket)
    await socket.aclose()


async def test_it_stays_subscribed_while_nothing_happens(rows: Rows) -> None:
    """In a layer that forgets its groups at each full second."""
    layers = {"default": {**environment.channel_layer(""), "CONFIG": {"group_expiry": 0}}}
    with override_settings(CHANNEL_LAYERS=layers):
        hub = Hub(rows.render, rows.sequences, replace(FAST, renew_seconds=0.02))
        socket = hub.follow("r")
        await next_of(socket)
        await asyncio.sleep(1.1)
        rows.sequence = 2
        telling = asyncio.create_task(tell_again_and_again("r", 2))
        assert "At 2" in await asyncio.wait_for(anext(socket), 15)
        telling.cancel()
        await socket.aclose()


async def tell_again_and_again(public_id: str, sequence: int) -> None:
    """A single message may meet the moment between the layer's forgetting and the renewal."""
    while True:
        progress_publisher.announce_sequence(public_id, sequence)
        await asyncio.sleep(0.05)


@pytest.mark.requirement("F8")
@pytest.mark.services("redis")
async def test_a_commit_is_heard_through_redis(rows: Rows, redis_url: str) -> None:
    layers = {"default": environment.channel_layer(redis_url)}
    with override_settings(REDIS_URL=redis_url, CHANNEL_LAYERS=layers):
        hub = Hub(rows.render, rows.sequences, FAST)
        socket = hub.follow("r")
        await next_of(socket)
        await asyncio.sleep(0.2)
        rows.sequence = 2
        await asyncio.to_thread(progress_publisher.announce_sequence, "r", 2)
        assert "At 2" in await next_of(socket)
        await socket.aclose()
        await get_channel_layer().flush()
