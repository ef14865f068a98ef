"""The bundled sample library: pages of several hosts, searched if nothing is configured.

A collection of the document index, with web addresses: `library/<host>/<path>.html` is the page
`https://<host>/<path>.html`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from research.documents.folder import Address, DocumentError
from research.engine.ports import FetchFailure, Page, SearchAnswer, SearchFailure, SearchRequest
from research.fulltext.index import DocumentIndex, Workers
from research.search.documents import DocumentFetch, DocumentSearch

LIBRARY = Path(__file__).parent.parent / "samples" / "library"


@dataclass(frozen=True)
class HostAddressing:
    """Addresses files as pages of the host that their top folder is named after."""

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
        """Return the best samples for the query; raise `SearchFailure` if they can't be indexed."""
        try:
            collection = await self.open()
        except DocumentError as error:
            raise SearchFailure(error.reason, permanent=True) from None
        return await DocumentSearch(self._index, [collection], provider="samples").search(request)

    async def fetch(self, url: str) -> Page:
        """Return the sample page at an address; refuse any other address."""
        try:
            collection = await self.open()
        except DocumentError as error:
            raise FetchFailure(error.reason, status="failed") from None
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
