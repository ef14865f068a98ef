"""GitHub: repositories by name, description and topics; its REST API, "Search repositories".

Searching code needs another endpoint and a sign-in, and is left out; so are issues.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.ports import SearchAnswer, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Address, Day, Result, Words
from research.search.providers.refusals import Named

KEY = Setting("GITHUB_SEARCH_TOKEN", "A token for GitHub's search; it needs none.", "key")
URL = Setting(
    "GITHUB_URL",
    "Alternative address of GitHub's API.",
    "url",
    default="https://api.github.com",
)
NAMED = Named(
    "GitHub",
    URL.name,
    KEY.name,
    {403: "its rate limit is reached; GITHUB_SEARCH_TOKEN allows three times as much."},
)
MOST_RESULTS = 100
MOST_CHARACTERS = 256
# 10 a minute without a token, 30 with one
PER_SECOND, WITH_TOKEN = 1 / 6, 1 / 2
HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


class Entry(Result):
    url: Address = Field(alias="html_url")
    title: Words = Field(default="", alias="full_name")
    snippet: Words = Field(default="", alias="description")
    published: Day = Field(default=None, alias="pushed_at")


class Answer(BaseModel):
    items: list[Any]
    incomplete_results: bool = False


class GithubSearch:
    """The `Search` tool over GitHub's repositories; `key` may be empty."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: RetryPolicy):
        address = f"{url.rstrip('/')}/search/repositories"
        self._asker = ProviderClient(NAMED, address, client, manners)
        self._headers = HEADERS | ({"Authorization": f"Bearer {key}"} if key else {})

    async def search(self, request: SearchRequest) -> SearchAnswer:
        parameters = {
            "q": request.query[:MOST_CHARACTERS],
            "per_page": min(request.limit, MOST_RESULTS),
        }
        body = await self._asker.get(parameters, headers=self._headers)
        answer = self._asker.read(Answer, body)
        found = self._asker.hits("github", Entry, answer.items)
        if not answer.incomplete_results:
            return found
        return SearchAnswer(found.hits, (*found.notes, "GitHub: its search was cut short."))


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> GithubSearch:
    rate = WITH_TOKEN if settings[KEY] else PER_SECOND
    manners = RetryPolicy.of(settings, "github", rate)
    return GithubSearch(settings[URL], settings[KEY], client, manners)


PROVIDER = Provider(label=NAMED.label, options=(KEY, URL), make=_make_search)
