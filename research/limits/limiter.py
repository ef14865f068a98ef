"""Waits for a turn under a limit whose state may be shared with other processes."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import random
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from research.limits.state import LEASE_SECONDS, LimitState, Rule

log = logging.getLogger(__name__)

T = TypeVar("T")

POLL_SECONDS = 0.1
"""Longest pause between two looks for a free place."""

_numbers = itertools.count(1)


class Store(Protocol):
    """A store of limit states. `change` calls a function with the state and the store's time."""

    async def change(self, name: str, function: Callable[[LimitState, float], T]) -> T: ...


class MemoryStore:
    """States of this process alone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._states: dict[str, LimitState] = {}

    async def change(self, name: str, function: Callable[[LimitState, float], T]) -> T:
        return function(self._states.setdefault(name, LimitState()), self._clock())


@dataclass
class Turn:
    """A turn: who has it, the tokens that it was begun with, and the second in which it began.

    `took` may be set to the tokens that it really took, `succeeded` if the server is up.
    """

    holder: str
    tokens: int = 0
    second: int = 0
    took: int | None = None
    succeeded: bool = False


class Limiter:
    """Gives turns under a rule, in the order of asking within this process."""

    def __init__(self, name: str, rule: Rule, store: Store) -> None:
        self.name = name
        self.rule = rule
        self.store = store
        self._first = asyncio.Lock()

    @asynccontextmanager
    async def turn(self, tokens: int = 0) -> AsyncIterator[Turn]:
        """Wait for a turn with this number of expected tokens.

        Raise `BreakerOpenError` or the store's errors.
        """
        turn = Turn(f"{holder_prefix()}{next(_numbers)}", tokens)
        async with self._first:
            await self._begin(turn)
        renewal = asyncio.create_task(self._renew(turn), name=f"renew {self.name}")
        try:
            yield turn
        finally:
            renewal.cancel()
            await asyncio.shield(self._end(turn))

    async def hold(self, seconds: float) -> None:
        """Begin no turn within the next `seconds`, in any process."""
        await self.store.change(self.name, lambda state, now: state.hold(now + seconds))

    async def failed(self, turn: Turn, *, absent: bool = False) -> bool:
        """Count a failure of the server in any process; return whether it counts as down now."""

        def fail(state: LimitState, now: float) -> bool:
            state.breaker.failed(self.rule.breaker, now, turn.holder, absent=absent)
            return state.breaker.is_down

        try:
            return await self.store.change(self.name, fail)
        except Exception as error:  # whatever a store raises, the call itself has its answer
            log.warning("%s: a failure could not be counted: %s", self.name, error)
            return False

    async def _begin(self, turn: Turn) -> None:
        taking = asyncio.ensure_future(self._take(turn))
        try:
            while (wait := await asyncio.shield(taking)) != 0:
                pause = POLL_SECONDS * (0.5 + random.random() / 2) if wait is None else wait
                await asyncio.sleep(pause)
                taking = asyncio.ensure_future(self._take(turn))
        except asyncio.CancelledError:
            await asyncio.wait([taking])
            if not taking.cancelled() and taking.exception() is None and taking.result() == 0:
                turn.took = 0
                await asyncio.shield(self._end(turn))
            raise

    async def _take(self, turn: Turn) -> float | None:
        def take(state: LimitState, now: float) -> float | None:
            turn.second = int(now)
            return state.take(self.rule, now, turn.holder, turn.tokens)

        return await self.store.change(self.name, take)

    async def _renew(self, turn: Turn) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 4)
            try:
                await self.store.change(self.name, lambda state, now: state.renew(now, turn.holder))
            except Exception as error:  # tried again soon, whatever the store raised
                log.warning("%s: a place could not be renewed: %s", self.name, error)

    async def _end(self, turn: Turn) -> None:
        """Free the place; if the store is away, the place frees itself when its lease ends."""

        def end(state: LimitState, now: float) -> None:
            state.release(turn.holder)
            if turn.succeeded:
                state.breaker.succeeded()
            if turn.took is not None:
                state.correct(turn.second, turn.took - turn.tokens)

        try:
            await self.store.change(self.name, end)
        except Exception as error:  # its lease ends by itself, whatever the store raised
            log.warning("%s: a place could not be given back: %s", self.name, error)


@dataclass(frozen=True)
class Shared:
    """A limit of this name in a store."""

    store: Store
    name: str

    def limiter(self, rule: Rule) -> Limiter:
        return Limiter(self.name, rule, self.store)


def holder_prefix(host: str = "", pid: int = 0) -> str:
    """Return the prefix of the holders that belong to a process, by default this one."""
    return f"{(host or socket.gethostname())[:60]}:{pid or os.getpid()}:"
