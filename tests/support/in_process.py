"""A pool that extracts texts on the spot: for tests that need no other process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from research.retrieval.pool import TextPool

Item = TypeVar("Item")
Result = TypeVar("Result")


class InProcessPool(TextPool):
    async def run(
        self, function: Callable[[Item], Result], item: Item, *, timeout_seconds: float
    ) -> Result:
        return function(item)
