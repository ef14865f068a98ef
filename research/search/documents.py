"""Search and fetch over indexed documents: the tools that a run over documents is given.

Both see the named collections and nothing else; neither touches the file system.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote, urldefrag

from research.documents.folder import DocumentError, whole_url
from research.engine.ports import (
    FetchFailure,
    Page,
    SearchAnswer,
    SearchFailure,
    SearchHit,
    SearchRequest,
)
from research.fulltext.index import DocumentIndex
from research.fulltext.index_queries import IndexedDocument, IndexHit


class DocumentSearch:
    """The `Search` tool over some collections of an index."""

    def __init__(
        self, index: DocumentIndex, collections: Sequence[str], *, provider: str = "documents"
    ) -> None:
        self._index = index
        self._collections = tuple(collections)
        self._provider = provider

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the best documents for the query; raises `SearchFailure` if the index is
        unusable.
        """
        try:
            found = await self._index.search(request.query, self._collections, request.limit)
        except DocumentError as error:
            raise SearchFailure(error.reason) from error
        hits = (self._hit(hit, rank) for rank, hit in enumerate(found, start=1))
        return SearchAnswer(tuple(hits))

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
            raise FetchFailure(error.reason, status="failed", permanent=False) from error
        if document is None:
            raise FetchFailure("No document has this address.", status="refused")
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
