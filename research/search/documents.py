"""Search and fetch over indexed documents: the tools that a run over documents is given.

Both see the named collections and nothing else; neither touches the file system. The bundled sample
library, searched if nothing is configured, is a collection with web addresses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag

from research.documents.folder import Address, DocumentError, whole_url
from research.engine.ports import (
    FetchFailedError,
    Page,
    SearchAnswer,
    SearchFailedError,
    SearchHit,
    SearchRequest,
)
from research.engine.text.tokens import unique_texts
from research.fulltext.index import DocumentIndex, Workers
from research.fulltext.index_queries import IndexedDocument, IndexHit
from research.fulltext.meaning import TOO_LATE, Embedder, EmbeddingFailedError

BY_WORDS = "Documents were ranked by their words alone: {reason}."
MEANING_SECONDS = 20.0
"""After which documents are ranked by words alone."""
LIBRARY = Path(__file__).parent.parent / "samples" / "library"


class DocumentSearch:
    """The `Search` tool over some collections of an index."""

    def __init__(
        self,
        index: DocumentIndex,
        collections: Sequence[str],
        *,
        provider: str = "documents",
        embedder: Embedder | None = None,
    ) -> None:
        self._index = index
        self._collections = tuple(collections)
        self._provider = provider
        self._embedder = embedder

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the best documents for the query, and for each thing of the request in turn, by
        their words alone and with a note if the embedder fails; raises `SearchFailedError` if the
        index is unusable.
        """
        found, notes = await self._found(request.query, request.limit)
        lists = [found]
        for thing in request.each:
            hits, more = await self._found(f"{thing} {request.query}", request.limit)
            lists.append(hits)
            notes = tuple(unique_texts((*notes, *more)))
        first = dict[str, IndexHit]()
        for hit in (hit for turn in zip_longest(*lists) for hit in turn if hit is not None):
            first.setdefault(hit.url, hit)
        best = [*first.values()][: request.limit]
        ranked = (self._hit(hit, rank) for rank, hit in enumerate(best, start=1))
        return SearchAnswer(tuple(ranked), notes)

    async def _found(self, query: str, limit: int) -> tuple[list[IndexHit], tuple[str, ...]]:
        asked = (query, self._collections, limit)
        notes: tuple[str, ...] = ()
        try:
            try:
                async with asyncio.timeout(MEANING_SECONDS if self._embedder else None):
                    found = await self._index.search(*asked, self._embedder)
            except (EmbeddingFailedError, TimeoutError) as error:
                notes = (BY_WORDS.format(reason=str(error) or TOO_LATE),)
                found = await self._index.search(*asked)
        except DocumentError as error:
            raise SearchFailedError(error.reason) from error
        return found, notes

    def _hit(self, hit: IndexHit, rank: int) -> SearchHit:
        return SearchHit(
            url=hit.url,
            title=hit.title,
            snippet=hit.snippet,
            provider=self._provider,
            rank=rank,
            published=hit.published,
        )


class DocumentFetch:
    """The `Fetch` tool over some collections of an index: the text as it was indexed."""

    def __init__(self, index: DocumentIndex, collections: Sequence[str]) -> None:
        self._index = index
        self._collections = tuple(collections)

    async def fetch(self, url: str) -> Page:
        """Return the document at an address; any other address is refused."""
        try:
            document = await self._index.document(_as_stored(url), self._collections)
        except DocumentError as error:
            raise FetchFailedError(error.reason, status="failed", permanent=False) from error
        if document is None:
            raise FetchFailedError("No document has this address.", status="refused")
        return _document_page(url, document)


def _as_stored(url: str) -> str:
    """Return the spelling of the index: without a fragment, each part quoted where it must be."""
    given = urldefrag(url).url
    file = whole_url(given)
    scheme, separator, rest = file.partition("://")
    parts = (quote(unquote(part), safe="", errors="replace") for part in rest.split("/"))
    return f"{scheme}{separator}{'/'.join(parts)}{given.removeprefix(file)}"


def _document_page(url: str, document: IndexedDocument) -> Page:
    return Page(
        url=url,
        final_url=document.url,
        title=document.title,
        text=document.text,
        sha256=document.text_sha256,
        content_type=document.content_type,
        domain=document.domain,
        independence_key=document.independence_key,
        fetched_at=document.indexed_at,
        site=document.site,
        kind=document.kind,
        published=document.published,
        language=document.language,
    )


@dataclass(frozen=True)
class HostAddressing:
    """Addresses files as pages of the host that their top folder is named after.

    `library/<host>/<path>.html` is the page `https://<host>/<path>.html`.
    """

    def name(self, folder: Path) -> str:
        return "sample-library"

    def address(self, collection: str, path: str) -> Address:
        host, _, page = path.partition("/")
        return Address(f"https://{host}/{quote(page)}", domain=host, independence_key=host)


class SampleLibrary:
    """`Search` and `Fetch` over the samples, which are indexed on first use."""

    def __init__(self, index: DocumentIndex, workers: Workers, library: Path = LIBRARY) -> None:
        self._index = index
        self._workers = workers
        self._library = library
        self._opening = asyncio.Lock()
        self._collection = ""

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the best samples for the query.

        Raise `SearchFailedError` if they can't be indexed.
        """
        try:
            collection = await self.open()
        except DocumentError as error:
            raise SearchFailedError(error.reason, permanent=True) from None
        return await DocumentSearch(self._index, [collection], provider="samples").search(request)

    async def fetch(self, url: str) -> Page:
        """Return the sample page at an address; refuse any other address."""
        try:
            collection = await self.open()
        except DocumentError as error:
            raise FetchFailedError(error.reason, status="failed") from None
        return await DocumentFetch(self._index, [collection]).fetch(url)

    async def open(self) -> str:
        """Index new samples, once per process; return the collection's name."""
        async with self._opening:
            if not self._collection:
                report = await self._index.refresh(
                    self._library, self._workers, addressing=HostAddressing()
                )
                self._collection = report.collection
        return self._collection
