import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.ports import SearchHit
from research.search.pipeline import canonical_url, prepare_hits


def hit(url: str, rank: int = 1, provider: str = "one", **more: str) -> SearchHit:
    values = {"title": f"Title of {url}", "snippet": "Some words.", **more}
    return SearchHit(url=url, provider=provider, rank=rank, **values)


@pytest.mark.requirement("D9")
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


@pytest.mark.parametrize(
    "url",
    ["http://[::1/", "http://a:99999/", "ftp://a.example/", "", "http://a.example/\x00", "\ud800"],
)
def test_what_nobody_can_read_is_no_address(url: str):
    assert canonical_url(url) == ""


@pytest.mark.requirement("D9")
def test_drops_duplicates_and_keeps_the_best_placed():
    hits = prepare_hits(
        [
            hit("https://a.example/x/", rank=4, title="Later"),
            hit("https://A.example/x#part", rank=2, title="  Sooner\n "),
        ],
        limit=8,
    )
    assert [(each.url, each.title, each.rank) for each in hits] == [
        ("https://a.example/x", "Sooner", 1)
    ]


@pytest.mark.requirement("D9")
def test_pages_of_two_providers_come_first():
    hits = prepare_hits(
        [
            hit("https://a.example/", rank=1),
            hit("https://b.example/", rank=2),
            hit("https://b.example/", rank=2, provider="two"),
        ],
        limit=8,
    )
    assert [each.url for each in hits] == ["https://b.example/", "https://a.example/"]


@pytest.mark.requirement("D9")
def test_ties_go_by_address_and_the_limit_holds():
    hits = prepare_hits([hit(f"https://{name}.example/") for name in "dcba"], limit=3)
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
    assert prepare_hits(shuffled, 8) == prepare_hits(hits, 8)


@given(HITS, st.integers(1, 9))
def test_preparing_twice_changes_nothing(hits: list[SearchHit], limit: int):
    once = prepare_hits(hits, limit)
    assert prepare_hits(once, limit) == once
    assert len({each.url for each in once}) == len(once) <= limit


@given(st.text(max_size=30), st.sampled_from(["http", "https", "file", "HTTP"]))
def test_a_canonical_address_is_its_own(rest: str, scheme: str):
    once = canonical_url(f"{scheme}://{rest}")
    assert canonical_url(once) == once
