"""Any search that answers with JSON: settings name its address, and where its results are.

A path names fields with dots between, and list entries by number: `data.items`, `links.0.href`. A
dot alone is the whole value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin

import httpx

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Result
from research.search.providers.refusals import Named, parse_json_body, unreadable_answer

URL = Setting(
    "JSON_SEARCH_URL",
    "Address of a search that answers with JSON, with {query} and optionally {limit} in it.",
    "url",
    label="Address of a JSON search",
)
KEY = Setting("JSON_SEARCH_AUTHORIZATION", "Its Authorization header, if it needs one.", "key")
RESULTS = Setting(
    "JSON_SEARCH_RESULTS", "Path of its list of results; results if not set.", "text",
    default="results",
)  # fmt: skip
TITLE = Setting(
    "JSON_SEARCH_TITLE", "Path of a result's title; title if not set.", "text", default="title"
)
LINK = Setting(
    "JSON_SEARCH_LINK", "Path of a result's address; url if not set.", "text", default="url"
)
TEXT = Setting(
    "JSON_SEARCH_TEXT", "Path of a result's text; content if not set.", "text", default="content"
)
NAMED = Named("JSON search", URL.name, KEY.name)
NO_QUERY = "JSON_SEARCH_URL must have {query} where the words of a search belong."


@dataclass(frozen=True)
class Paths:
    """Where an answer has its results, and each result its parts."""

    results: str = RESULTS.default
    title: str = TITLE.default
    link: str = LINK.default
    text: str = TEXT.default


class JsonSearch:
    """The `Search` tool over a configured address; `authorization` may be empty."""

    def __init__(
        self,
        url: str,
        paths: Paths,
        authorization: str,
        client: httpx.AsyncClient,
        manners: RetryPolicy,
    ):
        self._url = url
        self._paths = paths
        self._headers = {"Authorization": authorization} if authorization else {}
        self._asker = ProviderClient(NAMED, url, client, manners)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        if "{query}" not in self._url:
            raise SearchFailedError(NO_QUERY, permanent=True)
        address = self._url.replace("{query}", quote(request.query, safe=""))
        address = address.replace("{limit}", str(request.limit))
        answer = parse_json_body(await self._asker.get({}, url=address, headers=self._headers))
        results = value_at(answer, self._paths.results)
        if not isinstance(results, list):
            raise unreadable_answer(NAMED, answer)
        entries = [self._entry(result, address) for result in results[: request.limit]]
        return self._asker.hits("json_search", Result, entries)

    def _entry(self, result: Any, address: str) -> dict[str, Any]:
        """Return a result's parts; a relative link is resolved against the address."""
        link = value_at(result, self._paths.link)
        return {
            "url": urljoin(address, link) if isinstance(link, str) and link else None,
            "title": value_at(result, self._paths.title),
            "snippet": value_at(result, self._paths.text),
        }


def value_at(value: Any, path: str) -> Any:
    """Return the value at a path, or None if there is none; "." is the value itself."""
    for part in filter(None, path.split(".")):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> JsonSearch:
    paths = Paths(*(settings[each] for each in (RESULTS, TITLE, LINK, TEXT)))
    manners = RetryPolicy.of(settings, "json_search", 0.0)
    return JsonSearch(settings[URL], paths, settings[KEY], client, manners)


PROVIDER = Provider(
    label=NAMED.label, needs=URL, options=(KEY, RESULTS, TITLE, LINK, TEXT), make=_make_search
)
