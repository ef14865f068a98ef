"""Run CPU-heavy text work in a thread, to keep the event loop responsive."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from research.engine.ports import Page

LONG_CHARACTERS = 20_000
"""What is shorter takes some 20 ms at most, and is done at once and in order."""

T = TypeVar("T")
P = ParamSpec("P")


async def run_in_thread_if_long(
    pages: Iterable[Page], work: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """`work(*arguments, **named)`, which goes through these pages; it must change nothing that
    others see.
    """
    if sum(len(page.text) for page in pages) < LONG_CHARACTERS:
        return work(*arguments, **named)
    return await run_in_thread(work, *arguments, **named)


async def run_in_thread(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """`work(*arguments, **named)`, in the one thread for work on texts, in the order of the calls.

    More threads would not be faster, for only one computes at a time; they would only take turns
    with the event loop more often.
    """
    call = partial(contextvars.copy_context().run, work, *arguments, **named)
    return await asyncio.get_running_loop().run_in_executor(_texts(), call)


@cache
def _texts() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="texts")
