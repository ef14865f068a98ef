"""OpenAlex: a catalogue of scholarly works; its API documentation, "Works" and "Search entities".

Abstracts come as an inverted index: each word with its positions. No key is sent: the API takes one
only in the address, which would be logged.
"""

from __future__ import annotations

from typing import Annotated, Any

import httpx
from pydantic import BaseModel, BeforeValidator, Field, model_validator

from research.engine.ports import SearchAnswer, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Day, Result
from research.search.providers.refusals import Named
from research.search.providers.words import MOST_CHARACTERS, plain_words

URL = Setting(
    "OPENALEX_URL",
    "Alternative address of OpenAlex's API.",
    "url",
    default="https://api.openalex.org",
)
NAMED = Named("OpenAlex", URL.name)
MOST_RESULTS = 100
PER_SECOND = 2.0


def abstract_of(index: Any) -> str:
    """Return the text of an inverted index, up to the length of a snippet; "" if it is invalid."""
    if not isinstance(index, dict):
        return ""
    placed = [
        (place, str(word))
        for word, places in index.items()
        if isinstance(places, list)
        for place in places
        if isinstance(place, int)
    ]
    return plain_words(" ".join(word for _, word in sorted(placed))[:MOST_CHARACTERS])


Abstract = Annotated[str, BeforeValidator(abstract_of)]


class Entry(Result):
    """A work; its page is the publisher's if there is one, else its DOI's or OpenAlex's."""

    snippet: Abstract = Field(default="", alias="abstract_inverted_index")
    published: Day = Field(default=None, alias="publication_date")

    @model_validator(mode="before")
    @classmethod
    def _choose_address(cls, work: Any) -> Any:
        if not isinstance(work, dict):
            return work
        location = work.get("primary_location")
        page = location.get("landing_page_url") if isinstance(location, dict) else None
        return {**work, "url": page or work.get("doi") or work.get("id")}


class Answer(BaseModel):
    results: list[Any]


class OpenAlexSearch:
    """The `Search` tool over OpenAlex's titles, abstracts and full texts."""

    def __init__(self, url: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._asker = ProviderClient(NAMED, f"{url.rstrip('/')}/works", client, manners)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        parameters: dict[str, Any] = {
            "search": request.query,
            "per-page": min(request.limit, MOST_RESULTS),
        }
        bounds = {"from_publication_date": request.since, "to_publication_date": request.until}
        filters = [f"{name}:{day}" for name, day in bounds.items() if day]
        if filters:
            parameters["filter"] = ",".join(filters)
        answer = self._asker.read(Answer, await self._asker.get(parameters))
        return self._asker.hits("openalex", Entry, answer.results)


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> OpenAlexSearch:
    manners = RetryPolicy.of(settings, "openalex", PER_SECOND)
    return OpenAlexSearch(settings[URL], client, manners)


PROVIDER = Provider(
    label=NAMED.label, options=(URL,), make=_make_search, kinds=frozenset({"academic"})
)
