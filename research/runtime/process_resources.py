"""Resources shared by the runs of one process: extraction workers, document index, HTTP clients.

Each is created on first use. All belong to one event loop, except that pages search the index, too.
"""

from __future__ import annotations

import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection

if TYPE_CHECKING:
    import httpx

    from research.extract.pool import TextPool
    from research.fetch.fetch import SafeFetch
    from research.fulltext.index import DocumentIndex
    from research.fulltext.index_store import IndexStore
    from research.limits.database import DatabaseStore
    from research.llm.client import ChatModel
    from research.llm.settings import ModelSettings
    from research.search.documents import SampleLibrary
    from research.search.fallback import NamedSearch

# Connection parameters of psycopg that libpq doesn't know.
_OF_PSYCOPG = {"cursor_factory", "context", "prepare_threshold"}


class Parts:
    """Shared resources of one process."""

    @cached_property
    def pool(self) -> TextPool:
        from research.extract.pool import TextPool

        return TextPool()

    def __init__(self) -> None:
        self._creating_index = threading.Lock()

    @property
    def index(self) -> DocumentIndex:
        with self._creating_index:
            return self._index

    @cached_property
    def _index(self) -> DocumentIndex:
        from research.fulltext.index import DocumentIndex

        return DocumentIndex(_index_place())

    @cached_property
    def samples(self) -> SampleLibrary:
        from research.search.documents import SampleLibrary

        return SampleLibrary(self.index, self.pool)

    @cached_property
    def web(self) -> SafeFetch:
        from research.fetch.fetch import FetchSettings, SafeFetch

        limits = FetchSettings(
            allow_private_hosts=frozenset(settings.FETCH_ALLOW_PRIVATE_HOSTS),
            at_once=settings.FETCH_AT_ONCE,
            at_once_per_host=settings.FETCH_AT_ONCE_PER_HOST,
            interval_seconds=settings.FETCH_INTERVAL_SECONDS,
            obey_robots=settings.FETCH_ROBOTS,
        )
        return SafeFetch(limits, self.pool, store=self.limits)

    @cached_property
    def limits(self) -> DatabaseStore | None:
        """Limits that all processes share; None on SQLite, where each process has its own."""
        from research.limits.database import DatabaseStore

        return DatabaseStore() if connection.vendor == "postgresql" else None

    @cached_property
    def searches(self) -> dict[str, NamedSearch]:
        """Opened search providers by name, so that all runs share each one's rate limit."""
        return {}

    @cached_property
    def client(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient()

    def model(self, wanted: ModelSettings | None) -> ChatModel | None:
        """Return the client for these settings, the same one while they don't change."""
        if wanted is None:
            return None
        from research.llm.client import ChatModel  # imports openai

        if not self.models or self.models[-1].settings != wanted:
            self.models.append(ChatModel(wanted, store=self.limits))
        return self.models[-1]

    @cached_property
    def models(self) -> list[ChatModel]:
        """Model clients, the current one last; runs that began before a change keep theirs."""
        return []

    async def close(self) -> None:
        """Close the resources that were created."""
        made = self.__dict__
        for part in (*made.get("models", ()), *filter(None, [made.get("web")])):
            await part.aclose()
        if "client" in made:
            await made["client"].aclose()
        for name in ("_index", "pool", "limits"):
            if made.get(name) is not None:
                made[name].close()
        for name in made.keys() - {"_creating_index"}:
            del made[name]


def _index_place() -> Path | IndexStore:
    """Return the document index's storage: the PostgreSQL database, or an SQLite file."""
    if settings.DOCUMENT_INDEX == "file" or connection.vendor != "postgresql":
        return settings.STATE_DIR / "documents.sqlite3"
    from psycopg.conninfo import make_conninfo

    from research.fulltext.index_postgres import PostgresStore

    given = connection.get_connection_params()
    libpq = {name: given[name] for name in given.keys() - _OF_PSYCOPG}
    return PostgresStore(make_conninfo(**libpq))
