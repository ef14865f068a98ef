"""What is particular to the scholarly, the developers' and the configured searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from research.engine.ports import SearchFailedError, SearchRequest
from research.search.providers import ProviderSettings, open_provider
from research.search.providers.academic.openalex import OpenAlexSearch, abstract_of
from research.search.providers.academic.pubmed import PubmedSearch
from research.search.providers.academic.semantic_scholar import SemanticScholarSearch
from research.search.providers.client import RetryPolicy
from research.search.providers.developers.github import GithubSearch
from research.search.providers.developers.stack_exchange import StackExchangeSearch, day_of_epoch
from research.search.providers.json_search import JsonSearch, Paths, value_at
from tests.support.retrieval.search_api import SearchApi

pytestmark = pytest.mark.virtual_time

QUICK = RetryPolicy(timeout_seconds=0.3, backoff_seconds=0.01, longest_wait_seconds=2)
REQUEST = SearchRequest("vacuum & more", limit=500)
BOUND = replace(REQUEST, since="2024-01-02", until="2024-03-04")
GITHUB = {"items": [{"html_url": "https://a.example/", "full_name": "a/a"}]}
STACK = {"items": [{"link": "https://a.example/", "title": "A"}]}


async def test_openalex_is_asked_within_days(api: SearchApi, client: httpx.AsyncClient) -> None:
    api.answers(200, {"results": []})
    await OpenAlexSearch(api.url, client, QUICK).search(BOUND)
    assert api.asked[0].path == "/works"
    assert api.asked[0].parameters == {
        "search": "vacuum & more",
        "per-page": "100",
        "filter": "from_publication_date:2024-01-02,to_publication_date:2024-03-04",
    }


async def test_openalex_names_the_doi_where_no_page_is_known(
    api: SearchApi, client: httpx.AsyncClient
) -> None:
    work = {"id": "https://openalex.org/W1", "doi": "https://doi.org/10.5555/b", "title": "B"}
    api.answers(200, {"results": [{**work, "primary_location": "?"}, "no work"]})
    answer = await OpenAlexSearch(api.url, client, QUICK).search(REQUEST)
    assert [hit.url for hit in answer.hits] == ["https://doi.org/10.5555/b"]
    assert answer.notes == ("OpenAlex: 1 of its 2 results could not be read and was left out.",)


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ({"b": [1, 3], "a": [0], "c": [2]}, "a b c b"),
        ({"a": ["0"], "b": None, "c": [0]}, "c"),
        (["a"], ""),
        (None, ""),
    ],
)
def test_an_abstract_is_put_together_from_its_index(index: Any, text: str) -> None:
    assert abstract_of(index) == text


@pytest.mark.parametrize("key", ["", "secret"])
async def test_semantic_scholar_takes_a_key_and_needs_none(
    api: SearchApi, client: httpx.AsyncClient, key: str
) -> None:
    api.answers(200, {"total": 0})
    await SemanticScholarSearch(api.url, key, client, QUICK).search(BOUND)
    asked = api.asked[0]
    assert asked.path == "/graph/v1/paper/search"
    assert asked.headers.get("x-api-key", "") == key
    assert asked.parameters == {
        "query": "vacuum & more",
        "fields": "title,abstract,url,publicationDate",
        "limit": "100",
        "publicationDateOrYear": "2024-01-02:2024-03-04",
    }


async def test_pubmed_finds_ids_and_asks_for_their_summaries(
    api: SearchApi, client: httpx.AsyncClient
) -> None:
    api.answers(200, {"esearchresult": {"idlist": ["7", "5", "x"]}})
    api.answers(200, {"result": {"uids": ["5", "7"], "5": {"title": "Five"}, "7": {"title": "7"}}})
    answer = await PubmedSearch(api.url, client, QUICK).search(replace(BOUND, until=None))
    first, second = api.asked
    assert first.path == "/entrez/eutils/esearch.fcgi"
    assert second.path == "/entrez/eutils/esummary.fcgi"
    assert first.parameters | {"term": ""} == {
        "db": "pubmed", "retmode": "json", "tool": "plumbline", "term": "", "retmax": "100",
        "sort": "relevance", "datetype": "pdat", "mindate": "2024/01/02", "maxdate": "3000/12/31",
    }  # fmt: skip
    assert second.parameters["id"] == "7,5"
    assert [hit.title for hit in answer.hits] == ["7", "Five"]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({"ERROR": "Empty term"}, "It did not understand the search."),
        ({}, "Its answer could not be read: PUBMED_URL may not be its address."),
    ],
)
async def test_pubmed_without_ids_is_a_failure(
    api: SearchApi, client: httpx.AsyncClient, found: dict[str, str], reason: str
) -> None:
    api.answers(200, {"esearchresult": found})
    with pytest.raises(SearchFailedError) as failure:
        await PubmedSearch(api.url, client, QUICK).search(REQUEST)
    assert failure.value.reason == reason


@pytest.mark.parametrize(("key", "sent"), [("", None), ("secret", "Bearer secret")])
async def test_github_takes_a_token_and_needs_none(
    api: SearchApi, client: httpx.AsyncClient, key: str, sent: str | None
) -> None:
    api.answers(200, GITHUB)
    await GithubSearch(api.url, key, client, QUICK).search(replace(REQUEST, query="x" * 300))
    asked = api.asked[0]
    assert asked.path == "/search/repositories" and asked.headers.get("authorization") == sent
    assert len(asked.parameters["q"]) == 256 and asked.parameters["per_page"] == "100"


async def test_github_says_that_its_limit_is_reached_or_its_search_was_cut_short(
    api: SearchApi, client: httpx.AsyncClient
) -> None:
    api.answers(403, {"message": "API rate limit exceeded"})
    api.answers(200, {**GITHUB, "incomplete_results": True})
    search = GithubSearch(api.url, "", client, QUICK)
    with pytest.raises(SearchFailedError, match="its rate limit is reached"):
        await search.search(REQUEST)
    answer = await search.search(REQUEST)
    assert answer.notes == ("GitHub: its search was cut short.",) and len(answer.hits) == 1


async def test_stack_exchange_is_asked_for_one_site_within_days(
    api: SearchApi, client: httpx.AsyncClient
) -> None:
    api.answers(200, STACK)
    await StackExchangeSearch(api.url, "dba", client, QUICK).search(BOUND)
    asked = api.asked[0]
    assert asked.path == "/2.3/search/advanced"
    assert asked.parameters == {
        "q": "vacuum & more", "site": "dba", "sort": "relevance", "order": "desc",
        "filter": "withbody", "pagesize": "100", "fromdate": "1704153600", "todate": "1709510400",
    }  # fmt: skip


async def test_stack_exchange_is_left_in_peace_as_long_as_it_asks(
    api: SearchApi, client: httpx.AsyncClient
) -> None:
    api.answers(200, {**STACK, "backoff": 5})
    api.answers(200, {**STACK, "backoff": 60})
    search = StackExchangeSearch(api.url, "dba", client, QUICK)
    await search.search(REQUEST)
    await search.search(REQUEST)
    assert api.times[1] - api.times[0] >= 5
    with pytest.raises(SearchFailedError, match="a pause of 60 more seconds"):
        await search.search(REQUEST)
    assert len(api.asked) == 2


@pytest.mark.parametrize("seconds", [None, "1714953600", -1, 0, 10**15])
def test_what_is_no_time_is_no_day(seconds: Any) -> None:
    assert day_of_epoch(seconds) is None
    assert day_of_epoch(1714953600) == "2024-05-06"


async def test_a_json_search_is_read_at_its_paths(
    api: SearchApi, client: httpx.AsyncClient
) -> None:
    item = {"head": {"name": "A"}, "links": [{"href": "/a"}], "body": "<b>How</b> to."}
    api.answers(200, {"data": {"items": [item, {"head": None}]}})
    url = f"{api.url}/find?q={{query}}&n={{limit}}"
    paths = Paths("data.items", "head.name", "links.0.href", "body")
    answer = await JsonSearch(url, paths, "Bearer x", client, QUICK).search(REQUEST)
    [hit] = answer.hits
    assert (hit.url, hit.title, hit.snippet) == (f"{api.url}/a", "A", "How to.")
    assert len(answer.notes) == 1
    assert api.asked[0].parameters == {"q": "vacuum & more", "n": "500"}
    assert api.asked[0].headers["authorization"] == "Bearer x"


async def test_a_json_search_may_answer_with_a_list(
    api: SearchApi, client: httpx.AsyncClient
) -> None:
    api.answers(200, [{"url": "https://a.example/"}])
    settings = ProviderSettings({"JSON_SEARCH_URL": f"{api.url}/{{query}}"})
    search = JsonSearch(settings.values["JSON_SEARCH_URL"], Paths("."), "", client, QUICK)
    assert (await search.search(REQUEST)).hits[0].url == "https://a.example/"
    assert api.asked[0].target == "/vacuum%20%26%20more"


async def test_a_json_search_without_a_place_for_the_query_is_refused(
    client: httpx.AsyncClient,
) -> None:
    named = open_provider(
        "json_search", ProviderSettings({"JSON_SEARCH_URL": "http://127.0.0.1:1/"}), client
    )
    with pytest.raises(SearchFailedError, match=r"JSON_SEARCH_URL must have \{query\}"):
        await named.search.search(REQUEST)


@pytest.mark.parametrize(
    ("path", "value"), [("a.0.b", 1), ("a.1", None), ("a.b", None), (".", {"a": [{"b": 1}]})]
)
def test_a_path_leads_through_objects_and_lists(path: str, value: Any) -> None:
    assert value_at({"a": [{"b": 1}]}, path) == value
