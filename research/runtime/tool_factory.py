"""Builds a run's live tools from the settings: its analyst, search and fetch.

`Parts` are what all runs of the process share.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection

from research.engine.ports import Fetch, Search, ToolFailedError, Tools
from research.runtime import installation
from research.runtime.db_threads import query_async
from research.runtime.installation import Installation
from research.runtime.program import SystemClock
from research.runtime.source_choices import (
    DOCUMENTS,
    NO_FOLDER,
    NONE,
    SAMPLES,
    chosen_sources,
    documents_alone,
    provider_settings,
)

if TYPE_CHECKING:
    import httpx
    from django.contrib.auth.models import AbstractUser

    from research.engine.config import ResearchConfig
    from research.extract.pool import TextPool
    from research.fetch.fetch import SafeFetch
    from research.fulltext.index import DocumentIndex
    from research.fulltext.index_store import IndexStore
    from research.limits.database import DatabaseStore
    from research.llm.client import ChatModel
    from research.llm.embeddings import EmbeddingModel
    from research.llm.settings import EmbeddingSettings, ModelSettings
    from research.models import Collection, Run
    from research.search.documents import SampleLibrary
    from research.search.fallback import NamedSearch

NO_FILES = "There are no files in the chosen documents yet."
# Connection parameters of psycopg that libpq doesn't know.
_OF_PSYCOPG = {"cursor_factory", "context", "prepare_threshold"}


class Parts:
    """Resources shared by the runs of one process: text workers, document index, HTTP clients.

    Each is created on first use. All belong to one event loop, except that pages search the index,
    too.
    """

    def __init__(self) -> None:
        self._creating_index = threading.Lock()

    @cached_property
    def pool(self) -> TextPool:
        from research.extract.pool import TextPool

        return TextPool()

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

        from research.fetch.network import tls_context

        return httpx.AsyncClient(verify=tls_context())

    def model(self, wanted: ModelSettings | None) -> ChatModel | None:
        """Return the client for these settings, the same one while they don't change."""
        if wanted is None:
            return None
        from research.llm.client import ChatModel  # imports openai

        if not self.models or self.models[-1].settings != wanted:
            self.models.append(ChatModel(wanted, store=self.limits))
        return self.models[-1]

    def embedder(self, wanted: EmbeddingSettings | None) -> EmbeddingModel | None:
        """Return the embedding client for these settings, the same one while they don't change."""
        if wanted is None:
            return None
        from research.llm.embeddings import EmbeddingModel  # imports openai

        if not self.embedders or self.embedders[-1].settings != wanted:
            self.embedders.append(EmbeddingModel(wanted, store=self.limits))
        return self.embedders[-1]

    @cached_property
    def embedders(self) -> list[EmbeddingModel]:
        """Embedding clients, the current one last; searches that began before a change keep
        theirs.
        """
        return []

    @cached_property
    def models(self) -> list[ChatModel]:
        """Model clients, the current one last; runs that began before a change keep theirs."""
        return []

    async def close(self) -> None:
        """Close the resources that were created."""
        made = self.__dict__
        clients = (*made.get("models", ()), *made.get("embedders", ()))
        for part in (*clients, *filter(None, [made.get("web")])):
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


_parts = Parts()


async def close_tools() -> None:
    await _parts.close()


def web_fetch() -> SafeFetch:
    return _parts.web


def index_and_pool() -> tuple[DocumentIndex, TextPool]:
    """Return the document index and the worker pool that extracts texts for it."""
    return _parts.index, _parts.pool


def text_pool() -> TextPool:
    return _parts.pool


# --- a run's tools ---------------------------------------------------------------------------


async def build_tools(run: Run) -> Tools:
    """Return the live tools of a run, by the sources frozen in it.

    The sources are frozen when the run is first executed. Documents are indexed first; a run that
    only rewrites a report needs none, so they may be deleted by then. Raise `ToolFailedError` with
    a sentence for users.
    """
    from research.engine.config import ResearchConfig
    from research.models.runs import REWRITES

    now = await query_async(installation.current_installation)
    if not run.sources:
        run.sources = await asyncio.to_thread(chosen_sources, now)
        await type(run).objects.filter(pk=run.pk).aupdate(sources=run.sources)
    await asyncio.to_thread(_read_certificates)
    web = _web_of(run, ResearchConfig.model_validate(run.config))
    sources = {"search": [NONE]} if run.kind in REWRITES else run.sources
    collections = await query_async(_collections_of, run.owner, sources)
    search, fetch, names = await _sources(sources, web, now, _parts, collections)
    contents = await _described(names) if documents_alone(sources) else []
    if now.model_settings is not None:
        await asyncio.to_thread(_load_client)
    model = _parts.model(now.model_settings)
    return Tools(search, fetch, SystemClock(), model, contents=tuple(contents))


async def _described(names: Sequence[str]) -> list[str]:
    from research.search.contents import describe_contents

    return await describe_contents(_parts.index, names)


def _read_certificates() -> None:
    from research.fetch.network import tls_context

    tls_context()


def _load_client() -> None:
    """Import what a model is called with, which takes most of a second that other runs use."""
    import openai.resources.chat  # noqa: F401 - the first call would load it

    import research.llm.client  # noqa: F401
    from research.fetch.network import model_tls_context

    model_tls_context()


@asynccontextmanager
async def own_tools(now: Installation) -> AsyncIterator[Tools]:
    """Yield tools without a model, for a single use on the current event loop.

    Raise `ToolFailedError` with a sentence for users.
    """
    parts = Parts()
    try:
        chosen = await asyncio.to_thread(chosen_sources, now)
        search, fetch, _ = await _sources(chosen, parts.web, now, parts)
        yield Tools(search, fetch, SystemClock())
    finally:
        await parts.close()


async def _sources(
    chosen: dict[str, Any],
    web: Fetch,
    now: Installation,
    parts: Parts,
    collections: Sequence[Collection] = (),
) -> tuple[Search, Fetch, Sequence[str]]:
    """Return search and fetch, and the names in the index of the documents that are searched."""
    from research.search.fallback import FallbackSearch, NamedSearch, NoSearch

    names = list(chosen.get("search", ()))
    folders = [Path(folder) for folder in chosen.get("documents", ())]
    if names == [NONE]:
        return NoSearch(), web, ()
    searches, indexed = list[NamedSearch](), list[str]()
    fetch: Fetch = parts.samples if SAMPLES in names else web
    for name in names:
        if name == SAMPLES:
            searches.append(NamedSearch("the sample library", parts.samples))
        elif name == DOCUMENTS:
            search, documents, indexed = await _documents(folders, collections, now, parts)
            searches.append(NamedSearch("your documents", search, is_private=True))
            fetch = AddressedFetch(documents, fetch)
        else:
            searches.append(_provider(name, now, parts))
    return FallbackSearch(searches), fetch, indexed


def _provider(name: str, now: Installation, parts: Parts) -> NamedSearch:
    """Return the provider that all runs share (with its rate limit) while its settings stay."""
    from research.search.providers import open_provider, require_provider

    settings = provider_settings(now)
    needs = require_provider(name, settings).needs
    key = f"{name} {settings[needs] if needs else ''}"
    if key not in parts.searches:
        parts.searches[key] = open_provider(
            name, replace(settings, store=parts.limits), parts.client
        )
    return parts.searches[key]


def _web_of(run: Run, config: ResearchConfig) -> Fetch:
    """Return the web within the run's bounds, through the page cache."""
    from research.fetch.page_cache import PageCache, RunFetch
    from research.search.bounds import Bounds

    cache = PageCache(run.owner_id, config.page_max_age_hours)
    return RunFetch(_parts.web, Bounds.of_run(config), cache)


def _collections_of(owner: AbstractUser, sources: dict[str, Any]) -> list[Collection]:
    """Return the run's collections, as visible to its owner.

    Raise `ToolFailedError` if one is gone.
    """
    from research.models import Collection

    wanted = sources.get("collections", ())
    seen = Collection.objects.visible_to(owner).in_bulk(
        [each["id"] for each in wanted], field_name="public_id"
    )
    gone = [each["name"] for each in wanted if each["id"] not in seen]
    if gone:
        raise ToolFailedError(f"These documents no longer exist: {', '.join(gone)}.")
    return [seen[each["id"]] for each in wanted]


async def _documents(
    folders: list[Path], collections: Sequence[Collection], now: Installation, parts: Parts
) -> tuple[Search, Fetch, list[str]]:
    """Return search and fetch over folders and collections, after indexing their changes, and the
    names of both in the index.
    """
    from research.documents.folder import DocumentError
    from research.documents.indexing_log import refresh_and_log
    from research.search.documents import DocumentFetch, DocumentSearch

    if not folders and not collections:
        raise ToolFailedError(NO_FOLDER, permanent=True)
    try:
        reports = [await refresh_and_log(parts.index, folder, parts.pool) for folder in folders]
        own = [await _index_name_of(collection, parts) for collection in collections]
    except DocumentError as error:
        raise ToolFailedError(error.reason, permanent=True) from error
    names = [*(report.collection for report in reports), *filter(None, own)]
    if not names:
        raise ToolFailedError(NO_FILES, permanent=True)
    wanted = now.embedding_settings
    if wanted is not None:
        await asyncio.to_thread(_load_client)
    search = DocumentSearch(parts.index, names, embedder=parts.embedder(wanted))
    return search, DocumentFetch(parts.index, names), names


async def _index_name_of(collection: Collection, parts: Parts) -> str:
    """Return the collection's name in the index, '' if it has no documents yet.

    Uploads change only with the revision, so an up-to-date collection needn't wait while another
    one is being indexed.
    """
    from research.documents.indexing import bring_up_to_date

    is_current = not collection.folder and collection.indexed_revision == collection.revision
    if is_current and collection.index_name in await parts.index.collections():
        return collection.index_name
    if not collection.folder and not await collection.files.aexists():
        return ""
    report = await bring_up_to_date(collection, parts.index, parts.pool)
    return report.collection


class AddressedFetch:
    """Fetches documents by their `file:` address, and everything else by the other fetch."""

    def __init__(self, documents: Fetch, other: Fetch) -> None:
        self._documents = documents
        self._other = other

    async def fetch(self, url: str) -> Any:
        tool = self._documents if url.startswith("file:") else self._other
        return await tool.fetch(url)
