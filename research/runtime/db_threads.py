"""Database connections of the worker's own threads, which no request opens and closes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.db import connections

T = TypeVar("T")


def with_fresh_connection(function: Callable[..., T], *arguments: object) -> T:
    """Call a function that uses the database; replace a broken connection first."""
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()
    return function(*arguments)


async def query_async(function: Callable[..., T], *arguments: object) -> T:
    """Call a database function from an event loop, in the thread that Django keeps for this."""
    return await sync_to_async(with_fresh_connection)(function, *arguments)
