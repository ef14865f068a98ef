"""Pages of earlier runs for later ones, over a real server and the real tables."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from research.engine.config import ResearchConfig
from research.engine.ports import FetchFailedError, Page
from research.fetch.fetch import FetchSettings, SafeFetch
from research.fetch.page_cache import PageCache, RunFetch, scope_of
from research.models import CachedPage, PageText
from research.search.bounds import Bounds
from tests.support.serving import Reply
from tests.support.web_server import WebServer, html

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = html("A page", "It says something worth quoting here, and it says it at some length.")
SECOND = html("A page", "It says something else by now, and it says that at some length as well.")
ADA, BEN = 1, 2
ANYWHERE = Bounds()
MONTHS_AGO = datetime(2026, 3, 9, 12, tzinfo=UTC)


class Site(WebServer):
    """Answers some paths otherwise than with their page."""

    def __init__(self, pages):
        super().__init__(pages)
        self.instead = {}

    def reply(self, path, body):
        return self.instead.get(path) or super().reply(path, body)


@pytest.fixture
def site():
    with Site({"/a": FIRST}) as site:
        yield site


@pytest.fixture
def read(site, pool):
    """Reads `/a` as a run of somebody would, with everything made anew."""

    def read(owner: int = ADA, max_age_hours: float = 24, bounds: Bounds = ANYWHERE) -> Page:
        async def fetched() -> Page:
            limits = FetchSettings(frozenset({site.place}), interval_seconds=0.0)
            async with SafeFetch(limits, pool) as web:
                cache = PageCache(owner, max_age_hours)
                return await RunFetch(web, bounds, cache).fetch(site.url("/a"))

        return async_to_sync(fetched)()

    return read


@pytest.fixture
def listed(settings, site):
    """The site is open only because the operator listed it, as an intranet's is."""
    settings.FETCH_ALLOW_PRIVATE_HOSTS = [site.place]


@pytest.mark.requirement("C17")
def test_a_public_page_is_fetched_once_for_everybody(site, read):
    first = read(ADA)
    site.pages["/a"] = SECOND
    assert read(BEN) == first
    assert len(site.requests) == 1


@pytest.mark.requirement("C17")
def test_a_page_that_is_too_old_is_fetched_again(site, read):
    first = read()
    an_hour_ago = timezone.now() - timedelta(hours=1)
    CachedPage.objects.update(fetched_at=an_hour_ago)
    assert read(max_age_hours=2).sha256 == first.sha256
    site.pages["/a"] = SECOND
    again = read(max_age_hours=0.5)
    assert "something else" in again.text
    assert again.fetched_at > first.fetched_at
    assert read().text == again.text
    assert (len(site.requests), CachedPage.objects.count()) == (2, 1)


def test_the_text_that_older_runs_quote_stays(site, read):
    first = read()
    site.pages["/a"] = SECOND
    second = read(max_age_hours=0.000001)
    texts = set(PageText.objects.values_list("sha256", "text"))
    assert texts == {(page.sha256, page.text) for page in (first, second)}


def test_the_cache_can_be_switched_off(site, read):
    read(max_age_hours=0)
    read(max_age_hours=0)
    assert (len(site.requests), CachedPage.objects.count()) == (2, 0)


def test_an_intranets_page_serves_its_person_only(site, listed, read):
    read(ADA)
    read(ADA)
    assert len(site.requests) == 1
    read(BEN)
    assert len(site.requests) == 2
    assert set(CachedPage.objects.values_list("scope", flat=True)) == {"private:1", "private:2"}


def test_a_public_copy_doesnt_serve_for_an_intranets_address(site, settings, read):
    read(ADA)
    settings.FETCH_ALLOW_PRIVATE_HOSTS = [site.place]
    read(ADA)
    assert len(site.requests) == 2


def test_what_another_extractor_read_is_read_again(site, read):
    read()
    CachedPage.objects.update(extractor_version="0")
    read()
    assert len(site.requests) == 2


def test_failures_are_not_kept(site, read):
    site.pages.clear()
    for _ in range(2):
        with pytest.raises(FetchFailedError, match="404"):
            read()
    assert len(site.requests) == 2


@pytest.mark.requirement("C16")
@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/a", 500, "The server answered 500"),
        ("/a", 429, "The server answered 429"),
        ("/robots.txt", 503, "The server answered 503 for robots.txt"),
    ],
)
def test_a_page_that_fails_in_passing_is_read_from_its_copy(site, read, path, status, reason):
    first = read(ADA)
    CachedPage.objects.update(fetched_at=MONTHS_AGO)
    site.instead[path] = Reply(status=status)
    day = f"{first.fetched_at.day} {first.fetched_at:%B %Y}"
    note = f"{reason}; the stored copy of {day} was read."
    assert read(BEN) == replace(first, note=note)
    site.instead.clear()
    again = read(BEN)
    assert again.note == "" and again.fetched_at > first.fetched_at


@pytest.mark.requirement("C16")
def test_a_site_that_takes_no_connection_is_read_from_its_copy(pool, read, site):
    first = read()
    CachedPage.objects.update(fetched_at=MONTHS_AGO)
    site.close()
    assert "No connection to the site could be made; the stored copy of" in read().note
    assert read().text == first.text


@pytest.mark.requirement("C16")
@pytest.mark.parametrize(
    ("path", "reply", "reason"),
    [
        ("/a", Reply(status=404), "404"),
        ("/a", Reply(status=410), "410"),
        ("/a", Reply(status=403), "403"),
        ("/a", Reply(b"x", content_type="image/png"), "not read"),
        ("/a", Reply(b"x" * 5_000_001, content_type="text/html"), "larger than"),
        ("/a", Reply(status=302, headers={"Location": "http://10.0.0.1/"}), "private network"),
        ("/robots.txt", Reply(b"User-agent: *\nDisallow: /", content_type="text/plain"), "robots"),
    ],
)
def test_a_copy_stands_in_for_no_page_that_is_gone_or_refused(site, read, path, reply, reason):
    read()
    CachedPage.objects.update(fetched_at=MONTHS_AGO)
    site.instead[path] = reply
    with pytest.raises(FetchFailedError, match=reason):
        read()


@pytest.mark.requirement("C16")
def test_a_copy_stands_in_only_where_it_may_be_read(site, listed, read):
    read(ADA)
    CachedPage.objects.update(fetched_at=MONTHS_AGO)
    site.down = True
    assert read(ADA).note
    with pytest.raises(FetchFailedError, match="503"):
        read(BEN)
    with pytest.raises(FetchFailedError, match="503"):
        read(ADA, max_age_hours=0)


@pytest.mark.requirement("F13")
def test_a_run_s_settings_are_the_bounds_of_its_pages():
    config = ResearchConfig(
        only_sites=("a.example",),
        never_sites=("b.example",),
        search_since="2024-01-02",
        search_until="2025-03-04",
    )
    assert Bounds.of_run(config) == Bounds(
        ("a.example",), ("b.example",), "2024-01-02", "2025-03-04"
    )


@pytest.mark.requirement("F13")
def test_the_bounds_of_a_run_hold_for_kept_pages(site, read):
    read()
    with pytest.raises(FetchFailedError, match="left out"):
        read(bounds=Bounds(never_sites=("127.0.0.1",)))
    CachedPage.objects.all().delete()
    site.pages["/a"] = FIRST.replace("<meta", '<meta name="date" content="2020-05-06"><meta')
    for _ in range(2):
        with pytest.raises(FetchFailedError, match="outside the time asked for"):
            read(BEN, bounds=Bounds(since="2021-01-01"))
    assert read(BEN, bounds=Bounds(until="2021-01-01")).published == "2020-05-06"


def test_a_text_that_no_run_has_takes_its_kept_page_along(read):
    read()
    PageText.objects.filter(uses=None).delete()
    assert CachedPage.objects.count() == 0


@pytest.mark.parametrize(
    ("url", "final_url", "scope"),
    [
        ("https://a.example/x", "https://b.example/x", "public"),
        ("https://a.example/x", "http://wiki.intranet:8080/x", "private:7"),
        ("http://wiki.intranet:8080/x", "https://b.example/x", "private:7"),
        ("http://wiki.intranet:8081/x", "https://b.example/x", "public"),
        ("file:///notes/a.md", "file:///notes/a.md", "collection:notes"),
    ],
)
def test_a_scope_follows_from_where_a_page_was(settings, url, final_url, scope):
    settings.FETCH_ALLOW_PRIVATE_HOSTS = ["wiki.intranet:8080"]
    now = datetime(2026, 1, 2, tzinfo=UTC)
    page = Page(url, final_url, "", "x", "0" * 64, "text/html", "notes", "notes", now)
    assert scope_of(page, 7) == scope
