"""How many requests are answered at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections
from django.http import HttpRequest
from ninja.errors import HttpError

from dashboard.serving.handler import REQUESTS_AT_ONCE, SpooledBodyHandler, without_slot

ASKED = 2 * REQUESTS_AT_ONCE


async def ask_many(
    monkeypatch: pytest.MonkeyPatch, view: Callable[[HttpRequest], Awaitable[None]]
) -> SpooledBodyHandler:
    """Answer concurrent requests with this view, each in a separate thread."""
    monkeypatch.setattr(
        SpooledBodyHandler, "get_response", lambda _, request: async_to_sync(view)(request)
    )
    handler = SpooledBodyHandler()
    async with asyncio.timeout(30):
        await asyncio.gather(*(handler.get_response_async(HttpRequest()) for _ in range(ASKED)))
    return handler


async def test_more_requests_than_slots_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = [], []
    all_run = asyncio.Event()

    async def view(request: HttpRequest) -> None:
        running.append(request)
        most.append(len(running))
        if len(running) == REQUESTS_AT_ONCE:
            all_run.set()
        await all_run.wait()
        running.remove(request)

    await ask_many(monkeypatch, view)
    assert (len(most), max(most)) == (ASKED, REQUESTS_AT_ONCE)


async def test_a_waiting_view_leaves_its_slot_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = asyncio.Barrier(ASKED)
    waiting, closed = set(), set()
    close = connections.close_all
    monkeypatch.setattr(
        connections, "close_all", lambda: (closed.add(threading.current_thread()), close())
    )

    async def view(request: HttpRequest) -> None:
        async with without_slot(request):
            waiting.add(await sync_to_async(threading.current_thread)())
            assert waiting <= closed
            await everybody.wait()

    handler = await ask_many(monkeypatch, view)
    assert len(waiting) == ASKED
    free = handler._slots._free
    async with asyncio.timeout(30):
        for _ in range(REQUESTS_AT_ONCE):
            await free.get()
    assert free.empty(), "there are no more threads than before"


async def test_only_so_many_views_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.serving.handler.MOST_WAITING", ASKED - 3)
    refused: list[int] = []
    all_decided = asyncio.Barrier(ASKED)

    async def view(request: HttpRequest) -> None:
        try:
            async with without_slot(request):
                await all_decided.wait()
        except HttpError as error:
            refused.append(error.status_code)
            await all_decided.wait()

    await ask_many(monkeypatch, view)
    assert refused == [503] * 3
