"""Puts a run's live tools together from the settings: which analyst, which search, which fetch.

The parts are made once per process, when first needed, and belong to one event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings

from research.engine.tools import Fetch, Search, ToolFailure, Tools

if TYPE_CHECKING:
    import httpx

    from research.engine.config import ResearchConfig
    from research.llm.client import ChatModel
    from research.models import Run
    from research.retrieval.fallback import NamedSearch
    from research.retrieval.fetch import SafeFetch
    from research.retrieval.index import DocumentIndex
    from research.retrieval.online import NetworkProbe
    from research.retrieval.pool import TextPool
    from research.retrieval.samples import SampleLibrary

SAMPLES, DOCUMENTS, NONE = "samples", "documents", "none"
NO_FOLDER = "No folder of documents was named: set DOCUMENTS or add --documents PATH."


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class Parts:
    """What runs share: the page workers, the index of documents, the clients."""

    @cached_property
    def pool(self) -> TextPool:
        from research.retrieval.pool import TextPool

        return TextPool()

    @cached_property
    def index(self) -> DocumentIndex:
        from research.retrieval.index import DocumentIndex

        return DocumentIndex(settings.STATE_DIR / "documents.sqlite3")

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

    @cached_property
    def model(self) -> ChatModel | None:
        if not settings.RESEARCH_MODEL:
            return None
        from research.llm.client import ChatModel, ModelSettings

        return ChatModel(
            ModelSettings(
                research_model=settings.RESEARCH_MODEL,
                evaluator_model=settings.EVALUATOR_MODEL or settings.RESEARCH_MODEL,
                base_url=settings.OPENAI_BASE_URL or None,
                api_key=settings.OPENAI_API_KEY or "none",
            )
        )

    async def close(self) -> None:
        """Close what was made; nothing is made for the closing."""
        made = self.__dict__
        for name in ("web", "model"):
            if made.get(name) is not None:
                await made[name].aclose()
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


# --- a run's tools ---------------------------------------------------------------------------


async def build_tools(run: Run) -> Tools:
    """The live tools of a run by the sources frozen in it.

    What to search is frozen in the run when it is first worked on. Documents are indexed
    first. Raises `ToolFailure` with a sentence for people.
    """
    from research.engine.config import ResearchConfig

    if not run.sources:
        run.sources = await asyncio.to_thread(chosen_sources)
        await type(run).objects.filter(pk=run.pk).aupdate(sources=run.sources)
    config = ResearchConfig.model_validate(run.config)
    search, fetch = await _sources(run.sources, _web_of(run, config))
    return Tools(search, fetch, SystemClock(), _parts.model)


def chosen_sources() -> dict[str, Any]:
    """What a new run searches where its asker chose nothing.

    Where nothing is configured either: the web without a key if there is a network, which
    may take a second to find out the first time; else the sample library.
    """
    from research.retrieval.providers import KEYLESS_WEB, configured

    if settings.SEARCH_PROVIDER:
        names = [name.strip() for name in settings.SEARCH_PROVIDER.split(",")]
    elif settings.DOCUMENTS:
        names = [DOCUMENTS]
    else:
        names = configured(_provider_settings())
        names = names or (KEYLESS_WEB if _network(settings.NETWORK_PROBE)() else [SAMPLES])
    return {"search": names, "documents": settings.DOCUMENTS if DOCUMENTS in names else []}


def check_searches(names: Sequence[str], folders: Sequence[Path]) -> None:
    """Raises `ToolFailure` for a search that is unknown, not configured or without a folder."""
    from research.retrieval.providers import checked

    for name in names:
        if name == DOCUMENTS and not folders:
            raise ToolFailure(NO_FOLDER, permanent=True)
        if name not in {SAMPLES, DOCUMENTS, NONE}:
            checked(name, _provider_settings())


async def _sources(chosen: dict[str, Any], web: Fetch) -> tuple[Search, Fetch]:
    from research.retrieval.fallback import FallbackSearch, NamedSearch, NoSearch

    names = list(chosen.get("search", ()))
    folders = [Path(folder) for folder in chosen.get("documents", ())]
    if names == [NONE]:
        return NoSearch(), web
    searches: list[NamedSearch] = []
    fetch = web
    for name in names:
        if name == SAMPLES:
            searches.append(NamedSearch("the sample library", _parts.samples))
            fetch = _parts.samples
        elif name == DOCUMENTS:
            search, documents = await _documents(folders)
            searches.append(NamedSearch("your documents", search))
            fetch = AddressedFetch(documents, fetch)
        else:
            searches.append(_provider(name))
    return FallbackSearch(searches), fetch


def _provider(name: str) -> NamedSearch:
    from research.retrieval.providers import open_provider

    if name not in _parts.searches:
        _parts.searches[name] = open_provider(name, _provider_settings(), _parts.client)
    return _parts.searches[name]


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


async def _documents(folders: list[Path]) -> tuple[Search, Fetch]:
    """Search and fetch over folders, indexed now where they changed."""
    from research.retrieval.documents import DocumentFetch, DocumentSearch
    from research.retrieval.folder import DocumentError
    from research.retrieval.indexing_log import refresh

    if not folders:
        raise ToolFailure(NO_FOLDER, permanent=True)
    try:
        reports = [await refresh(_parts.index, folder, _parts.pool) for folder in folders]
    except DocumentError as error:
        raise ToolFailure(error.reason, permanent=True) from None
    names = [report.collection for report in reports]
    return DocumentSearch(_parts.index, names), DocumentFetch(_parts.index, names)


def _provider_settings() -> Any:
    from research.retrieval.providers.base import ProviderSettings

    return ProviderSettings(**settings.PROVIDERS)


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
    return [f"Analyst     {analyst()}", f"Search      {search()}", f"Store       {store()}"]


def analyst() -> str:
    if not settings.RESEARCH_MODEL:
        return "extractive (no model is configured: passages are quoted, nothing is rephrased)"
    host = urlsplit(settings.OPENAI_BASE_URL).netloc if settings.OPENAI_BASE_URL else "OpenAI"
    return f"{settings.RESEARCH_MODEL} at {host}"


def search() -> str:
    from research.retrieval.providers import KEYLESS_WEB

    names = chosen_sources()["search"]
    if names == [SAMPLES]:
        return "the bundled sample library (nothing else is configured)"
    if names == [NONE]:
        return "none"
    if names == KEYLESS_WEB and not settings.SEARCH_PROVIDER:
        return f"the web without a key ({', '.join(names)}; nothing else is configured)"
    folders = ", ".join(Path(folder).name for folder in settings.DOCUMENTS)
    return ", ".join(f"your documents ({folders})" if n == DOCUMENTS else n for n in names)


def store() -> str:
    engine = settings.DATABASES["default"]["ENGINE"].rsplit(".", 1)[-1]
    return f"{'SQLite' if engine == 'sqlite3' else 'PostgreSQL'} ({settings.STATE_DIR.name}/)"
