"""Django's connections where no request opens and closes them: the worker's own threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.db import connections

T = TypeVar("T")


def fresh(function: Callable[..., T], *arguments: object) -> T:
    """Call a function of the database; a connection that broke before is replaced first."""
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()
    return function(*arguments)


async def asked(function: Callable[..., T], *arguments: object) -> T:
    """The same from an event loop, in the thread that Django keeps for such calls."""
    return await sync_to_async(fresh)(function, *arguments)
