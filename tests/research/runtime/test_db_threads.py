"""A database that was started anew: who asked it before asks it again."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractUser
from django.db import Error, connection

from research.runtime import tool_factory
from research.services import runs
from tests.research.collections import apart

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="a file breaks no connection"),
]


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _end_backend(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


async def test_the_tools_of_a_run_are_built_again_after_the_database_was_away(
    ada: AbstractUser,
) -> None:
    run = await apart(runs.ask_question, ada, "What is it?", sources={"search": ["none"]})
    assert await tool_factory.build_tools(run)
    await apart(_end_backend, await sync_to_async(_backend)())
    with pytest.raises(Error):
        await tool_factory.build_tools(run)
    assert await tool_factory.build_tools(run)
    await tool_factory.close_tools()
