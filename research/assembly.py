"""Puts a run's live tools together from the settings: which analyst, which search, which fetch.

The parts are made once per process, when first needed, and belong to one event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection

from research import installation
from research.clock import SystemClock
from research.connections import asked
from research.engine.tools import Fetch, Search, ToolFailure, Tools
from research.installation import Installation

if TYPE_CHECKING:
    import httpx
    from django.contrib.auth.models import AbstractUser

    from research.engine.config import ResearchConfig
    from research.llm.client import ChatModel
    from research.llm.settings import ModelSettings
    from research.models import Collection, Run
    from research.retrieval.fallback import NamedSearch
    from research.retrieval.fetch import SafeFetch
    from research.retrieval.index import DocumentIndex
    from research.retrieval.index_store import IndexStore
    from research.retrieval.online import NetworkProbe
    from research.retrieval.pool import TextPool
    from research.retrieval.samples import SampleLibrary

# What Django tells psycopg beside libpq's own settings.
_OF_PSYCOPG = {"cursor_factory", "context", "prepare_threshold"}

SAMPLES, DOCUMENTS, NONE = "samples", "documents", "none"
NO_FOLDER = "No folder of documents was named: set DOCUMENTS or add --documents PATH."
NO_FILES = "There are no files in the chosen documents yet."


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


_parts = Parts()


async def close() -> None:
    await _parts.close()


def web_fetch() -> SafeFetch:
    return _parts.web


def documents() -> tuple[DocumentIndex, TextPool]:
    """The index of documents, and the workers that read for it."""
    return _parts.index, _parts.pool


# --- a run's tools ---------------------------------------------------------------------------


async def build_tools(run: Run) -> Tools:
    """The live tools of a run by the sources frozen in it.

    What to search is frozen in the run when it is first worked on. Documents are indexed
    first; a run that only writes a report anew needs none, so they may be gone by then.
    Raises `ToolFailure` with a sentence for people.
    """
    from research.engine.config import ResearchConfig
    from research.models.runs import REWRITES

    now = await asked(installation.current)
    if not run.sources:
        run.sources = await asyncio.to_thread(chosen_sources, now)
        await type(run).objects.filter(pk=run.pk).aupdate(sources=run.sources)
    web = _web_of(run, ResearchConfig.model_validate(run.config))
    sources = {"search": [NONE]} if run.kind in REWRITES else run.sources
    collections = await asked(_collections_of, run.owner, sources)
    search, fetch = await _sources(sources, web, now, _parts, collections)
    return Tools(search, fetch, SystemClock(), _parts.model(now.model_settings))


@asynccontextmanager
async def own_tools(now: Installation) -> AsyncIterator[Tools]:
    """Tools without a model, for one use on the loop of this moment; closed at the end.

    Raises `ToolFailure` with a sentence for people.
    """
    parts = Parts()
    try:
        chosen = await asyncio.to_thread(chosen_sources, now)
        search, fetch = await _sources(chosen, parts.web, now, parts)
        yield Tools(search, fetch, SystemClock())
    finally:
        await parts.close()


def chosen_sources(now: Installation) -> dict[str, Any]:
    """What a new run searches where its asker chose nothing.

    Where nothing is configured either: the web without a key if there is a network, which
    may take a second to find out the first time; else the sample library.
    """
    if now["SEARCH_PROVIDER"]:
        return _searching(_named(now))
    if settings.DOCUMENTS:
        return _searching([DOCUMENTS])
    return _searching(_web_names(now) or [SAMPLES])


def source_choices(now: Installation, *, collections: bool = False) -> dict[str, dict[str, Any]]:
    """What a person may choose to search: a name → the `sources` of a run.

    The web is among them only where it may be searched and, without a key, is to be reached;
    documents where folders are set up or the person has `collections`.
    """
    web = _web_names(now)
    found = {"web": web} if web else {}
    if settings.DOCUMENTS or collections:
        found["documents"] = [DOCUMENTS]
        found |= {"both": [DOCUMENTS, *web]} if web else {}
    found[SAMPLES] = [SAMPLES]
    return {name: _searching(names) for name, names in found.items()}


def _named(now: Installation) -> list[str]:
    return [name.strip() for name in now["SEARCH_PROVIDER"].split(",")]


def _web_names(now: Installation) -> list[str]:
    """The named searches of the web, else those that somebody set up, else those without a key."""
    from research.retrieval.providers import KEYLESS_WEB, configured

    if now["SEARCH_PROVIDER"]:
        return [name for name in _named(now) if name not in {SAMPLES, DOCUMENTS, NONE}]
    names = configured(_provider_settings(now))
    return names or (KEYLESS_WEB if _network(settings.NETWORK_PROBE)() else [])


def _searching(names: list[str]) -> dict[str, Any]:
    return {"search": names, "documents": settings.DOCUMENTS if DOCUMENTS in names else []}


def check_searches(names: Sequence[str], folders: Sequence[Path]) -> None:
    """Raises `ToolFailure` for a search that is unknown, not configured or without a folder."""
    from research.retrieval.providers import checked

    now = installation.current()
    for name in names:
        if name == DOCUMENTS and not folders:
            raise ToolFailure(NO_FOLDER, permanent=True)
        if name not in {SAMPLES, DOCUMENTS, NONE}:
            checked(name, _provider_settings(now))


async def _sources(
    chosen: dict[str, Any],
    web: Fetch,
    now: Installation,
    parts: Parts,
    collections: Sequence[Collection] = (),
) -> tuple[Search, Fetch]:
    from research.retrieval.fallback import FallbackSearch, NamedSearch, NoSearch

    names = list(chosen.get("search", ()))
    folders = [Path(folder) for folder in chosen.get("documents", ())]
    if names == [NONE]:
        return NoSearch(), web
    searches: list[NamedSearch] = []
    fetch = web
    for name in names:
        if name == SAMPLES:
            searches.append(NamedSearch("the sample library", parts.samples))
            fetch = parts.samples
        elif name == DOCUMENTS:
            search, documents = await _documents(folders, collections, parts)
            searches.append(NamedSearch("your documents", search))
            fetch = AddressedFetch(documents, fetch)
        else:
            searches.append(_provider(name, now, parts))
    return FallbackSearch(searches), fetch


def _provider(name: str, now: Installation, parts: Parts) -> NamedSearch:
    """One for all runs, with its rate of searches; another where its settings are others."""
    from research.retrieval.providers import open_provider

    key = f"{name} {now['SEARXNG_URL']}"
    if key not in parts.searches:
        parts.searches[key] = open_provider(name, _provider_settings(now), parts.client)
    return parts.searches[key]


def _web_of(run: Run, config: ResearchConfig) -> Fetch:
    """The web within the run's bounds, and from the cache where a page is young enough."""
    from research.page_cache import DjangoPageCache
    from research.retrieval.bounds import Bounds
    from research.retrieval.run_fetch import RunFetch

    cache = DjangoPageCache(run.owner_id, config.page_max_age_hours)
    return RunFetch(_parts.web, Bounds.of_run(config), cache)


@cache
def _network(place: str) -> NetworkProbe:
    from research.retrieval.online import NetworkProbe

    return NetworkProbe(place)


def _index_place() -> Path | IndexStore:
    """Where documents are indexed: the database that holds the rest, or a file."""
    if settings.DOCUMENT_INDEX == "file" or connection.vendor != "postgresql":
        return settings.STATE_DIR / "documents.sqlite3"
    from psycopg.conninfo import make_conninfo

    from research.retrieval.index_postgres import PostgresStore

    given = connection.get_connection_params()
    libpq = {name: given[name] for name in given.keys() - _OF_PSYCOPG}
    return PostgresStore(make_conninfo(**libpq))


def _collections_of(owner: AbstractUser, sources: dict[str, Any]) -> list[Collection]:
    """Those that are named, as the run's owner may see them now; one that is gone ends the run."""
    from research.services import documents

    wanted = sources.get("collections", ())
    seen = documents.visible_to(owner).in_bulk(
        [each["id"] for each in wanted], field_name="public_id"
    )
    gone = [each["name"] for each in wanted if each["id"] not in seen]
    if gone:
        raise ToolFailure(f"These documents are not there any more: {', '.join(gone)}.")
    return [seen[each["id"]] for each in wanted]


async def _documents(
    folders: list[Path], collections: Sequence[Collection], parts: Parts
) -> tuple[Search, Fetch]:
    """Search and fetch over folders and collections, indexed now where they changed."""
    from research.retrieval.documents import DocumentFetch, DocumentSearch
    from research.retrieval.folder import DocumentError
    from research.retrieval.indexing_log import refresh

    if not folders and not collections:
        raise ToolFailure(NO_FOLDER, permanent=True)
    try:
        reports = [await refresh(parts.index, folder, parts.pool) for folder in folders]
        own = [await _indexed(collection, parts) for collection in collections]
    except DocumentError as error:
        raise ToolFailure(error.reason, permanent=True) from None
    names = [*(report.collection for report in reports), *filter(None, own)]
    if not names:
        raise ToolFailure(NO_FILES, permanent=True)
    return DocumentSearch(parts.index, names), DocumentFetch(parts.index, names)


async def _indexed(collection: Collection, parts: Parts) -> str:
    """The collection's name in the index, '' where nothing is in it yet.

    Uploaded files change with the revision only, so that nobody waits for them while another
    collection is being indexed.
    """
    from research.indexing import bring_up_to_date

    is_current = not collection.folder and collection.indexed_revision == collection.revision
    if is_current and collection.index_name in await parts.index.collections():
        return collection.index_name
    if not collection.folder and not await collection.files.aexists():
        return ""
    report = await bring_up_to_date(collection, parts.index, parts.pool)
    return report.collection


def _provider_settings(now: Installation) -> Any:
    from research.retrieval.providers.base import ProviderSettings

    return ProviderSettings(**{**settings.PROVIDERS, "searxng_url": now["SEARXNG_URL"]})


class AddressedFetch:
    """Documents by their `file:` address, everything else by the other fetch."""

    def __init__(self, documents: Fetch, other: Fetch) -> None:
        self._documents = documents
        self._other = other

    async def fetch(self, url: str) -> Any:
        tool = self._documents if url.startswith("file:") else self._other
        return await tool.fetch(url)


# --- for people ------------------------------------------------------------------------------


def describe() -> list[str]:
    """One line each: which analyst, which search and which store are at work."""
    now = installation.current()
    return [f"Analyst     {analyst(now)}", f"Search      {search(now)}", f"Store       {store()}"]


def analyst(now: Installation) -> str:
    if not now["RESEARCH_MODEL"]:
        return "extractive (no model is configured: passages are quoted, nothing is rephrased)"
    return f"{now['RESEARCH_MODEL']} at {now.model_host}"


def search(now: Installation) -> str:
    from research.retrieval.providers import KEYLESS_WEB

    names = chosen_sources(now)["search"]
    if names == [SAMPLES]:
        return "the bundled sample library (nothing else is configured)"
    if names == [NONE]:
        return "none"
    if names == KEYLESS_WEB and not settings.SEARCH_PROVIDER:
        return f"the web without a key ({', '.join(names)}; nothing else is configured)"
    folders = ", ".join(Path(folder).name for folder in settings.DOCUMENTS)
    return ", ".join(f"your documents ({folders})" if n == DOCUMENTS else n for n in names)


def price_known(model: ModelSettings) -> bool:
    from research.llm.prices import price

    return price(model.research_model, model.base_url, model.prices) is not None


def store() -> str:
    engine = settings.DATABASES["default"]["ENGINE"].rsplit(".", 1)[-1]
    return f"{'SQLite' if engine == 'sqlite3' else 'PostgreSQL'} ({settings.STATE_DIR.name}/)"
