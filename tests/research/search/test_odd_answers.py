"""What search providers answer against their documentation: what can be used is used, the rest
is counted, and an answer that is none fails with a sentence.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from research.engine.ports import SearchAnswer, SearchRequest
from research.search.fallback import FallbackSearch, NamedSearch
from research.search.providers import PROVIDERS, brave, exa, searxng, tavily, wikipedia
from research.search.providers.academic import arxiv
from research.search.providers.client import MOST_BYTES, RetryPolicy
from tests.support.retrieval.search_api import KEY, SearchApi, reason, serving

pytestmark = pytest.mark.virtual_time

QUICK = RetryPolicy(timeout_seconds=0.5, backoff_seconds=0.01, longest_wait_seconds=2)
PATIENT = RetryPolicy(timeout_seconds=20, backoff_seconds=0.01)
REQUEST = SearchRequest("vacuum")
GOOD = "https://docs.example/vacuum"


@dataclass(frozen=True)
class Dialect:
    """How a provider words an answer: the names of its fields, and what they stand in."""

    name: str
    snippet: str
    published: str
    around: Callable[[list[Any]], Any] = lambda entries: {"results": entries}

    def entry(self, url: Any = GOOD, title: Any = "Vacuum", snippet: Any = "How to.", date=None):
        return {"url": url, "title": title, self.snippet: snippet, self.published: date}

    def opened(self, api: SearchApi, client: httpx.AsyncClient, manners: RetryPolicy = QUICK):
        return opened(self.name, api, client, manners)


def opened(name: str, api: SearchApi, client: httpx.AsyncClient, manners: RetryPolicy = QUICK):
    made = {
        "searxng": lambda: searxng.SearxngSearch(api.url, client, manners),
        "tavily": lambda: tavily.TavilySearch(api.url, KEY, client, manners),
        "exa": lambda: exa.ExaSearch(api.url, KEY, client, manners),
        "brave": lambda: brave.BraveSearch(api.url, KEY, client, manners),
        "wikipedia": lambda: wikipedia.WikipediaSearch(api.url, client, manners),
        "arxiv": lambda: arxiv.ArxivSearch(api.url, client, manners),
    }
    return made[name]()


DIALECTS = [
    Dialect("searxng", "content", "publishedDate"),
    Dialect("tavily", "content", "published_date"),
    Dialect("exa", "highlights", "publishedDate"),
    Dialect(
        "brave",
        "description",
        "page_age",
        lambda entries: {"type": "search", "web": {"results": entries}},
    ),
]
each = pytest.mark.parametrize("spoken", DIALECTS, ids=lambda spoken: spoken.name)
every = pytest.mark.parametrize("name", ["searxng", "tavily", "exa", "brave", "wikipedia", "arxiv"])


# --- entries that are none among good ones ---------------------------------------------------

NO_ENTRIES = [
    *(None, "a string", 7, [], ["url"], {}, {"title": "Without an address"}),
    *({"url": None}, {"url": 7}, {"url": ""}, {"url": ["https://a.example/"]}),
]
NO_ADDRESSES = [
    *("/a/relative/one", "docs.example/vacuum", "//docs.example/vacuum", "javascript:alert(1)"),
    *("mailto:a@docs.example", "file:///etc/passwd", "data:text/html,x", "ftp://docs.example/"),
    *("https://", "https:///x", "http://[::1", "https://docs.example:99999999/", "about:blank"),
    *("https://docs.example/\x00", "https://docs.example/\ud800", "https://docs example/"),
    *(f"https://{'a' * 300}.example/", f"https://docs.example/{'a' * 10_000}"),
]


@each
@pytest.mark.parametrize("odd", NO_ENTRIES, ids=repr)
async def test_one_entry_that_is_none_costs_no_other(spoken: Dialect, api, client, odd):
    second = spoken.entry("https://b.example/")
    api.answers(200, spoken.around([spoken.entry(), odd, second]))
    answer = await spoken.opened(api, client).search(REQUEST)
    assert [(hit.url, hit.rank) for hit in answer.hits] == [(GOOD, 1), ("https://b.example/", 2)]
    label = PROVIDERS[spoken.name].label
    assert answer.notes == (f"{label}: 1 of its 3 results could not be read and was left out.",)


@each
@pytest.mark.parametrize("odd", NO_ADDRESSES, ids=lambda url: ascii(url)[:30])
async def test_an_address_that_leads_to_no_page_is_left_out(spoken: Dialect, api, client, odd):
    api.answers(200, spoken.around([spoken.entry(odd), spoken.entry()]))
    answer = await spoken.opened(api, client).search(REQUEST)
    assert [hit.url for hit in answer.hits] == [GOOD]
    assert "1 of its 2 results could not be read" in answer.notes[0]


@each
async def test_several_are_counted_together(spoken: Dialect, api, client):
    api.answers(200, spoken.around([None, spoken.entry(), {}, spoken.entry("x:")]))
    answer = await spoken.opened(api, client).search(REQUEST)
    label = PROVIDERS[spoken.name].label
    assert answer.notes == (f"{label}: 3 of its 4 results could not be read and were left out.",)


@each
async def test_an_answer_without_one_entry_that_can_be_read_is_no_answer(spoken, api, client):
    api.answers(200, spoken.around([None, {"title": "Without an address"}]))
    failure = await reason(spoken.opened(api, client).search(REQUEST))
    setting = f"{spoken.name.upper()}_URL"
    assert failure.reason == f"Its answer could not be read: {setting} may not be its address."


async def test_wikipedias_entries_without_a_title_are_left_out(api, client):
    found = [{"title": "Vacuum", "snippet": None}, None, {"title": ""}, {"title": 7}, "x"]
    api.answers(200, {"query": {"search": found}})
    answer = await opened("wikipedia", api, client).search(REQUEST)
    assert [(hit.title, hit.snippet) for hit in answer.hits] == [("Vacuum", "")]
    assert answer.notes == ("Wikipedia: 4 of its 5 results could not be read and were left out.",)


ATOM = '<feed xmlns="http://www.w3.org/2005/Atom">{}</feed>'
PAPER = "<entry><id>http://arxiv.org/abs/2401.0000{}v1</id><title>T</title></entry>"


@pytest.mark.parametrize(
    "odd", ["<entry/>", "<entry><id></id></entry>", "<entry><id>x:y</id><title>T</title></entry>"]
)
async def test_arxivs_entries_without_an_address_are_left_out(api, client, odd: str):
    api.answers(200, ATOM.format(PAPER.format(1) + odd + PAPER.format(2)))
    answer = await opened("arxiv", api, client).search(REQUEST)
    assert [hit.url[-3:] for hit in answer.hits] == ["1v1", "2v1"]
    assert answer.notes == ("arXiv: 1 of its 3 results could not be read and was left out.",)


async def test_searxng_counts_over_the_sites_that_it_was_asked_for(api, client):
    spoken = DIALECTS[0]
    api.answers(200, spoken.around([spoken.entry(), None]))
    bounded = SearchRequest("vacuum", only_sites=("docs.example", "b.example"))
    answer = await spoken.opened(api, client).search(bounded)
    assert answer.notes == ("SearXNG: 2 of its 4 results could not be read and were left out.",)


@pytest.mark.parametrize("silent", [None, "google", [None, [], ["bing"], {"a": 1}], {"x": "y"}, 3])
async def test_searxngs_list_of_silent_engines_spoils_no_results(api, client, silent):
    spoken = DIALECTS[0]
    api.answers(200, {**spoken.around([spoken.entry()]), "unresponsive_engines": silent})
    answer = await spoken.opened(api, client).search(REQUEST)
    assert [hit.url for hit in answer.hits] == [GOOD]


# --- fields that are null, missing or of another kind ----------------------------------------


@each
@pytest.mark.parametrize("odd", [None, 7, {}, [], "", False], ids=repr)
async def test_what_an_entry_lacks_is_done_without(spoken: Dialect, api, client, odd):
    api.answers(200, spoken.around([spoken.entry(GOOD, odd, odd, odd), {"url": GOOD + "/2"}]))
    answer = await spoken.opened(api, client).search(REQUEST)
    assert [(hit.url, hit.title, hit.snippet, hit.published) for hit in answer.hits] == [
        (GOOD, GOOD, "", None),
        (GOOD + "/2", GOOD + "/2", "", None),
    ]
    assert answer.notes == ()


async def test_exas_highlights_may_hold_other_things(api, client):
    spoken = DIALECTS[2]
    api.answers(200, spoken.around([spoken.entry(snippet=["How to", None, 7, "vacuum."])]))
    [hit] = (await spoken.opened(api, client).search(REQUEST)).hits
    assert hit.snippet == "How to … vacuum."


@pytest.mark.parametrize("web", [None, {"results": []}, {}])
async def test_brave_may_say_in_several_ways_that_nothing_was_found(api, client, web):
    api.answers(200, {"type": "search", "web": web})
    assert (await opened("brave", api, client).search(REQUEST)).hits == ()


@each
@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2024-05-06", "2024-05-06"),
        ("2024-05-06T01:36:32.547Z", "2024-05-06"),
        ("2024-05-06T14:22:41.0000000", "2024-05-06"),
        ("2024-05-06 14:22:41", "2024-05-06"),
        ("2024-05-06 14:22:41 UTC", "2024-05-06"),
        ("2024/05/06", "2024-05-06"),
        ("Mon, 06 May 2024 14:22:41 GMT", "2024-05-06"),
        ("Mon, 6 May 2024 23:22:41 -0700", "2024-05-06"),
        ("May 6, 2024", "2024-05-06"),
        ("6 May 2024", "2024-05-06"),
        ("2024-05", "2024-05"),
        ("2024", "2024"),
        ("2024-02-31", None),
        ("2 weeks ago", None),
        ("last week", None),
        ("1715000000", None),
        ("0001-01-01T00:00:00", None),
        ("1970-01-01T00:00:00Z", None),
        ("99999-01-01", None),
        ("06/05/2024", None),
    ],
)
async def test_a_date_is_read_as_it_is_written(spoken: Dialect, api, client, written, day):
    api.answers(200, spoken.around([spoken.entry(date=written)]))
    [hit] = (await spoken.opened(api, client).search(REQUEST)).hits
    assert hit.published == day


# --- words -----------------------------------------------------------------------------------


@each
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("A &amp; B", "A & B"),
        ("It&#39;s &quot;on&quot;", 'It\'s "on"'),
        ("How to <b>vacuum</b> a table", "How to vacuum a table"),
        ('A <span class="hit">vacuum</span><br/>now', "A vacuum now"),
        ("<p>One.</p><p>Two.</p>", "One. Two."),
        ("Go<script>alert('x')</script> <em>on</em>", "Go on"),
        ("&lt;b&gt; is bold", "<b> is bold"),
        ("std::vector&lt;int&gt;", "std::vector<int>"),
        ("a &lt; b &amp;amp; c", "a < b &amp; c"),
        ("a\x00b\ud800c", "a\N{REPLACEMENT CHARACTER}b?c"),
        ("<b" * 50_000, None),
        ("&" * 50_000, None),
    ],
    ids=lambda text: ascii(text)[:30],
)
async def test_words_lose_their_markup(spoken: Dialect, api, client, written: str, shown):
    snippet = [written] if spoken.name == "exa" else written
    api.answers(200, spoken.around([spoken.entry(title=written, snippet=snippet)]))
    [hit] = (await spoken.opened(api, client).search(REQUEST)).hits
    if shown is None:
        assert len(hit.title) <= 300 and len(hit.snippet) <= 4_000
    else:
        assert (hit.title, hit.snippet) == (shown, shown)


@pytest.mark.parametrize("spoken", DIALECTS[:3], ids=lambda spoken: spoken.name)
@pytest.mark.parametrize(
    "written",
    [
        "<b>: The element",
        "a < b and c > d",
        "std::vector<int>",
        "R&D",
        "a=1&copy=2",
        "#include <p>",
    ],
)
async def test_words_that_only_look_like_markup_stay(spoken: Dialect, api, client, written: str):
    snippet = [written] if spoken.name == "exa" else written
    api.answers(200, spoken.around([spoken.entry(title=written, snippet=snippet)]))
    [hit] = (await spoken.opened(api, client).search(REQUEST)).hits
    assert (hit.title, hit.snippet) == (written, written)


# --- the same page several times -------------------------------------------------------------


@each
async def test_the_same_page_is_found_once(spoken: Dialect, api, client):
    same = (GOOD, GOOD, GOOD + "#part", "HTTPS://DOCS.example:443/vacuum?utm_source=x", GOOD + "/")
    api.answers(200, spoken.around([*map(spoken.entry, same), spoken.entry("https://b.example/")]))
    search = FallbackSearch([NamedSearch(spoken.name, spoken.opened(api, client))])
    answer = await search.search(REQUEST)
    assert [hit.url for hit in answer.hits] == [GOOD, "https://b.example/"]


# --- whole answers ---------------------------------------------------------------------------

ERRORS = [
    {"error": "Unauthorized: secret"},
    {"detail": {"error": "no more credits: secret"}},
    {"type": "ErrorResponse", "error": {"code": "VALIDATION", "detail": "secret"}},
    {"errors": [{"message": "secret"}]},
    {"message": "secret", "statusCode": 500},
    {"requestId": "1", "error": "secret", "tag": "INTERNAL"},
]


@every
@pytest.mark.parametrize("body", ERRORS, ids=lambda body: ",".join(body))
async def test_an_error_with_status_200_is_no_empty_answer(name: str, api, client, body):
    api.answers(200, body)
    failure = await reason(opened(name, api, client).search(REQUEST))
    assert "secret" not in failure.reason
    assert failure.reason in {
        "It answered with an error instead of results.",
        "It did not understand the search (VALIDATION).",
        "Its answer could not be read: ARXIV_URL may not be its address.",
    }


NO_ANSWERS = [
    *(b"null", b"7", b'"x"', b'{"results": null}', b'{"results": {}}', b'{"results": "none"}'),
    *(b"\x89PNG\r\n\x1a\n\x00\x00", b"<html>Sign in</html>", b"{", b"[" * 100_000, b"\xff\xfe"),
    *(b'{"type": "search", "web": []}', b'{"type": "search", "web": {"results": {}}}'),
    *(b'{"query": {"search": {}}}', b'{"query": []}', b"<feed/>", b"<feed xmlns='x'/>", b"\n"),
]


@every
@pytest.mark.parametrize("body", NO_ANSWERS, ids=lambda body: ascii(body)[:25])
async def test_an_answer_of_another_shape_is_a_failure(name: str, api, client, body: bytes):
    if name == "brave" and body.startswith(b'{"results"'):
        body = body.replace(b'{"results"', b'{"type": "error", "results"')
    api.answers(200, body)
    failure = await reason(opened(name, api, client).search(REQUEST))
    setting = f"{name.upper()}_URL"
    assert failure.reason == f"Its answer could not be read: {setting} may not be its address."
    assert failure.permanent


@each
async def test_signs_that_are_none_spoil_no_answer(spoken: Dialect, api, client):
    """Cut in the middle of a sign, with a mark of order before it, or in another encoding."""
    cut = json.dumps(spoken.around([spoken.entry(title="Caf\u00e9")]), ensure_ascii=False)
    for body in (cut.encode("latin-1"), b"\xef\xbb\xbf" + cut.encode()):
        api.answers(200, body)
        api.asked.clear()
        [hit] = (await spoken.opened(api, client).search(REQUEST)).hits
        assert hit.title.startswith("Caf")
        api.script.clear()


@every
@pytest.mark.parametrize("packed", [False, True])
async def test_an_answer_without_an_end_is_not_read_to_its_end(name: str, api, client, packed):
    body = b'{"results": [' + b" " * (8 * MOST_BYTES)
    if packed:
        api.answers(200, gzip.compress(body), Content_Encoding="gzip")
    else:
        api.answers(200, body)
    failure = await reason(opened(name, api, client, PATIENT).search(REQUEST))
    assert failure.reason == "Its answer has more than 5 MB, which no list of results has."
    assert failure.permanent
    assert api.sent < 8 * MOST_BYTES


@every
async def test_a_packed_answer_that_cannot_be_unpacked_fails(name: str, api, client):
    api.answers(200, b"not gzip", Content_Encoding="gzip")
    failure = await reason(opened(name, api, client).search(REQUEST))
    assert failure.reason == "Its answer could not be decompressed."


@every
async def test_an_answer_that_drips_is_not_waited_for(name: str, api, client):
    api.drip = True
    api.answers(200, b" " * 1_000)
    hurried = RetryPolicy(timeout_seconds=0.2, backoff_seconds=0.01)
    failure = await reason(opened(name, api, client, hurried).search(REQUEST))
    assert failure.reason == "It did not answer in time."


@every
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(name: str, api, client, status: int):
    """A key goes to nobody else, and a search that was moved is set up anew by a person."""
    async with serving() as other:
        api.answers(status, "", Location=f"{other.url}/search")
        failure = await reason(opened(name, api, client).search(REQUEST))
        assert other.asked == []
    assert failure.reason == f"It answered {status}: {name.upper()}_URL may not be its address."


# --- refusals, as each documents them --------------------------------------------------------

NO_KEY = {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "status": 422}}
NOT_VALID = {"type": "ErrorResponse", "error": {"code": "VALIDATION", "status": 422}}
SPENT = "the plan or the credit behind {} is used up."
SIGN_IN = "it refuses requests from here, or asks for a sign-in."


@pytest.mark.parametrize(
    ("name", "status", "body", "said"),
    [
        ("brave", 422, NO_KEY, "It refused the key (422): check BRAVE_API_KEY."),
        ("brave", 422, NOT_VALID, "It did not understand the search (422)."),
        ("brave", 422, "<html>", "It did not understand the search (422)."),
        ("brave", 402, "", "It answered 402: " + SPENT.format("BRAVE_API_KEY")),
        ("exa", 402, {"tag": "NO_MORE_CREDITS"}, "It answered 402: " + SPENT.format("EXA_API_KEY")),
        (
            "exa", 403, {"tag": "FEATURE_DISABLED"},
            "It answered 403: the plan behind EXA_API_KEY does not allow this search.",
        ),
        ("exa", 422, "", "It did not understand the search (422)."),
        ("exa", 400, "", "It did not understand the search (400)."),
        ("exa", 401, "", "It refused the key (401): check EXA_API_KEY."),
        ("tavily", 401, "", "It refused the key (401): check TAVILY_API_KEY."),
        ("tavily", 422, "", "It did not understand the search (422)."),
        (
            "tavily", 432, "",
            "It answered 432: the limit of the key or of the plan behind TAVILY_API_KEY is"
            " reached.",
        ),
        (
            "tavily", 433, "",
            "It answered 433: the limit for paying as you go is reached"
            " (raise it in your Tavily account).",
        ),
        ("searxng", 401, "", f"It answered 401: {SIGN_IN}"),
        ("searxng", 429, "", "It answered 429: its rate limit is reached."),
        ("wikipedia", 403, "", f"It answered 403: {SIGN_IN}"),
        ("arxiv", 403, "", f"It answered 403: {SIGN_IN}"),
        ("arxiv", 400, "", "It did not understand the search (400)."),
    ],
)  # fmt: skip
async def test_a_refusal_says_what_its_provider_means(api, client, name, status, body, said):
    api.answers(status, body)
    assert (await reason(opened(name, api, client).search(REQUEST))).reason == said


@each
async def test_a_body_that_never_ends_does_not_hide_a_refusal(spoken: Dialect, api, client):
    api.answers(422, b"x" * (8 * MOST_BYTES))
    failure = await reason(spoken.opened(api, client, PATIENT).search(REQUEST))
    assert failure.reason == "It did not understand the search (422)."


@each
async def test_whoever_fails_is_named_with_the_ways_out(spoken: Dialect, api, client):
    api.answers(200, "<html>Sign in</html>")
    label = PROVIDERS[spoken.name].label
    search = FallbackSearch([NamedSearch(label, spoken.opened(api, client))])
    failure = await reason(search.search(REQUEST))
    assert failure.reason.startswith(
        f"No search provider answered: {label}: Its answer could not be read"
    )
    assert "Try again later, " in failure.reason


async def test_what_one_left_out_is_told_beside_what_another_found(api, client):
    spoken = DIALECTS[0]
    api.answers(200, spoken.around([spoken.entry(), None]))
    async with serving() as other:
        other.answers(200, {"query": {"search": [{"title": "Vacuum", "snippet": "A vacuum"}]}})
        search = FallbackSearch(
            [
                NamedSearch("SearXNG", spoken.opened(api, client)),
                NamedSearch("Wikipedia", opened("wikipedia", other, client)),
            ]
        )
        answer: SearchAnswer = await search.search(REQUEST)
    assert {hit.provider for hit in answer.hits} == {"searxng", "wikipedia"}
    assert "SearXNG: 1 of its 2 results could not be read and was left out." in answer.notes
