"""Every provider over HTTP against a server that speaks its documented answers and errors."""

import asyncio
import logging
import socket
import sys
from dataclasses import dataclass, replace
from datetime import date, timedelta
from email.utils import formatdate
from subprocess import run
from time import time

import httpx
import pytest

from research.engine.ports import SearchFailedError, SearchRequest
from research.fetch.network import USER_AGENT
from research.search.providers import (
    PROVIDERS,
    ProviderSettings,
    brave,
    configured_providers,
    exa,
    json_search,
    open_provider,
    require_provider,
    searxng,
    tavily,
    wikipedia,
)
from research.search.providers.academic import arxiv, openalex, pubmed, semantic_scholar
from research.search.providers.client import RetryPolicy
from research.search.providers.developers import github, stack_exchange
from tests.support.retrieval.search_api import KEY, SearchApi, reason

pytestmark = pytest.mark.virtual_time

KEYS = dict.fromkeys(("TAVILY_API_KEY", "EXA_API_KEY", "BRAVE_API_KEY"), KEY)
QUICK = RetryPolicy(timeout_seconds=0.3, backoff_seconds=0.01, longest_wait_seconds=2)

SEARXNG = {
    "query": "vacuum",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://docs.example/vacuum",
            "title": "Vacuum",
            "content": "How to vacuum.",
            "publishedDate": "2024-05-06T00:00:00",
            "engine": "duckduckgo",
            "engines": ["duckduckgo", "brave"],
            "score": 4.0,
            "category": "general",
        },
        {"title": "A result without an address"},
        {"url": "https://b.example/", "title": "B", "content": None, "publishedDate": None},
        {"url": "https://c.example/", "title": "C", "publishedDate": "last week"},
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["google", "access denied: 10.0.0.7"], ["bing", "timeout"]],
}
TAVILY = {
    "query": "vacuum",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "Vacuum",
            "url": "https://docs.example/vacuum",
            "content": "How to vacuum.",
            "score": 0.81025416,
            "raw_content": None,
            "published_date": "2024-05-06",
        },
        {"title": "A result without an address", "content": "x", "score": 0.5},
        {"title": "B", "url": "https://b.example/", "content": "b", "score": 0.4},
    ],
    "response_time": 1.67,
    "request_id": "123e4567-e89b-12d3-a456-426614174111",
}
EXA = {
    "requestId": "b5947044c4b78efa9552a7c89b306d95",
    "resolvedSearchType": "neural",
    "results": [
        {
            "title": "Vacuum",
            "url": "https://docs.example/vacuum",
            "publishedDate": "2024-05-06T01:36:32.547Z",
            "author": "Somebody",
            "id": "https://docs.example/vacuum",
            "highlights": ["How to", "vacuum."],
            "highlightScores": [0.46],
        },
        {"title": "No address", "id": "x"},
        {"title": None, "url": "https://b.example/", "id": "b", "publishedDate": None},
    ],
    "costDollars": {"total": 0.005},
}
BRAVE = {
    "type": "search",
    "query": {"original": "vacuum", "more_results_available": True},
    "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "Vacuum",
                "url": "https://docs.example/vacuum",
                "description": "How to <strong>vacuum</strong>.",
                "age": "2 weeks ago",
                "page_age": "2024-05-06T14:22:41",
                "language": "en",
            },
            {"title": "No address"},
            {"title": "B &amp; b", "url": "https://b.example/", "description": None},
        ],
        "family_friendly": True,
    },
}
WIKIPEDIA = {
    "batchcomplete": True,
    "continue": {"sroffset": 2, "continue": "-||"},
    "query": {
        "searchinfo": {"totalhits": 5060},
        "search": [
            {
                "ns": 0,
                "title": "Vacuum",
                "pageid": 39736,
                "snippet": 'How to <span class="searchmatch">vacuum</span>.',
                "timestamp": "2018-07-23T07:24:53Z",
            },
            {"ns": 0, "pageid": 1},
            {"ns": 0, "title": "Vacuum (Q&A?)", "snippet": "&quot;b&quot;"},
        ],
    },
}
ARXIV = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?search_query=all:vacuum" rel="self"/>
  <title type="html">ArXiv Query: search_query=all:vacuum</title>
  <id>http://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <updated>2024-05-07T00:00:00-04:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
    >1000</opensearch:totalResults>
  <entry>
    <id>http://arxiv.org/abs/hep-ex/0307015v1</id>
    <updated>2024-05-07T13:46:39Z</updated>
    <published>2024-05-06T13:46:39Z</published>
    <title>Vacuum</title>
    <summary>  How to
      vacuum.
    </summary>
    <author><name>H1 Collaboration</name></author>
    <link href="http://arxiv.org/abs/hep-ex/0307015v1" rel="alternate" type="text/html"/>
  </entry>
  <entry>
    <id>http://arxiv.org/abs/2401.00001v2</id>
    <published>2024-01-01T00:00:00Z</published>
    <title>B</title>
    <summary>b</summary>
  </entry>
</feed>
"""
ARXIV_ERROR = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <entry>
    <id>http://arxiv.org/api/errors#incorrect_id_format_for_1234.12345</id>
    <title>Error</title>
    <summary>incorrect id format for 1234.12345</summary>
    <updated>2007-10-12T00:00:00-04:00</updated>
  </entry>
</feed>
"""
OPENALEX = {
    "meta": {"count": 2, "page": 1, "per_page": 25},
    "results": [
        {
            "id": "https://openalex.org/W2741809807",
            "doi": "https://doi.org/10.5555/vacuum",
            "title": "Vacuum",
            "publication_date": "2024-05-06",
            "primary_location": {"landing_page_url": "https://docs.example/vacuum"},
            "abstract_inverted_index": {"vacuum.": [2], "How": [0], "to": [1]},
        },
        {"id": None, "title": "Without an address", "primary_location": None},
        {
            "id": "https://openalex.org/W1",
            "doi": None,
            "title": "B",
            "publication_date": None,
            "primary_location": {"landing_page_url": None},
            "abstract_inverted_index": None,
        },
    ],
}
SEMANTIC_SCHOLAR = {
    "total": 2,
    "offset": 0,
    "next": 2,
    "data": [
        {
            "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
            "url": "https://docs.example/vacuum",
            "title": "Vacuum",
            "abstract": "How to vacuum.",
            "publicationDate": "2024-05-06",
        },
        {"paperId": "0", "title": "Without an address", "url": None},
        {"paperId": "1", "url": "https://b.example/", "title": "B", "abstract": None},
    ],
}
# both steps in one: the server answers each request with the same
PUBMED = {
    "header": {"type": "esearch", "version": "0.3"},
    "esearchresult": {"count": "3", "retmax": "3", "idlist": ["101", "102", "103"]},
    "result": {
        "uids": ["101", "102", "103"],
        "101": {"uid": "101", "title": "Vacuum", "sortpubdate": "2024/05/06 00:00"},
        "102": {"uid": "102", "error": "cannot get document summary"},
        "103": {"uid": "103", "title": "B", "sortpubdate": ""},
    },
}
GITHUB = {
    "total_count": 2,
    "incomplete_results": False,
    "items": [
        {
            "html_url": "https://docs.example/vacuum",
            "full_name": "Vacuum",
            "description": "How to vacuum.",
            "pushed_at": "2024-05-06T01:02:03Z",
        },
        {"full_name": "without/address"},
        {"html_url": "https://b.example/", "full_name": "b/b", "description": None},
    ],
}
STACK_EXCHANGE = {
    "items": [
        {
            "link": "https://docs.example/vacuum",
            "title": "Vacuum",
            "body": "<p>How to <b>vacuum</b>.</p>",
            "creation_date": 1714953600,
        },
        {"title": "Without an address"},
        {"link": "https://b.example/", "title": "B &amp; b", "creation_date": "soon"},
    ],
    "has_more": True,
    "quota_max": 300,
    "quota_remaining": 299,
}
JSON_SEARCH = {
    "results": [
        {"url": "https://docs.example/vacuum", "title": "Vacuum", "content": "How to vacuum."},
        {"title": "Without an address"},
        {"url": "https://b.example/", "title": "B"},
    ]
}
UNDATED = frozenset({"wikipedia", "json_search"})


@dataclass(frozen=True)
class Spoken:
    """How a provider is opened for a test, and what it answers."""

    name: str
    answer: object
    key_setting: str = ""
    address: str = ""
    suffix: str = ""
    first: str = "https://docs.example/vacuum"

    def opened(self, api: SearchApi, client: httpx.AsyncClient, manners: RetryPolicy = QUICK):
        url = f"{api.url}{self.address}"
        made = {
            "searxng": lambda: searxng.SearxngSearch(url, client, manners),
            "tavily": lambda: tavily.TavilySearch(url, KEY, client, manners),
            "exa": lambda: exa.ExaSearch(url, KEY, client, manners),
            "brave": lambda: brave.BraveSearch(url, KEY, client, manners),
            "wikipedia": lambda: wikipedia.WikipediaSearch(url, client, manners),
            "arxiv": lambda: arxiv.ArxivSearch(url, client, manners),
            "openalex": lambda: openalex.OpenAlexSearch(url, client, manners),
            "semantic_scholar": lambda: semantic_scholar.SemanticScholarSearch(
                url, KEY, client, manners
            ),
            "pubmed": lambda: pubmed.PubmedSearch(url, client, manners),
            "github": lambda: github.GithubSearch(url, KEY, client, manners),
            "stack_exchange": lambda: stack_exchange.StackExchangeSearch(
                url, "stackoverflow", client, manners
            ),
            "json_search": lambda: json_search.JsonSearch(
                f"{url}{self.suffix}", json_search.Paths(), KEY, client, manners
            ),
        }
        return made[self.name]()

    @property
    def setting(self) -> str:
        return f"{self.name.upper()}_URL"


SPOKEN = [
    Spoken("searxng", SEARXNG),
    Spoken("tavily", TAVILY, "TAVILY_API_KEY"),
    Spoken("exa", EXA, "EXA_API_KEY"),
    Spoken("brave", BRAVE, "BRAVE_API_KEY"),
    Spoken("wikipedia", WIKIPEDIA, first="{url}/wiki/Vacuum"),
    Spoken("arxiv", ARXIV, first="https://arxiv.org/abs/hep-ex/0307015v1"),
    Spoken("openalex", OPENALEX),
    Spoken("semantic_scholar", SEMANTIC_SCHOLAR),
    Spoken("pubmed", PUBMED, first="https://pubmed.ncbi.nlm.nih.gov/101/"),
    Spoken("github", GITHUB),
    Spoken("stack_exchange", STACK_EXCHANGE),
    Spoken("json_search", JSON_SEARCH, suffix="/find?q={query}"),
]
every = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
keyed = pytest.mark.parametrize(
    "spoken", [each for each in SPOKEN if each.key_setting], ids=lambda spoken: spoken.name
)
REQUEST = SearchRequest("vacuum & more")
BOUND = replace(REQUEST, since="2024-01-02", until="2024-03-04", language="de")


# --- what all have in common ----------------------------------------------------------------


@pytest.mark.requirement("D9")
@every
async def test_reads_the_documented_answer(spoken: Spoken, api, client):
    api.answers(200, spoken.answer)
    hits = (await spoken.opened(api, client).search(REQUEST)).hits
    first, second = hits[:2]
    assert first.url == spoken.first.format(url=api.url)
    assert first.title == "Vacuum"
    snippet = "" if spoken.name == "pubmed" else "How to vacuum."
    assert first.snippet.replace(" … ", " ") == snippet
    assert first.published == (None if spoken.name in UNDATED else "2024-05-06")
    assert [each.rank for each in hits] == list(range(1, len(hits) + 1))
    assert {each.provider for each in hits} == {spoken.name}
    assert second.title
    assert api.asked[0].headers["user-agent"] == USER_AGENT


@every
async def test_nothing_found_is_an_answer(spoken: Spoken, api, client):
    nothing = {
        "brave": {"type": "search", "query": {"original": "x"}},
        "wikipedia": {"batchcomplete": True, "query": {"search": []}},
        "arxiv": '<feed xmlns="http://www.w3.org/2005/Atom"><title>none</title></feed>',
        "semantic_scholar": {"total": 0, "offset": 0},
        "pubmed": {"esearchresult": {"count": "0", "idlist": []}},
        "github": {"total_count": 0, "incomplete_results": False, "items": []},
        "stack_exchange": {"items": [], "has_more": False},
    }
    api.answers(200, nothing.get(spoken.name, {"results": []}))
    assert (await spoken.opened(api, client).search(REQUEST)).hits == ()


@every
async def test_waits_as_long_as_a_limit_asks(spoken: Spoken, api, client):
    api.answers(429, "slow down", Retry_After="1")
    api.answers(200, spoken.answer)
    assert (await spoken.opened(api, client).search(REQUEST)).hits
    assert api.times[1] - api.times[0] >= 0.9


@every
async def test_gives_up_at_once_when_the_wait_is_long(spoken: Spoken, api, client):
    api.answers(429, {"detail": {"error": "slow down"}}, Retry_After="3600")
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == "It answered 429: its rate limit is reached."
    assert not failure.permanent
    assert len(api.asked) == 1


@pytest.mark.requirement("C16", "D11")
@every
async def test_gives_up_after_three_faults(spoken: Spoken, api, client):
    api.answers(500, "Traceback: secret")
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == "It answered 500: it has an internal error."
    assert len(api.asked) == 3


@pytest.mark.requirement("C16")
async def test_waits_longer_before_each_further_try(api, client):
    api.answers(500)
    patient = replace(QUICK, backoff_seconds=0.1)
    await reason(searxng.SearxngSearch(api.url, client, patient).search(REQUEST))
    first, second, third = api.times
    assert second - first >= 0.1 and third - second >= 0.2


@every
async def test_does_not_wait_for_a_server_that_hangs(spoken: Spoken, api, client):
    api.hang = True
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == "It did not answer in time."
    assert len(api.asked) == 3


@every
@pytest.mark.parametrize("body", ["<html><body>Hello</body></html>", "[]", "{}", "", '{"a": 3}'])
async def test_tells_another_server_from_its_own(spoken: Spoken, api, client, body: str):
    api.answers(200, body)
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == (
        f"Its answer could not be read: {spoken.setting} may not be its address."
    )
    assert failure.permanent


@every
@pytest.mark.parametrize("status", [301, 404])
async def test_doubts_the_address(spoken: Spoken, api, client, status: int):
    api.answers(status, "", Location="http://127.0.0.1:1/")
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == f"It answered {status}: {spoken.setting} may not be its address."
    assert len(api.asked) == 1


@every
async def test_says_that_nobody_answers(spoken: Spoken, client):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        api = SearchApi()
        api.port = unused.getsockname()[1]
        failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == "It did not answer."


@pytest.mark.requirement("C18")
@every
async def test_keeps_to_its_rate_and_its_places(spoken: Spoken, api, client):
    api.answers(200, spoken.answer)
    manners = replace(QUICK, at_once=1, per_second=10)
    search = spoken.opened(api, client, manners)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(search.search(replace(REQUEST, query=f"vacuum {n}")) for n in "abc"))
    assert loop.time() - began >= 0.2
    assert api.most_busy == 1


@keyed
async def test_a_refused_key_is_named_by_its_setting(spoken: Spoken, api, client):
    api.answers(401, {"detail": {"error": f"Unauthorized: {KEY}"}})
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == f"It refused the key (401): check {spoken.key_setting}."
    assert failure.permanent


@keyed
async def test_a_spent_plan_is_told(spoken: Spoken, api, client):
    api.answers(402, {"error": "no more credits"})
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    assert failure.reason == (
        f"It answered 402: the plan or the credit behind {spoken.key_setting} is used up."
    )


@keyed
async def test_the_key_is_in_a_header_and_in_no_log(spoken: Spoken, api, client, caplog):
    caplog.set_level(logging.DEBUG)
    api.answers(500)
    await reason(spoken.opened(api, client).search(REQUEST))
    headers = api.asked[0].headers
    sent = {**headers, "target": api.asked[0].target, "body": api.asked[0].body.decode()}
    assert [name for name, value in sent.items() if KEY in value] == [
        {"tavily": "authorization", "exa": "x-api-key", "brave": "x-subscription-token"}[
            spoken.name
        ]
    ]
    assert KEY not in caplog.text


def test_settings_do_not_show_keys():
    assert KEY not in repr(ProviderSettings(KEYS))


# --- what each is asked ---------------------------------------------------------------------


async def test_searxng_is_asked_as_documented(api, client):
    api.answers(200, SEARXNG)
    month = (date.today() - timedelta(days=20)).isoformat()
    search = searxng.SearxngSearch(api.url, client, QUICK)
    answer = await search.search(replace(REQUEST, language="de", since=month))
    assert api.asked[0].path == "/search"
    assert api.asked[0].parameters == {
        "q": "vacuum & more",
        "format": "json",
        "language": "de",
        "categories": "general",
        "time_range": "month",
    }
    assert answer.notes == (
        "SearXNG: 1 of its 4 results could not be read and was left out.",
        "Engines of the search server that did not answer: bing, google.",
    )
    assert [each.published for each in answer.hits] == ["2024-05-06", None, None]


@pytest.mark.requirement("C21")
@pytest.mark.parametrize(
    ("kind", "category"), [("web", "general"), ("academic", "science"), ("video", "videos")]
)
async def test_searxng_has_a_category_for_each_kind(api, client, kind, category):
    api.answers(200, SEARXNG)
    await searxng.SearxngSearch(api.url, client, QUICK).search(replace(REQUEST, kind=kind))
    assert api.asked[0].parameters["categories"] == category


async def test_searxng_is_asked_once_for_each_site(api, client):
    api.answers(200, SEARXNG)
    bounded = replace(REQUEST, only_sites=("a.example", "b.example"), never_sites=("c.example",))
    await searxng.SearxngSearch(api.url, client, QUICK).search(bounded)
    assert {asked.parameters["q"] for asked in api.asked} == {
        "vacuum & more site:a.example -site:c.example",
        "vacuum & more site:b.example -site:c.example",
    }


async def test_a_site_that_cannot_be_searched_leaves_the_others_and_is_told(api, client):
    api.answers(200, SEARXNG)
    api.answers(403)
    bounded = replace(REQUEST, only_sites=("a.example", "b.example"))
    answer = await searxng.SearxngSearch(api.url, client, QUICK).search(bounded)
    assert answer.hits
    assert answer.notes[0].startswith(
        "SearXNG: 1 of 2 searches, one for each site, failed: It answered 403"
    )


async def test_where_no_site_can_be_searched_the_search_fails(api, client):
    api.answers(403)
    bounded = replace(REQUEST, only_sites=("a.example", "b.example"))
    failure = await reason(searxng.SearxngSearch(api.url, client, QUICK).search(bounded))
    assert failure.permanent


async def test_sites_beyond_four_are_named(api, client):
    api.answers(200, SEARXNG)
    sites = tuple(f"{letter}.example" for letter in "abcdef")
    answer = await searxng.SearxngSearch(api.url, client, QUICK).search(
        replace(REQUEST, only_sites=sites)
    )
    assert len(api.asked) == 4
    assert answer.notes[0] == (
        "SearXNG: only 4 sites are searched at a time; not e.example, f.example."
    )


async def test_searxng_says_that_json_may_be_switched_off(api, client):
    api.answers(403, "<h1>Forbidden</h1>")
    failure = await reason(searxng.SearxngSearch(api.url, client, QUICK).search(REQUEST))
    assert "settings.yml: search.formats" in failure.reason and failure.permanent


@pytest.mark.parametrize("url", ["not an address", "ftp://example.org", ""])
async def test_searxng_says_that_the_address_is_none(client, url: str):
    failure = await reason(searxng.SearxngSearch(url, client, QUICK).search(REQUEST))
    assert failure.reason == "SEARXNG_URL is not the address of a server."


async def test_searxng_may_send_a_retry_date(api, client):
    api.answers(503, "", Retry_After=formatdate(time() - 5, usegmt=True))
    api.answers(200, SEARXNG)
    assert (await searxng.SearxngSearch(api.url, client, QUICK).search(REQUEST)).hits


async def test_tavily_is_asked_as_documented(api, client):
    api.answers(200, TAVILY)
    bounded = replace(BOUND, limit=30, only_sites=("a.example",), never_sites=("b.a.example",))
    await tavily.TavilySearch(api.url, KEY, client, QUICK).search(bounded)
    asked = api.asked[0]
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.json == {
        "query": "vacuum & more",
        "search_depth": "basic",
        "max_results": 20,
        "start_date": "2024-01-02",
        "end_date": "2024-03-04",
        "include_domains": ["a.example"],
        "exclude_domains": ["b.a.example"],
    }


async def test_exa_is_asked_as_documented(api, client):
    api.answers(200, EXA)
    search = exa.ExaSearch(api.url, KEY, client, QUICK)
    await search.search(replace(BOUND, kind="academic", never_sites=("b.example",)))
    await search.search(REQUEST)
    assert (api.asked[0].method, api.asked[0].path) == ("POST", "/search")
    assert api.asked[0].headers["x-api-key"] == KEY
    assert api.asked[0].json == {
        "query": "vacuum & more",
        "type": "auto",
        "numResults": 8,
        "contents": {"highlights": True},
        "category": "research paper",
        "startPublishedDate": "2024-01-02T00:00:00.000Z",
        "endPublishedDate": "2024-03-04T23:59:59.999Z",
        "excludeDomains": ["b.example"],
    }
    assert "category" not in api.asked[1].json


async def test_brave_is_asked_as_documented(api, client):
    api.answers(200, BRAVE)
    search = brave.BraveSearch(api.url, KEY, client, QUICK)
    await search.search(replace(BOUND, only_sites=("a.example", "b.example")))
    long = " ".join(f"word{n}" for n in range(80))
    await search.search(replace(REQUEST, query=long, never_sites=("c.example", "d.example")))
    assert (api.asked[0].method, api.asked[0].path) == ("GET", "/res/v1/web/search")
    assert api.asked[0].headers["x-subscription-token"] == KEY
    assert api.asked[0].parameters == {
        "q": "vacuum & more",
        "count": "8",
        "result_filter": "web",
        "text_decorations": "false",
        "operators": "false",
        "search_lang": "de",
        "freshness": "2024-01-02to2024-03-04",
        "goggles": "$discard\n$site=a.example\n$site=b.example",
    }
    assert len(api.asked[1].parameters["q"]) <= 400
    assert len(api.asked[1].parameters["q"].split()) <= 50
    assert api.asked[1].parameters["goggles"] == (
        "$discard,site=c.example\n$discard,site=d.example"
    )


async def test_wikipedia_is_asked_as_documented(api, client):
    api.answers(200, WIKIPEDIA)
    search = wikipedia.WikipediaSearch(f"{api.url}/{{language}}", client, QUICK)
    answer = await search.search(replace(REQUEST, language="de-AT"))
    assert api.asked[0].path == "/de/w/api.php"
    assert api.asked[0].parameters == {
        "action": "query",
        "list": "search",
        "srsearch": "vacuum & more",
        "srlimit": "8",
        "srprop": "snippet",
        "format": "json",
        "formatversion": "2",
    }
    assert answer.hits[1].url == f"{api.url}/de/wiki/Vacuum_(Q%26A%3F)"
    assert answer.hits[1].snippet == '"b"'


@pytest.mark.parametrize(
    ("code", "said", "permanent"),
    [
        ("ratelimited", "It is too busy to answer (ratelimited).", False),
        ("maxlag", "It is too busy to answer (maxlag).", False),
        ("badvalue", "It did not understand the search (badvalue).", True),
        ("<b>10.0.0.7</b>", "It did not understand the search (unknown).", True),
    ],
)
async def test_wikipedia_puts_errors_into_answers(api, client, code, said, permanent):
    api.answers(200, {"error": {"code": code, "info": "secret", "docref": "See …"}})
    failure = await reason(wikipedia.WikipediaSearch(api.url, client, QUICK).search(REQUEST))
    assert (failure.reason, failure.permanent) == (said, permanent)


async def test_arxiv_is_asked_as_documented(api, client):
    api.answers(200, ARXIV)
    query = 'What are "dark" vacuum) OR au:del_maestro fields?'
    await arxiv.ArxivSearch(api.url, client, QUICK).search(replace(BOUND, query=query))
    assert api.asked[0].path == "/api/query"
    assert api.asked[0].parameters == {
        "search_query": "all:dark AND all:vacuum AND all:au AND all:del_maestro AND all:fields"
        " AND submittedDate:[202401020000 TO 202403042359]",
        "start": "0",
        "max_results": "8",
        "sortBy": "relevance",
        "sortOrder": "descending",
    }


async def test_arxiv_puts_errors_into_feeds(api, client):
    api.answers(200, ARXIV_ERROR)
    failure = await reason(arxiv.ArxivSearch(api.url, client, QUICK).search(REQUEST))
    assert failure.reason == "It did not understand the search."


async def test_arxiv_is_not_asked_for_nothing(api, client):
    assert (await arxiv.ArxivSearch(api.url, client, QUICK).search(SearchRequest("?"))).hits == ()
    assert api.asked == []


async def test_arxivs_feed_brings_in_no_files(api, client, tmp_path):
    (tmp_path / "secret").write_text("secret")
    entity = f'<!DOCTYPE feed [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
    api.answers(200, ARXIV.replace("?>", f"?>{entity}", 1).replace("<title>B<", "<title>&x;B<"))
    hits = (await arxiv.ArxivSearch(api.url, client, QUICK).search(REQUEST)).hits
    assert "secret" not in hits[1].title


# --- the registry ---------------------------------------------------------------------------


def test_what_was_set_up_comes_in_order_of_preference():
    assert configured_providers(ProviderSettings()) == []
    assert configured_providers(
        ProviderSettings({"SEARXNG_URL": "http://x", "EXA_API_KEY": KEY, "BRAVE_API_KEY": KEY})
    ) == ["searxng", "exa", "brave"]


@pytest.mark.requirement("D15")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "altavista",
            "known are: searxng, tavily, exa, brave, json_search, mcp_search, ddgs, wikipedia",
        ),
        ("searxng", "SearXNG needs SEARXNG_URL to be set"),
        ("brave", "Brave needs BRAVE_API_KEY to be set"),
    ],
)
def test_a_provider_that_is_unknown_or_not_configured_is_refused(name, words):
    with pytest.raises(SearchFailedError, match=words):
        require_provider(name, ProviderSettings())


@every
async def test_every_provider_is_opened_at_the_address_that_is_set(spoken, api, client):
    settings = ProviderSettings(
        {f"{spoken.name.upper()}_URL": f"{api.url}{spoken.suffix}", **KEYS},
        per_second={spoken.name: 100},
    )
    api.answers(200, spoken.answer)
    named = open_provider(spoken.name, settings, client)
    assert (named.name, named.kinds) == (PROVIDERS[spoken.name].label, PROVIDERS[spoken.name].kinds)
    assert (await named.search.search(REQUEST)).hits


@pytest.mark.subprocess
def test_nothing_heavy_is_imported_before_a_search():
    code = (
        "import sys; from research.search import providers;"
        " sys.exit(', '.join({'ddgs', 'primp', 'django'} & set(sys.modules)))"
    )
    assert run([sys.executable, "-c", code], capture_output=True, text=True).stderr.strip() == ""


@pytest.mark.parametrize(
    "name, most",
    [("searxng", 9), ("tavily", 9), ("exa", 9), ("brave", 9), ("ddgs", 2), ("wikipedia", 1),
     ("arxiv", 1)],
)  # fmt: skip
async def test_searches_at_once_are_a_setting_within_what_a_provider_allows(name, most, client):
    known = ProviderSettings({"SEARXNG_URL": "http://127.0.0.1:1"}, at_once=9)
    search = PROVIDERS[name].make(known, client)
    pace = search._pace if name == "ddgs" else search._asker._pace
    assert pace._places._value == most
