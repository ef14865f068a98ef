"""What the sockets of one process share: a run's state, rendered once, and what changed in it.

One subscription to the channel layer says that a run is at sequence N. The run is then rendered
once from committed rows, in a thread, and every socket is handed what turns the state that it
was sent last into the present one. That last state is all that is kept for a socket: a slow one
misses the states between and ends on the true one.

A message may be lost, and other processes may commit without one (a `manage.py research` or
another server on the same database, where there is no Redis): once a second one query compares
all watched runs with what was rendered.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from channels.layers import get_channel_layer
from django.db import Error as DatabaseError
from django.db import connections
from redis.exceptions import RedisError

from dashboard import announce, fragments, queries
from dashboard.fragments import State
from research.connections import fresh

log = logging.getLogger(__name__)

T = TypeVar("T")
Render = Callable[[str, State | None], State | None]
Sequences = Callable[[Iterable[str]], dict[str, int]]

LAYER_AGAIN_SECONDS = 1.0


@dataclass(frozen=True)
class Timing:
    """All in seconds: between two renderings of a run, so also two sends to a socket, between
    two tail checks, and between two renewals of the subscription, which the in-memory layer
    forgets after a day."""

    render_seconds: float = 0.1
    tail_seconds: float = 1.0
    renew_seconds: float = 3600.0


class Watched:
    """A run that somebody looks at."""

    def __init__(self, public_id: str) -> None:
        self.public_id = public_id
        self.state: State | None = None
        self.gone = False
        self.heard = 0
        self.sockets = 0
        self.rendering: asyncio.Task[None] | None = None
        self._published = asyncio.Event()
        self._messages: dict[State | None, str] = {}

    @property
    def is_behind(self) -> bool:
        return self.state is None or self.heard > self.state.sequence

    def publish(self, state: State | None) -> None:
        self.gone = state is None
        self.state = state or self.state
        self._messages = {}
        self._published.set()
        self._published = asyncio.Event()

    def message(self, sent: State | None) -> str:
        """From the state that a socket was sent to the present one; made once for all sockets."""
        if self.state is None:
            raise RuntimeError("nothing has been rendered yet")
        if sent not in self._messages:
            self._messages[sent] = fragments.message(sent, self.state)
        return self._messages[sent]

    async def changed(self, sent: State | None) -> None:
        """Return once there is another state than `sent`, or the run is gone."""
        while self.state is sent and not self.gone:
            await self._published.wait()


class Hub:
    """Works while somebody watches, on one event loop."""

    def __init__(
        self,
        render: Render = fragments.build_by_id,
        sequences: Sequences = queries.sequences,
        timing: Timing = Timing(),
    ) -> None:
        self.render = render
        self.sequences = sequences
        self.timing = timing
        self.runs: dict[str, Watched] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._sender: announce.Sender | None = None
        self._thread: ThreadPoolExecutor | None = None

    # --- sockets --------------------------------------------------------------------------------

    async def follow(self, public_id: str) -> AsyncGenerator[str, None]:
        """What one socket is sent: all there is, then each change; ends with the run."""
        with self._watching(public_id) as run:
            sent: State | None = None
            while True:
                await run.changed(sent)
                if run.gone or run.state is None:
                    return
                text, sent = run.message(sent), run.state
                yield text
                if sent.ended:
                    return

    @contextmanager
    def _watching(self, public_id: str) -> Iterator[Watched]:
        """A newcomer's page may be newer than what was rendered last: it is rendered again."""
        self._start()
        run = self.runs.setdefault(public_id, Watched(public_id))
        run.sockets += 1
        if run.state is not None:
            run.heard = max(run.heard, run.state.sequence + 1)
        self._refresh(run)
        try:
            yield run
        finally:
            run.sockets -= 1
            if not run.sockets:
                del self.runs[public_id]
            if not self.runs:
                self._stop()

    # --- what was committed -----------------------------------------------------------------------

    def heard(self, public_id: str, sequence: int) -> None:
        run = self.runs.get(public_id)
        if run is not None:
            run.heard = max(run.heard, sequence)
            self._refresh(run)

    def _refresh(self, run: Watched) -> None:
        if run.is_behind and (run.rendering is None or run.rendering.done()):
            name = f"render {run.public_id}"
            run.rendering = asyncio.create_task(self._render(run), name=name)

    async def _render(self, run: Watched) -> None:
        """Until nothing newer was heard of; the tail check comes back to what failed."""
        while run.sockets and run.is_behind:
            begun = time.monotonic()
            run.heard = 0  # what is heard from here on may be newer than what is read
            try:
                state = await self._in_thread(self.render, run.public_id, run.state)
            except DatabaseError:
                log.warning("run %s cannot be shown now", run.public_id, exc_info=True)
                return
            if state is None or run.state is None or state.sequence > run.state.sequence:
                run.publish(state)
            if state is None:
                return
            await asyncio.sleep(max(0, begun + self.timing.render_seconds - time.monotonic()))

    async def _in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, fresh, function, *arguments)

    # --- hearing of it ----------------------------------------------------------------------------

    def _start(self) -> None:
        if self._tasks:
            return
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hub")
        self._sender = announce.Sender(asyncio.get_running_loop())
        announce.begin(self._sender)
        self._tasks = [
            asyncio.create_task(self._listen(), name="hub listens"),
            asyncio.create_task(self._check_tail(), name="hub checks the tail"),
        ]

    def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        if self._sender is not None:
            announce.end(self._sender)
            self._sender = None
        if self._thread is not None:
            self._thread.submit(connections.close_all)
            self._thread.shutdown(wait=False)

    async def _listen(self) -> None:
        """The one subscription of this process."""
        while True:
            try:
                await self._subscribed()
            except (OSError, RedisError):
                log.warning("the channel layer does not answer; pages fall back on the tail check")
                await asyncio.sleep(LAYER_AGAIN_SECONDS)

    async def _subscribed(self) -> None:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        renewing = asyncio.create_task(self._renew(layer, channel), name="hub stays subscribed")
        try:
            await layer.group_add(announce.GROUP, channel)
            while True:
                message = await layer.receive(channel)
                self.heard(message["run"], message["sequence"])
        finally:
            renewing.cancel()
            await layer.group_discard(announce.GROUP, channel)

    async def _renew(self, layer: Any, channel: str) -> None:
        """A task of its own: to break `receive` off ends the channel on Redis."""
        while True:
            await asyncio.sleep(self.timing.renew_seconds)
            try:
                await layer.group_add(announce.GROUP, channel)
            except (OSError, RedisError):
                log.warning("the subscription could not be renewed; it is tried again later")

    async def _check_tail(self) -> None:
        while True:
            await asyncio.sleep(self.timing.tail_seconds)
            try:
                found = await self._in_thread(self.sequences, list(self.runs))
            except DatabaseError:
                log.warning("the database cannot be asked for news", exc_info=True)
                continue
            for public_id in list(self.runs):
                if public_id in found:
                    self.heard(public_id, found[public_id])
                else:
                    self.runs[public_id].publish(None)


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}
_hubs_lock = threading.Lock()


def current() -> Hub:
    """The hub of the running loop: one in a server."""
    loop = asyncio.get_running_loop()
    with _hubs_lock:
        if loop not in _hubs:
            for closed in [each for each in _hubs if each.is_closed()]:
                del _hubs[closed]
            _hubs[loop] = Hub()
        return _hubs[loop]
