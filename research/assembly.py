"""Puts a run's live tools together from the settings: its analyst, its search, its fetch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from research import installation
from research.clock import SystemClock
from research.connections import asked
from research.engine.tools import Fetch, Search, ToolFailure, Tools
from research.installation import Installation
from research.parts import Parts
from research.source_choices import (
    DOCUMENTS,
    NO_FOLDER,
    NONE,
    SAMPLES,
    chosen_sources,
    provider_settings,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser

    from research.engine.config import ResearchConfig
    from research.models import Collection, Run
    from research.retrieval.fallback import NamedSearch
    from research.retrieval.fetch import SafeFetch
    from research.retrieval.index import DocumentIndex
    from research.retrieval.pool import TextPool

NO_FILES = "There are no files in the chosen documents yet."

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
    fetch: Fetch = parts.samples if SAMPLES in names else web
    for name in names:
        if name == SAMPLES:
            searches.append(NamedSearch("the sample library", parts.samples))
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
        parts.searches[key] = open_provider(name, provider_settings(now), parts.client)
    return parts.searches[key]


def _web_of(run: Run, config: ResearchConfig) -> Fetch:
    """The web within the run's bounds, and from the cache where a page is young enough."""
    from research.page_cache import DjangoPageCache
    from research.retrieval.bounds import Bounds
    from research.retrieval.run_fetch import RunFetch

    cache = DjangoPageCache(run.owner_id, config.page_max_age_hours)
    return RunFetch(_parts.web, Bounds.of_run(config), cache)


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
        raise ToolFailure(error.reason, permanent=True) from error
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


class AddressedFetch:
    """Documents by their `file:` address, everything else by the other fetch."""

    def __init__(self, documents: Fetch, other: Fetch) -> None:
        self._documents = documents
        self._other = other

    async def fetch(self, url: str) -> Any:
        tool = self._documents if url.startswith("file:") else self._other
        return await tool.fetch(url)
