"""PubMed: biomedical literature; NCBI's "Entrez Programming Utilities", ESearch and ESummary.

One request finds ids, a second one their titles and days; summaries have no abstract. Three
requests a second are allowed without a key; none is sent, as it would be part of the address.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Day, Result
from research.search.providers.refusals import Named, unreadable_answer

URL = Setting(
    "PUBMED_URL",
    "Alternative address of NCBI's E-utilities.",
    "url",
    default="https://eutils.ncbi.nlm.nih.gov",
)
NAMED = Named("PubMed", URL.name)
PAGE = "https://pubmed.ncbi.nlm.nih.gov"
SHARED = {"db": "pubmed", "retmode": "json", "tool": "plumbline"}
MOST_RESULTS = 100
PER_SECOND = 3.0
EARLIEST, LATEST = "1000/01/01", "3000/12/31"


class Entry(Result):
    published: Day = Field(default=None, alias="sortpubdate")


class Ids(BaseModel):
    """The result of ESearch: `ERROR` instead of ids if the query was not understood."""

    idlist: list[str] | None = None
    error: str | None = Field(default=None, alias="ERROR")


class Found(BaseModel):
    esearchresult: Ids


class Summaries(BaseModel):
    """`result` maps each id to its summary, and `uids` to the ids."""

    result: dict[str, Any]


class PubmedSearch:
    """The `Search` tool over PubMed."""

    def __init__(self, url: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._url = f"{url.rstrip('/')}/entrez/eutils"
        self._asker = ProviderClient(NAMED, self._url, client, manners)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        ids = await self._find_ids(request)
        if not ids:
            return SearchAnswer(())
        parameters = {**SHARED, "id": ",".join(ids)}
        body = await self._asker.get(parameters, url=f"{self._url}/esummary.fcgi")
        told = self._asker.read(Summaries, body).result
        return self._asker.hits("pubmed", Entry, [_entry(told.get(each), each) for each in ids])

    async def _find_ids(self, request: SearchRequest) -> list[str]:
        parameters: dict[str, Any] = {
            **SHARED,
            "term": request.query,
            "retmax": min(request.limit, MOST_RESULTS),
            "sort": "relevance",
        }
        if request.since or request.until:
            parameters["datetype"] = "pdat"
            parameters["mindate"] = (request.since or EARLIEST).replace("-", "/")
            parameters["maxdate"] = (request.until or LATEST).replace("-", "/")
        body = await self._asker.get(parameters, url=f"{self._url}/esearch.fcgi")
        found = self._asker.read(Found, body).esearchresult
        if found.error is not None:
            raise SearchFailedError("It did not understand the search.", permanent=True)
        if found.idlist is None:
            raise unreadable_answer(NAMED)
        return [each for each in found.idlist if each.isascii() and each.isdigit()]


def _entry(summary: Any, each: str) -> dict[str, Any]:
    """Return a summary with the address of its page; {} if there is none."""
    if not isinstance(summary, dict) or "error" in summary:
        return {}
    return {**summary, "url": f"{PAGE}/{each}/"}


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> PubmedSearch:
    return PubmedSearch(settings[URL], client, RetryPolicy.of(settings, "pubmed", PER_SECOND))


PROVIDER = Provider(
    label=NAMED.label, options=(URL,), make=_make_search, kinds=frozenset({"academic"})
)
