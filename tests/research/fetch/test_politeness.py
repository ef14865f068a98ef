import asyncio
import gzip
from email.utils import formatdate
from time import time

import pytest

from research.engine.ports import FetchFailedError
from research.fetch.fetch import FetchSettings, SafeFetch
from research.fetch.rate_limit import MOST, RateLimiter, RateLimiters
from research.fetch.robots import MAX_BYTES
from research.search.bounds import Bounds
from tests.support.retrieval.web import ROBOTS, Site, open_site, raw, redirect, reply

pytestmark = pytest.mark.virtual_time

PAGE = "<html lang='en'><title>A page</title><body><main><h1>A page</h1><p>Some words.</p></main>"
RULES = """
User-agent: *
Disallow: /

User-agent: plumbline
Disallow: /private
Allow: /private/open
Crawl-delay: {delay}
"""


@pytest.fixture
async def site():
    async with open_site({f"/{n}": reply(PAGE) for n in range(6)} | {"/": reply(PAGE)}) as site:
        yield site


@pytest.fixture
def fetching(pool, site):
    def make(*also: Site, **settings) -> SafeFetch:
        opened = frozenset(each.place for each in (site, *also))
        return SafeFetch(FetchSettings(opened, **{"interval_seconds": 0.0, **settings}), pool)

    return make


def text(content: str, **more):
    return reply(content, content_type="text/plain", **more)


def paths(site: Site) -> list[str]:
    return [request[0].split(" ")[1] for request in site.requests]


async def refusal(fetch: SafeFetch, url: str) -> FetchFailedError:
    with pytest.raises(FetchFailedError) as caught:
        await fetch.download(url)
    return caught.value


async def test_a_site_says_what_may_be_fetched(site, fetching):
    site.answers[ROBOTS] = text(RULES.format(delay=0))
    site.answers |= {"/private/open": reply(PAGE)}
    async with fetching() as fetch:
        await fetch.download(site.url("/1"))
        await fetch.download(site.url("/private/open"))
        refused = await refusal(fetch, site.url("/private/a"))
    assert (refused.status, refused.permanent) == ("refused", True)
    assert refused.reason == "refused: the site's robots.txt excludes it"
    assert paths(site) == [ROBOTS, "/1", "/private/open"]


async def test_robots_are_asked_for_once_and_by_one(site, fetching):
    site.answers[ROBOTS] = text("User-agent: *\nDisallow: /x", delay_seconds=0.05)
    async with fetching() as fetch:
        await asyncio.gather(*(fetch.download(site.url(f"/{n}")) for n in range(6)))
    assert paths(site).count(ROBOTS) == 1


async def test_they_can_be_switched_off(site, fetching):
    site.answers[ROBOTS] = text("User-agent: *\nDisallow: /")
    async with fetching(obey_robots=False) as fetch:
        await fetch.download(site.url())
    assert paths(site) == ["/"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_a_site_without_them_may_be_fetched(site, fetching, status):
    site.answers[ROBOTS] = text("User-agent: *\nDisallow: /", status=status)
    async with fetching() as fetch:
        await fetch.download(site.url())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (text("", status=500), "the server answered 500 for robots.txt"),
        (text("", status=503), "the server answered 503 for robots.txt"),
        (text("", status=429), "the server answered 429 for robots.txt"),
        (text("", delay_seconds=3), "the site took too long to answer"),
        (raw(b"nonsense\r\n\r\n"), "the site's response was cut off or corrupt"),
        (redirect("http://10.0.0.1/robots.txt"), "refused: the address is on a private network"),
        (redirect("http://[/"), "refused: only http and https addresses are fetched"),
    ],
)
async def test_a_site_whose_robots_cannot_be_had_is_left_alone(site, fetching, answer, reason):
    site.answers[ROBOTS] = answer
    async with fetching(robots_seconds=0.2) as fetch:
        assert (await refusal(fetch, site.url())).reason == reason
        assert (await refusal(fetch, site.url("/1"))).reason == reason
    assert paths(site) == [ROBOTS]


async def test_robots_may_have_moved(site, fetching):
    site.answers[ROBOTS] = redirect("/rules.txt")
    site.answers["/rules.txt"] = text("User-agent: *\nDisallow: /1")
    async with fetching() as fetch:
        assert "robots.txt excludes" in (await refusal(fetch, site.url("/1"))).reason
        await fetch.download(site.url("/2"))


async def test_the_beginning_of_endless_robots_counts(site, fetching):
    rules = "User-agent: *\nDisallow: /1\n" + "# words\n" * MAX_BYTES
    packed = gzip.compress(rules.encode())
    site.answers[ROBOTS] = reply(
        packed, content_type="text/plain", headers=("Content-Encoding: gzip",)
    )
    async with fetching() as fetch:
        assert "robots.txt excludes" in (await refusal(fetch, site.url("/1"))).reason
        await fetch.download(site.url("/2"))


async def test_every_hop_of_a_redirect_asks_its_own_site(site, fetching):
    async with open_site({"/1": reply(PAGE), ROBOTS: text("User-agent: *\nDisallow: /")}) as other:
        site.answers["/"] = redirect(other.url("/1"))
        async with fetching(other) as fetch:
            assert "robots.txt excludes" in (await refusal(fetch, site.url())).reason
        assert paths(other) == [ROBOTS]


async def test_requests_to_a_host_keep_their_distance(site, fetching):
    loop = asyncio.get_running_loop()
    async with fetching(interval_seconds=0.1) as fetch:
        started = loop.time()
        await asyncio.gather(*(fetch.download(site.url(f"/{n}")) for n in range(4)))
        assert loop.time() - started >= 0.3


async def test_robots_may_ask_for_more_distance(site, fetching):
    site.answers[ROBOTS] = text(RULES.format(delay=0.2))
    loop = asyncio.get_running_loop()
    async with fetching() as fetch:
        started = loop.time()
        await asyncio.gather(*(fetch.download(site.url(f"/{n}")) for n in range(3)))
        assert loop.time() - started >= 0.4


def busy_once(status: int, wait: str):
    """Says once when to come again, then gives the page."""
    answers = [reply("no", status=status, headers=(f"Retry-After: {wait}",)), reply(PAGE)]

    async def answer(writer):
        await (answers.pop(0) if len(answers) > 1 else answers[0])(writer)

    return answer


@pytest.mark.parametrize("status", [429, 503])
async def test_comes_again_when_a_busy_site_says_so(site, fetching, status):
    site.answers["/"] = busy_once(status, "1")
    loop = asyncio.get_running_loop()
    async with fetching() as fetch:
        started = loop.time()
        assert (await fetch.fetch(site.url())).title == "A page"
        assert loop.time() - started >= 1
    assert paths(site) == ["/", "/"]


async def test_a_date_says_when_too(site, fetching):
    site.answers["/"] = busy_once(503, formatdate(time() + 1, usegmt=True))
    async with fetching() as fetch:
        assert (await fetch.fetch(site.url())).title == "A page"


async def test_a_long_wait_is_not_taken_and_the_host_is_left_alone(site, fetching):
    site.answers["/"] = busy_once(429, "3600")
    async with fetching() as fetch:
        failed = await refusal(fetch, site.url())
        assert (failed.reason, failed.permanent) == ("the server answered 429", False)
        failed = await refusal(fetch, site.url("/1"))
        assert failed.reason == "the site limits requests and asked to wait"
    assert paths(site) == ["/"]


async def test_a_site_that_stays_busy_is_given_up(site, fetching):
    site.answers["/"] = reply("no", status=503, headers=("Retry-After: 0",))
    async with fetching() as fetch:
        assert (await refusal(fetch, site.url())).reason == "the server answered 503"
    assert paths(site) == ["/", "/"]


async def test_a_site_that_is_left_out_is_never_asked(site, fetching):
    async with open_site({"/": reply(PAGE)}) as other:
        site.answers["/"] = redirect(other.url())
        away = Bounds(never_sites=("127.0.0.1",))
        async with fetching(other) as fetch:
            with pytest.raises(FetchFailedError, match="left out of this research"):
                await fetch.fetch(site.url(), away.check_site)
            one = Bounds(only_sites=("elsewhere.example",))
            with pytest.raises(FetchFailedError, match="left out of this research"):
                await fetch.fetch(site.url(), one.check_site)
    assert (site.connections, other.connections) == (0, 0)


async def test_a_redirect_to_a_site_that_is_left_out_is_not_followed(site, pool):
    async def resolve(host, port):
        return ["127.0.0.1"]

    place = f"wiki.test:{site.port}"
    site.answers["/"] = redirect(f"http://{place}/1")
    settings = FetchSettings(frozenset({site.place, place}), interval_seconds=0.0)
    async with SafeFetch(settings, pool, resolve=resolve) as fetch:
        with pytest.raises(FetchFailedError, match="left out of this research"):
            await fetch.fetch(site.url(), Bounds(never_sites=("wiki.test",)).check_site)
    assert paths(site) == ["/"]


async def test_idle_paces_are_forgotten_and_busy_ones_kept():
    paces = RateLimiters(at_once=1, interval_seconds=0.0)
    busy = paces.of("busy")
    busy.hold(60)
    idle = paces.of("idle")
    for n in range(MOST):
        paces.of(f"host {n}")
    assert paces.of("busy") is busy
    assert paces.of("idle") is not idle


async def test_a_pace_is_free_again_after_a_turn_that_was_cancelled():
    pace = RateLimiter(at_once=1)

    async def stay() -> None:
        async with pace.turn():
            await asyncio.sleep(60)

    staying = asyncio.create_task(stay())
    await asyncio.sleep(0)
    staying.cancel()
    await asyncio.gather(staying, return_exceptions=True)
    async with asyncio.timeout(1), pace.turn():
        pass
    assert pace.idle
