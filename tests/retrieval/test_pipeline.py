import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.tools import SearchAnswer, SearchFailure, SearchHit, SearchRequest
from research.retrieval.pipeline import (
    FallbackSearch,
    NamedSearch,
    NoSearch,
    canonical_url,
    prepare,
)

REQUEST = SearchRequest("anything", limit=3)


def hit(url: str, rank: int = 1, provider: str = "one", **more: str) -> SearchHit:
    values = {"title": f"Title of {url}", "snippet": "Some words.", **more}
    return SearchHit(url=url, provider=provider, rank=rank, **values)


class Scripted:
    """Gives its answer, or raises it."""

    def __init__(self, answer: SearchAnswer | SearchFailure) -> None:
        self.answer = answer
        self.asked = 0

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.asked += 1
        if isinstance(self.answer, SearchFailure):
            raise self.answer
        return self.answer


def found(*hits: SearchHit) -> Scripted:
    return Scripted(SearchAnswer(hits))


def failing(reason: str, *, permanent: bool = False) -> Scripted:
    return Scripted(SearchFailure(reason, permanent=permanent))


def fallback(**providers: Scripted) -> FallbackSearch:
    return FallbackSearch([NamedSearch(name, search) for name, search in providers.items()])


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTPS://Example.ORG:443", "https://example.org/"),
        ("http://example.org:80/A/b/#part", "http://example.org/A/b/"),
        ("http://example.org:8080/a", "http://example.org:8080/a"),
        ("https://example.org/?utm_source=x&id=2&fbclid=3", "https://example.org/?id=2"),
        ("https://user:secret@example.org/a", "https://example.org/a"),
        ("https://[2001:DB8::1]/", "https://[2001:db8::1]/"),
        ("file:///notes/My%20page.html#x", "file:///notes/My%20page.html"),
        ("javascript:alert(1)", ""),
        ("https://", ""),
        ("https://example.org:port/", ""),
        ("no address", ""),
    ],
)
def test_gives_one_spelling_to_an_address(url: str, canonical: str):
    assert canonical_url(url) == canonical


def test_drops_duplicates_and_keeps_the_best_placed():
    hits = prepare(
        [
            hit("https://a.example/x/", rank=4, title="Later"),
            hit("https://A.example/x#part", rank=2, title="  Sooner\n "),
        ],
        limit=8,
    )
    assert [(each.url, each.title, each.rank) for each in hits] == [
        ("https://a.example/x", "Sooner", 1)
    ]


def test_pages_of_two_providers_come_first():
    hits = prepare(
        [
            hit("https://a.example/", rank=1),
            hit("https://b.example/", rank=2),
            hit("https://b.example/", rank=2, provider="two"),
        ],
        limit=8,
    )
    assert [each.url for each in hits] == ["https://b.example/", "https://a.example/"]


def test_ties_go_by_address_and_the_limit_holds():
    hits = prepare([hit(f"https://{name}.example/") for name in "dcba"], limit=3)
    assert [each.url[8] for each in hits] == ["a", "b", "c"]
    assert [each.rank for each in hits] == [1, 2, 3]


URLS = (
    *("https://a.example/", "https://A.example", "https://b.example/x", "ftp://c.example/"),
    *("https://b.example/x/?utm_id=1", "https://d.example/?q=1", "https://e.example/e"),
)
HITS = st.lists(
    st.builds(
        SearchHit,
        url=st.sampled_from(URLS),
        title=st.sampled_from(["One", "Two "]),
        snippet=st.sampled_from(["", "words", "w" * 500, "x " * 300]),
        provider=st.sampled_from(["one", "two", "three"]),
        rank=st.integers(1, 9),
        published=st.sampled_from([None, "2024-01-01", "2025-01-01"]),
    )
)


@given(HITS, st.integers(0, 2**32))
def test_the_order_of_arrival_makes_no_difference(hits: list[SearchHit], seed: int):
    shuffled = random.Random(seed).sample(hits, len(hits))
    assert prepare(shuffled, 8) == prepare(hits, 8)


@given(HITS, st.integers(1, 9))
def test_preparing_twice_changes_nothing(hits: list[SearchHit], limit: int):
    once = prepare(hits, limit)
    assert prepare(once, limit) == once
    assert len({each.url for each in once}) == len(once) <= limit


@given(st.text(max_size=30), st.sampled_from(["http", "https", "file", "HTTP"]))
def test_a_canonical_address_is_its_own(rest: str, scheme: str):
    once = canonical_url(f"{scheme}://{rest}")
    assert canonical_url(once) == once


async def test_the_next_provider_answers_where_one_fails():
    second = found(hit("https://a.example/"))
    answer = await fallback(First=failing("It limits us."), Second=second).search(REQUEST)
    assert [each.url for each in answer.hits] == ["https://a.example/"]
    assert answer.notes == ("First: It limits us.",)


async def test_the_next_provider_answers_where_one_finds_nothing():
    answer = await fallback(First=found(), Second=found(hit("https://a.example/"))).search(REQUEST)
    assert len(answer.hits) == 1
    assert answer.notes == ("First found nothing.",)


async def test_nobody_else_is_asked_after_an_answer():
    second = found()
    await fallback(First=found(hit("https://a.example/")), Second=second).search(REQUEST)
    assert second.asked == 0


async def test_no_hits_is_an_answer_where_one_provider_works():
    answer = await fallback(First=failing("Down."), Second=found()).search(REQUEST)
    assert answer.hits == ()
    assert answer.notes == ("First: Down.", "Second found nothing.")


@pytest.mark.parametrize("permanent", [True, False])
async def test_a_failure_of_all_names_each(permanent: bool):
    search = fallback(
        First=failing("Down.", permanent=True), Second=failing("Slow.", permanent=permanent)
    )
    with pytest.raises(SearchFailure) as failure:
        await search.search(REQUEST)
    assert failure.value.reason == "No search provider answered: First: Down; Second: Slow."
    assert failure.value.permanent is permanent


async def test_hits_are_prepared_and_cut_to_the_limit():
    hits = [hit(f"https://{name}.example/#x", rank) for rank, name in enumerate("abcde", 1)]
    answer = await fallback(Only=found(*hits)).search(replace(REQUEST, limit=2))
    assert [each.url for each in answer.hits] == ["https://a.example/", "https://b.example/"]


async def test_no_search_says_so():
    answer = await NoSearch().search(REQUEST)
    assert answer.hits == ()
    assert "switched off" in answer.notes[0]
