"""Run CPU-heavy text work in a thread, to keep the event loop responsive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from research.engine.ports import Page

LONG_CHARACTERS = 50_000
"""What is shorter takes some 50 ms at most, and is done at once and in order."""

T = TypeVar("T")
P = ParamSpec("P")


async def run_in_thread_if_long(
    pages: Iterable[Page], work: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """`work(*arguments, **named)`, which goes through these pages; it must change nothing."""
    if sum(len(page.text) for page in pages) < LONG_CHARACTERS:
        return work(*arguments, **named)
    return await asyncio.to_thread(work, *arguments, **named)
