"""How many requests are answered at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler

from dashboard.handler import REQUESTS_AT_ONCE, SpooledBodyHandler


async def test_more_requests_than_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = [], asyncio.Event()

    async def answer(self: ASGIHandler, scope: dict[str, Any], receive: Any, send: Any) -> None:
        begun.append(scope)
        await go_on.wait()

    monkeypatch.setattr(ASGIHandler, "__call__", answer)
    handler = SpooledBodyHandler()
    many = asyncio.gather(*(handler({}, None, None) for _ in range(2 * REQUESTS_AT_ONCE)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(begun) == REQUESTS_AT_ONCE
    go_on.set()
    await many
    assert len(begun) == 2 * REQUESTS_AT_ONCE
