"""An extraction pool that runs in the calling process, for tests that need no workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from research.extract.pool import TextPool

Item = TypeVar("Item")
Result = TypeVar("Result")


class InProcessPool(TextPool):
    async def run(
        self, function: Callable[[Item], Result], item: Item, *, timeout_seconds: float
    ) -> Result:
        return function(item)
