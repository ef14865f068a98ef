"""`manage.py mcp`: the MCP server over standard input and output."""

from __future__ import annotations

import asyncio
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from research.runtime.schema import migrate_database


class Command(BaseCommand):
    help = "Serves agents over the Model Context Protocol, on standard input and output."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def handle(self, *args: Any, **options: Any) -> None:
        from research.services import documents

        migrate_database()
        documents.take_in(settings.DOCUMENTS)
        asyncio.run(serve_stdio())


async def serve_stdio() -> None:
    """Serve one client as the local admin; runs are executed here unless a server has them."""
    from dashboard.api.auth import Caller
    from dashboard.mcp.server import build_server
    from research.queue.processes import make_workers
    from research.runtime import tool_factory
    from research.runtime.db_threads import query_async
    from research.services import people

    local = Caller(await query_async(people.local_admin))

    async def find_caller(context: Any) -> Caller:
        return local

    beside = make_workers(("research", "indexing"), settings.RESEARCH_SLOTS)
    await beside.start()
    try:
        await build_server(find_caller).run_stdio_async()
    finally:
        await beside.stop()
        await tool_factory.close_tools()
