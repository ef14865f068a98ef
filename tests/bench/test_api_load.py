"""The load of the API: whole runs are followed over reconnects, and losses are counted."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from bench.api_load import Load, measure, serving


def event(number: int, *, ended: bool = False) -> str:
    payload = {"run": {"finished_at": "now" if ended else None}}
    return f"event: progress\nid: {number}\ndata: {json.dumps(payload)}\n\n"


def follow(*bodies: str) -> Load:
    """Follow a run whose connections return these bodies in turn."""
    answers = iter(bodies)

    async def run() -> Load:
        transport = httpx.MockTransport(lambda request: httpx.Response(200, text=next(answers)))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            load = Load(lambda: http, seed=1)
            await load._follow(http, "R")
            return load

    return asyncio.run(run())


def test_a_stream_reconnects_until_the_final_state() -> None:
    found = follow(
        "retry: 0\n" + event(1), event(2) + event(3, ended=True), event(3, ended=True)
    ).measured
    assert found.reconnects >= 1 and (found.unfinished, found.followed) == (0, 1)


def test_an_event_that_comes_again_is_counted() -> None:
    assert follow("retry: 0\n" + event(2), event(2), event(3, ended=True)).measured.repeated == 1


def test_a_run_that_never_ends_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.api_load.LONGEST_SECONDS", 0)
    assert follow().measured.unfinished == 1


@pytest.mark.subprocess
@pytest.mark.slow
def test_a_small_load_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.api_load.COUNTED_POLLS", 20)
    with serving() as served:
        found = asyncio.run(measure(served, pollers=2, streams=3, seconds=0))
    assert (found.runs, found.followed, found.unfinished) == (1, 3, 0)
    assert found.polls and found.events and not (found.repeated or found.errors)
    assert min(found.cpu_milliseconds.values()) > 0
    assert min(found.cores.values()) > 0 and found.late
