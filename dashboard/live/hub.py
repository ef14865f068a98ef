"""Per-process hub: fan-out of diffs to WebSocket clients, each run rendered once per language.

One subscription to the channel layer reports that a run reached sequence N. The run is then
rendered from committed rows, in a thread, once for each language in use, and every client receives
the diff from the state it was sent last. Only that state is kept per client (backpressure): a slow
client skips intermediate states and ends on the current one.

Messages can be lost, and without Redis other processes (`manage.py research`, or a second server on
the same database) commit without sending any. Therefore one query per second compares all watched
runs with the rendered states.
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
from django.utils import translation

from dashboard.live import fragments, progress_publisher
from dashboard.live.fragments import State
from dashboard.queries import queries
from research.runtime.db_threads import with_fresh_connection

log = logging.getLogger(__name__)

T = TypeVar("T")
Render = Callable[[str, Any], Any]
Sequences = Callable[[Iterable[str]], dict[str, int]]

LAYER_AGAIN_SECONDS = 1.0
ENGLISH = "en"


@dataclass(frozen=True)
class Timing:
    """Intervals in seconds.

    `render_seconds` passes between two renderings of a run, which throttles messages, too;
    `tail_seconds` between two tail checks; `renew_seconds` between two renewals of the
    subscription, which the in-memory layer forgets after a day.
    """

    render_seconds: float = 0.1
    tail_seconds: float = 1.0
    renew_seconds: float = 3600.0


class Watched:
    """A run in one language with at least one WebSocket client."""

    def __init__(self, public_id: str, language: str) -> None:
        self.public_id = public_id
        self.language = language
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
        # Wakes all current waiters; those that come later wait for the next state.
        self._published.set()
        self._published = asyncio.Event()

    def message(self, sent: State | None) -> str:
        """Return the diff from the state `sent` last to the current one, cached for all clients."""
        if self.state is None:
            raise RuntimeError("nothing has been rendered yet")
        if sent not in self._messages:
            self._messages[sent] = fragments.update_message(sent, self.state)
        return self._messages[sent]

    async def following(self, sent: State | None) -> State | None:
        """Wait for a state other than `sent`; return None once the run has ended or is deleted."""
        if sent is not None and sent.ended:
            return None
        while self.state is sent and not self.gone:
            await self._published.wait()
        return None if self.gone else self.state


class Hub:
    """Renders and publishes watched runs on one event loop; idle while there are no clients."""

    def __init__(
        self,
        render: Render = fragments.build_by_id,
        sequences: Sequences = queries.current_sequences,
        timing: Timing = Timing(),
    ) -> None:
        self.render = render
        self.sequences = sequences
        self.timing = timing
        self.runs: dict[str, dict[str, Watched]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._sender: progress_publisher.Sender | None = None
        self._thread: ThreadPoolExecutor | None = None

    # --- sockets --------------------------------------------------------------------------------

    async def follow(
        self, public_id: str, language: str = ENGLISH, known: int | None = None
    ) -> AsyncGenerator[str, None]:
        """Yield the messages for one client: the full state, then each diff, until the run ends."""
        with self._watching(public_id, language, known) as run:
            sent: State | None = None
            while (state := await run.following(sent)) is not None:
                text, sent = run.message(sent), state
                yield text

    async def states(self, public_id: str, known: int | None = None) -> AsyncGenerator[Any, None]:
        """Yield the current state, then each later one, until the run ends."""
        with self._watching(public_id, known=known) as run:
            sent: Any = None
            while (state := await run.following(sent)) is not None:
                sent = state
                yield state

    @contextmanager
    def _watching(
        self, public_id: str, language: str = ENGLISH, known: int | None = None
    ) -> Iterator[Watched]:
        """Register a client that may know the sequence `known`; None renders the run again."""
        self._start()
        languages = self.runs.setdefault(public_id, {})
        run = languages.setdefault(language, Watched(public_id, language))
        run.sockets += 1
        if run.state is not None:
            run.heard = max(run.heard, run.state.sequence + 1 if known is None else known)
        self._refresh(run)
        try:
            yield run
        finally:
            run.sockets -= 1
            if not run.sockets:
                del languages[language]
            if not languages and self.runs.get(public_id) is languages:
                del self.runs[public_id]
            if not self.runs:
                self._stop()

    # --- rendering --------------------------------------------------------------------------------

    def heard(self, public_id: str, sequence: int) -> None:
        for run in self.runs.get(public_id, {}).values():
            run.heard = max(run.heard, sequence)
            self._refresh(run)

    def _refresh(self, run: Watched) -> None:
        if run.is_behind and (run.rendering is None or run.rendering.done()):
            name = f"render {run.public_id} {run.language}"
            run.rendering = asyncio.create_task(self._render(run), name=name)

    async def _render(self, run: Watched) -> None:
        """Render until the state is current. After an error the tail check triggers a retry."""
        while run.sockets and run.is_behind:
            begun = time.monotonic()
            run.heard = 0  # messages received from here on may be newer than the rows read below
            try:
                state = await self._in_thread(self._render_state, run)
            except DatabaseError:
                log.warning("run %s cannot be shown now", run.public_id, exc_info=True)
                return
            if state is None or run.state is None or state.sequence > run.state.sequence:
                run.publish(state)
            if state is None:
                return
            await asyncio.sleep(max(0, begun + self.timing.render_seconds - time.monotonic()))

    def _render_state(self, run: Watched) -> Any:
        with translation.override(run.language):
            return self.render(run.public_id, run.state)

    async def _in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, with_fresh_connection, function, *arguments)

    # --- subscription and tail check --------------------------------------------------------------

    def _start(self) -> None:
        if self._tasks:
            return
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hub")
        self._sender = progress_publisher.Sender(asyncio.get_running_loop())
        progress_publisher.register_sender(self._sender)
        self._tasks = [
            asyncio.create_task(self._listen(), name="hub listens"),
            asyncio.create_task(self._check_tail(), name="hub checks the tail"),
        ]

    def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        if self._sender is not None:
            progress_publisher.unregister_sender(self._sender)
            self._sender = None
        if self._thread is not None:
            self._thread.submit(connections.close_all)
            self._thread.shutdown(wait=False)

    async def _listen(self) -> None:
        """Keep the process's single subscription, and subscribe again after an error."""
        while True:
            try:
                await self._subscribed()
            except progress_publisher.layer_errors():
                log.warning("the channel layer does not answer; pages fall back on the tail check")
                await asyncio.sleep(LAYER_AGAIN_SECONDS)

    async def _subscribed(self) -> None:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        renewing = asyncio.create_task(self._renew(layer, channel), name="hub stays subscribed")
        try:
            await layer.group_add(progress_publisher.GROUP, channel)
            while True:
                message = await layer.receive(channel)
                self.heard(message["run"], message["sequence"])
        finally:
            renewing.cancel()
            await layer.group_discard(progress_publisher.GROUP, channel)

    async def _renew(self, layer: Any, channel: str) -> None:
        """Renew the subscription periodically.

        This is a separate task, because cancelling `receive` would end the channel on Redis.
        """
        while True:
            await asyncio.sleep(self.timing.renew_seconds)
            try:
                await layer.group_add(progress_publisher.GROUP, channel)
            except progress_publisher.layer_errors():
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
                    for run in self.runs[public_id].values():
                        run.publish(None)


_hubs: dict[tuple[str, asyncio.AbstractEventLoop], Hub] = {}
_hubs_lock = threading.Lock()


def current_hub() -> Hub:
    """Return the hub of pages of the running event loop."""
    return hub_for("pages", fragments.build_by_id)


def hub_for(name: str, render: Render) -> Hub:
    """Return the hub of this name on the running event loop; a server has one loop."""
    key = name, asyncio.get_running_loop()
    with _hubs_lock:
        if key not in _hubs:
            for closed in [each for each in _hubs if each[1].is_closed()]:
                del _hubs[closed]
            _hubs[key] = Hub(render)
        return _hubs[key]
