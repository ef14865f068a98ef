"""The interface of a background worker: start and stop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Worker(Protocol):
    async def start(self) -> None: ...

    async def stop(self) -> None: ...


@dataclass(frozen=True)
class Together:
    """Several workers as one: started in order, stopped in parallel."""

    workers: Sequence[Worker] = ()

    async def start(self) -> None:
        for worker in self.workers:
            await worker.start()

    async def stop(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self.workers))
