"""What the runs of one process share: the page workers, the index of documents, the clients.

Each part is made when it is first needed, and belongs to one event loop.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection

if TYPE_CHECKING:
    import httpx

    from research.llm.client import ChatModel
    from research.llm.settings import ModelSettings
    from research.retrieval.fallback import NamedSearch
    from research.retrieval.fetch import SafeFetch
    from research.retrieval.index import DocumentIndex
    from research.retrieval.index_store import IndexStore
    from research.retrieval.pool import TextPool
    from research.retrieval.samples import SampleLibrary

# What Django tells psycopg beside libpq's own settings.
_OF_PSYCOPG = {"cursor_factory", "context", "prepare_threshold"}


class Parts:
    """What runs share: the page workers, the index of documents, the clients."""

    @cached_property
    def pool(self) -> TextPool:
        from research.retrieval.pool import TextPool

        return TextPool()

    @cached_property
    def index(self) -> DocumentIndex:
        from research.retrieval.index import DocumentIndex

        return DocumentIndex(_index_place())

    @cached_property
    def samples(self) -> SampleLibrary:
        from research.retrieval.samples import SampleLibrary

        return SampleLibrary(self.index, self.pool)

    @cached_property
    def web(self) -> SafeFetch:
        from research.retrieval.fetch import FetchSettings, SafeFetch

        limits = FetchSettings(
            allow_private_hosts=frozenset(settings.FETCH_ALLOW_PRIVATE_HOSTS),
            at_once=settings.FETCH_AT_ONCE,
            at_once_per_host=settings.FETCH_AT_ONCE_PER_HOST,
            interval_seconds=settings.FETCH_INTERVAL_SECONDS,
            obey_robots=settings.FETCH_ROBOTS,
        )
        return SafeFetch(limits, self.pool)

    @cached_property
    def searches(self) -> dict[str, NamedSearch]:
        """The providers that were opened: each is asked at its own pace by all runs together."""
        return {}

    @cached_property
    def client(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient()

    def model(self, wanted: ModelSettings | None) -> ChatModel | None:
        """The client of these settings: the same one as long as they are the same."""
        from research.llm.client import ChatModel

        if wanted is None:
            return None
        if not self.models or self.models[-1].settings != wanted:
            self.models.append(ChatModel(wanted))
        return self.models[-1]

    @cached_property
    def models(self) -> list[ChatModel]:
        """The present one last; runs that began before a change keep theirs."""
        return []

    async def close(self) -> None:
        """Close what was made; nothing is made for the closing."""
        made = self.__dict__
        for part in (*made.get("models", ()), *filter(None, [made.get("web")])):
            await part.aclose()
        if "client" in made:
            await made["client"].aclose()
        for name in ("index", "pool"):
            if name in made:
                made[name].close()
        made.clear()


def _index_place() -> Path | IndexStore:
    """Where documents are indexed: the database that holds the rest, or a file."""
    if settings.DOCUMENT_INDEX == "file" or connection.vendor != "postgresql":
        return settings.STATE_DIR / "documents.sqlite3"
    from psycopg.conninfo import make_conninfo

    from research.retrieval.index_postgres import PostgresStore

    given = connection.get_connection_params()
    libpq = {name: given[name] for name in given.keys() - _OF_PSYCOPG}
    return PostgresStore(make_conninfo(**libpq))
