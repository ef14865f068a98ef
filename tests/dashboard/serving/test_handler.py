"""How many requests are answered at once."""

from __future__ import annotations

import asyncio

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest

from dashboard.serving.handler import REQUESTS_AT_ONCE, SpooledBodyHandler, without_slot


async def test_more_requests_than_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = [], asyncio.Event()

    async def answer(self: ASGIHandler, request: HttpRequest) -> None:
        begun.append(request)
        await go_on.wait()

    monkeypatch.setattr(ASGIHandler, "get_response_async", answer)
    handler = SpooledBodyHandler()
    asked = [handler.get_response_async(HttpRequest()) for _ in range(2 * REQUESTS_AT_ONCE)]
    many = asyncio.gather(*asked)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(begun) == REQUESTS_AT_ONCE
    go_on.set()
    await many
    assert len(begun) == 2 * REQUESTS_AT_ONCE


async def test_a_waiting_view_leaves_its_slot_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = [], asyncio.Event()

    async def answer(self: ASGIHandler, request: HttpRequest) -> None:
        async with without_slot(request):
            begun.append(request)
            await go_on.wait()

    monkeypatch.setattr(ASGIHandler, "get_response_async", answer)
    handler = SpooledBodyHandler()
    asked = [handler.get_response_async(HttpRequest()) for _ in range(2 * REQUESTS_AT_ONCE)]
    many = asyncio.gather(*asked)
    for _ in range(4):
        await asyncio.sleep(0)
    assert len(begun) == 2 * REQUESTS_AT_ONCE
    go_on.set()
    await many
