"""Server-sent events of a run in the progress schema.

A second hub renders each followed run once, as JSON, for all clients. Every event is the whole
state, so a client that reconnects or is slow loses nothing: it continues with the current one.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from django.http import StreamingHttpResponse

from dashboard.live.hub import hub_for
from research.models import Run
from research.readmodel.progress import build_payload
from research.readmodel.progress_parts import Progress
from research.readmodel.run_rows import Committed

KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = b": still here\n\n"
RUNS_KEPT = 64
RECONNECT_MILLISECONDS = (500, 1500)
"""Clients whose connections broke at the same moment come back spread over this range."""


@dataclass(frozen=True, eq=False)
class ProgressState:
    """A run's progress as committed at `sequence`."""

    run: str
    sequence: int
    ended: bool
    progress: Progress

    @cached_property
    def event(self) -> bytes:
        return event_bytes(self.progress.model_dump_json(), "progress", self.sequence)


async def progress_states(
    public_id: str, after: int = -1, known: int | None = None
) -> AsyncGenerator[ProgressState, None]:
    """Yield the state of a run with a sequence above `after`, then each change until it ends.

    `known` is a sequence that was committed before, None to look it up.
    """
    hub = hub_for("progress", build_progress)
    async with aclosing(hub.states(public_id, known)) as states:
        async for state in states:
            if state.sequence > after:
                yield state


async def progress_events(public_id: str, after: int, known: int) -> AsyncGenerator[bytes, None]:
    """Yield the events; the first tells the client when to reconnect after a lost connection."""
    head = f"retry: {random.randint(*RECONNECT_MILLISECONDS)}\n".encode()
    async with aclosing(progress_states(public_id, after, known)) as states:
        async for state in states:
            yield head + state.event
            head = b""


def event_stream(events: AsyncGenerator[bytes, None]) -> StreamingHttpResponse:
    """Return a response of events, with comments in pauses so that proxies keep it open."""
    response = StreamingHttpResponse(
        with_keep_alive(events), content_type="text/event-stream; charset=utf-8"
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


async def with_keep_alive(
    events: AsyncGenerator[bytes, None], seconds: float = KEEP_ALIVE_SECONDS
) -> AsyncGenerator[bytes]:
    """Yield the events, and a comment whenever none has come for `seconds`."""
    following: asyncio.Task[bytes] | None = None
    try:
        while True:
            following = following or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait({following}, timeout=seconds)
            if not done:
                yield KEEP_ALIVE
                continue
            try:
                event = following.result()
            except StopAsyncIteration:
                return
            following = None
            yield event
    finally:
        if following is not None:
            following.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await following
        await events.aclose()


def event_bytes(data: str, name: str = "", number: int | None = None) -> bytes:
    """Return one event; `data` must be one line."""
    head = f"event: {name}\n" if name else ""
    head += "" if number is None else f"id: {number}\n"
    return f"{head}data: {data}\n\n".encode()


def build_progress(public_id: str, previous: Any = None) -> ProgressState | None:
    """Build the state of a run as committed now; None if it was deleted."""
    run = Run.objects.filter(public_id=public_id).first()
    if run is None:
        return None
    return ProgressState(run.public_id, run.sequence, run.ended, shared_progress(run))


_building = tuple(threading.Lock() for _ in range(RUNS_KEPT))
"""Lets one thread build a state that several ask for; runs rarely share a lock."""


def shared_progress(run: Run) -> Progress:
    """Return the progress of a run, built once for each of its states; not to be changed."""
    with _building[hash(run.public_id) % len(_building)]:
        return _build(_RunState(run.public_id, run.sequence, run))


@dataclass(frozen=True)
class _RunState:
    public_id: str
    sequence: int
    run: Run = field(compare=False)


@lru_cache(maxsize=RUNS_KEPT)
def _build(state: _RunState) -> Progress:
    """Build the progress as committed at the state's sequence or later."""
    return build_payload(Committed(state.run))
