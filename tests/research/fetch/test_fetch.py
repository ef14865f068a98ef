import asyncio
import gzip
import hashlib
import io
import zipfile
import zlib
from datetime import UTC, datetime

import pytest

from research.engine.ports import FetchFailedError
from research.fetch.fetch import USER_AGENT, FetchSettings, SafeFetch
from tests.support.retrieval.papers import pdf, scan, word
from tests.support.retrieval.web import endless, open_site, raw, redirect, reply

pytestmark = pytest.mark.virtual_time

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
PAGE = "<html lang='en'><title>A page</title><body><main><h1>A page</h1><p>Some words.</p></main>"
PUBLIC = "93.184.216.34"


@pytest.fixture
async def site():
    async with open_site() as site:
        yield site


@pytest.fixture
async def forbidden():
    """A server that nothing may ever connect to."""
    async with open_site() as site:
        yield site
        assert site.connections == 0


@pytest.fixture
def fetching(pool, site):
    """Makes a fetch that may reach `site` and nothing else of this machine."""

    def make(resolve=None, **settings):
        opened = frozenset({site.place, *settings.pop("also", ())})
        extra = {"resolve": resolve} if resolve else {}
        settings = {"interval_seconds": 0.0, **settings}
        return SafeFetch(FetchSettings(opened, **settings), pool, now=lambda: NOON, **extra)

    return make


async def failure(fetch, url):
    async with fetch:
        with pytest.raises(FetchFailedError) as caught:
            await fetch.fetch(url)
    assert "127.0.0.1" not in caught.value.reason
    return caught.value


@pytest.mark.requirement("C21")
async def test_a_page_comes_with_all_that_is_known_of_it(site, fetching):
    site.answers["/a"] = reply(PAGE)
    async with fetching() as fetch:
        page = await fetch.fetch(site.url("/a#part"))
    assert page.text == "# A page\n\nSome words."
    assert page.title == "A page"
    assert page.sha256 == hashlib.sha256(page.text.encode()).hexdigest()
    assert (page.url, page.final_url) == (site.url("/a#part"), site.url("/a"))
    assert page.content_type == "text/html; charset=utf-8"
    assert (page.domain, page.independence_key) == ("127.0.0.1", site.place)
    assert (page.fetched_at, page.language) == (NOON, "en")


async def test_it_says_who_it_is_and_sends_no_secrets(site, fetching):
    site.answers["/"] = reply(PAGE, headers=("Set-Cookie: a=b; Path=/",))
    async with fetching() as fetch:
        await fetch.fetch(site.url())
        await fetch.fetch(site.url())
    for request in site.requests:
        names = {line.split(":")[0].lower() for line in request[1:]}
        assert f"User-Agent: {USER_AGENT}" in request
        assert names <= {"host", "accept", "accept-encoding", "connection", "user-agent"}


@pytest.mark.requirement("D11")
@pytest.mark.parametrize(
    ("status", "permanent"),
    [(400, True), (403, True), (404, True), (410, True), (429, False), (500, False), (503, False)],
)
async def test_an_error_is_named_by_its_number(site, fetching, status, permanent):
    site.answers["/"] = reply("no", status=status)
    failed = await failure(fetching(), site.url())
    assert failed.reason == f"the server answered {status}"
    assert (failed.status, failed.permanent) == ("failed", permanent)


@pytest.mark.parametrize("status", [201, 202, 204, 206, 304])
async def test_an_answer_that_is_not_a_whole_page_is_empty(site, fetching, status):
    site.answers["/"] = reply(status=status)
    assert (await failure(fetching(), site.url())).status == "empty"


async def test_follows_redirects_to_the_page(site, fetching):
    site.answers |= {
        "/a": redirect("/b", 301),
        "/b": redirect(site.url("/c"), 307),
        "/c": redirect("d?x=1#y", 308),
        "/d?x=1": reply(PAGE),
    }
    async with fetching() as fetch:
        page = await fetch.fetch(site.url("/a"))
    assert (page.url, page.final_url) == (site.url("/a"), site.url("/d?x=1"))


async def test_gives_up_on_a_redirect_loop(site, fetching):
    site.answers["/"] = redirect("/")
    assert (await failure(fetching(), site.url())).reason == "the site redirected too often"
    assert len(site.requests) == 6


@pytest.mark.parametrize(
    "location",
    [
        *("http://localhost/", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/"),
        *("http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://2130706433/", "http://0x7f.1/"),
        *("//127.0.0.1/", "http://127.0.0.1:{port}/", "//127.0.0.1:{port}/x", "http://0:{port}/"),
        *("http://127.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/"),
        *(
            "http://u:p@127.0.0.1:{allowed}/",
            "file:///etc/passwd",
            "ftp://127.0.0.1/",
            "gopher://a.b/",
        ),
        *("http://nas.local/", "http://metadata.google.internal/", "http://example.com:22/"),
        *("http://127.0.0.1:{allowed}@127.0.0.1:{port}/", "\\\\127.0.0.1:{port}\\", "http://[/"),
    ],
)
async def test_checks_every_redirect_like_the_first_address(site, forbidden, fetching, location):
    site.answers["/"] = redirect("/again")
    site.answers["/again"] = redirect(location.format(port=forbidden.port, allowed=site.port))
    assert (await failure(fetching(), site.url())).status in ("refused", "failed")
    assert len(site.requests) == 2


async def test_a_redirect_needs_a_target(site, fetching):
    site.answers["/"] = reply(status=302)
    failed = await failure(fetching(), site.url())
    assert failed.reason == "the server answered 302 without a redirect address"


async def test_never_connects_to_a_place_that_is_not_listed(site, forbidden, fetching):
    for url in (forbidden.url(), f"http://localhost:{forbidden.port}/"):
        assert (await failure(fetching(), url)).status == "refused"


@pytest.mark.requirement("D10", "D11")
@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], [PUBLIC, "127.0.0.1"], ["64:ff9b::7f00:1"]],
)
async def test_a_name_that_leads_inside_is_refused_at_the_connection(
    site, forbidden, fetching, addresses
):
    async def resolve(host, port):
        return addresses

    fetch = fetching(resolve, ports=frozenset({forbidden.port}))
    failed = await failure(fetch, f"http://rebinding.example:{forbidden.port}/")
    assert failed.status == "refused"


async def test_a_name_is_resolved_once_for_a_connection(site, pool):
    asked = []

    async def resolve(host, port):
        asked.append((host, port))
        return ["127.0.0.1"]

    site.answers["/"] = reply(PAGE)
    place = f"wiki.test:{site.port}"
    async with SafeFetch(FetchSettings(frozenset({place})), pool, resolve=resolve) as fetch:
        await fetch.fetch(f"http://{place}/")
    assert asked == [("wiki.test", site.port)] * site.connections
    assert site.connections == 2  # robots.txt and the page


async def test_a_listed_name_keeps_its_name_at_the_server(site, pool):
    async def resolve(host, port):
        return ["127.0.0.1"]

    site.answers["/"] = reply(PAGE)
    place = f"wiki.test:{site.port}"
    async with SafeFetch(FetchSettings(frozenset({place})), pool, resolve=resolve) as fetch:
        page = await fetch.fetch(f"http://{place}/")
    assert f"Host: {place}" in site.requests[0]
    assert (page.domain, page.independence_key) == ("wiki.test", "wiki.test")


async def test_another_address_is_tried_when_the_first_does_not_answer(site, pool):
    async def resolve(host, port):
        return ["127.0.0.2", "127.0.0.1"]

    site.answers["/"] = reply(PAGE)
    place = f"wiki.test:{site.port}"
    async with SafeFetch(FetchSettings(frozenset({place})), pool, resolve=resolve) as fetch:
        assert (await fetch.fetch(f"http://{place}/")).title == "A page"


async def test_an_unknown_name_is_a_failure_worth_another_try(fetching):
    async def resolve(host, port):
        raise OSError("no such name")

    failed = await failure(fetching(resolve), "http://nowhere.example/")
    assert failed.reason == "the site's name could not be found"
    assert (failed.status, failed.permanent) == ("failed", False)


async def test_nothing_listening_is_a_failure(site, fetching):
    async with open_site() as gone:
        place = gone.place
    failed = await failure(fetching(also=(place,)), f"http://{place}/")
    assert failed.reason == "no connection to the site could be made"


async def test_a_proxy_of_the_environment_is_not_used(site, forbidden, fetching, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", forbidden.url())
    monkeypatch.setenv("ALL_PROXY", forbidden.url())
    site.answers["/"] = reply(PAGE)
    async with fetching() as fetch:
        await fetch.fetch(site.url())


async def test_a_slow_site_costs_no_more_than_the_limit(site, fetching):
    site.answers["/"] = reply(PAGE, delay_seconds=5)
    failed = await failure(fetching(total_seconds=0.2), site.url())
    assert failed.reason == "the site took too long to answer"
    assert not failed.permanent


async def test_the_limit_of_time_spans_all_redirects(site, fetching):
    site.answers["/"] = redirect("/b")
    site.answers["/b"] = reply(PAGE, delay_seconds=5)
    started = asyncio.get_running_loop().time()
    await failure(fetching(total_seconds=0.3), site.url())
    assert asyncio.get_running_loop().time() - started < 1.0


async def test_a_trickle_costs_no_more_than_the_limit(site, fetching):
    site.answers["/"] = endless(b"<p>word</p>", pause_seconds=0.05)
    failed = await failure(fetching(total_seconds=0.4), site.url())
    assert failed.reason == "the site took too long to answer"


async def test_an_endless_page_is_refused_at_the_cap(site, fetching):
    site.answers["/"] = endless(b"word " * 10_000)
    failed = await failure(fetching(max_bytes=1_000_000), site.url())
    assert failed.reason == "refused: the page is larger than 1 MB"
    assert failed.status == "refused"


async def test_the_cap_is_on_the_byte(site, fetching):
    site.answers["/fits"] = reply(b"a" * 1_000, content_type="text/plain")
    site.answers["/does-not"] = reply(b"a" * 1_001, content_type="text/plain")
    async with fetching(max_bytes=1_000) as fetch:
        assert len((await fetch.fetch(site.url("/fits"))).text) == 1_000
        with pytest.raises(FetchFailedError):
            await fetch.fetch(site.url("/does-not"))


async def test_a_bomb_does_not_unfold(site, fetching):
    bomb = gzip.compress(b"\0" * 200_000_000, 9)
    site.answers["/"] = reply(bomb, headers=("Content-Encoding: gzip",))
    failed = await failure(fetching(), site.url())
    assert failed.reason == "refused: the page is larger than 5 MB"


def bare_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("gzip", gzip.compress),
        ("X-GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", bare_deflate),
        ("identity", bytes),
    ],
)
async def test_unpacks_what_is_packed(site, fetching, name, pack):
    site.answers["/"] = reply(pack(PAGE.encode()), headers=(f"Content-Encoding: {name}",))
    async with fetching() as fetch:
        assert (await fetch.fetch(site.url())).text == "# A page\n\nSome words."


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("gzip", b"not gzip", "failed"),
        ("gzip", gzip.compress(PAGE.encode())[:-20], "failed"),
        ("br", b"\x00", "refused"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x")), "refused"),
    ],
    ids=["another", "cut off", "unknown", "twice"],
)
async def test_refuses_what_cannot_be_unpacked(site, fetching, name, content, status):
    site.answers["/"] = reply(content, headers=(f"Content-Encoding: {name}",))
    assert (await failure(fetching(), site.url())).status == status


@pytest.mark.parametrize(
    "content_type",
    ["image/png", "application/json", "text/css", "application/octet-stream"],
)
async def test_refuses_other_types(site, fetching, content_type):
    site.answers["/"] = reply(b"\x7fELF\x01\x02", content_type=content_type)
    failed = await failure(fetching(), site.url())
    assert failed.status == "refused"
    assert failed.reason == f"refused: pages of type {content_type} are not read"


async def test_a_types_odd_spelling_does_not_reach_the_reader(site, fetching):
    site.answers["/"] = reply(b"x", content_type="a/" + "b" * 500)
    assert (await failure(fetching(), site.url())).reason.count("unknown") == 1


@pytest.mark.parametrize(
    "content_type", ["text/plain", "TEXT/Plain; charset=UTF-8", "text/markdown", None]
)
async def test_reads_plain_text(site, fetching, content_type):
    site.answers["/"] = reply("Plain words.", content_type=content_type)
    async with fetching() as fetch:
        assert (await fetch.fetch(site.url())).text == "Plain words."


UNTOLD = ["application/octet-stream", "binary/octet-stream", "application/zip", None]


@pytest.mark.parametrize("content_type", [*UNTOLD, "text/html", "text/plain; charset=utf-8"])
async def test_a_pdf_is_known_by_its_bytes(site, fetching, content_type):
    site.answers["/report"] = reply(pdf("The tide is high."), content_type=content_type)
    async with fetching() as fetch:
        page = await fetch.fetch(site.url("/report"))
    assert page.text == "## Page 1\n\nThe tide is high."
    assert page.content_type == "application/pdf"


@pytest.mark.parametrize("content_type", [*UNTOLD, "application/msword"])
async def test_a_word_document_is_known_by_what_it_holds(site, fetching, content_type):
    document = word(("Heading 1", "Winds"), ("Normal", "A gale blew."))
    site.answers["/report"] = reply(document, content_type=content_type)
    async with fetching() as fetch:
        page = await fetch.fetch(site.url("/report"))
    assert "A gale blew." in page.text
    assert page.content_type.endswith("wordprocessingml.document")


@pytest.mark.parametrize("content_type", UNTOLD)
async def test_another_zip_file_is_refused(site, fetching, content_type):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "words")
    site.answers["/"] = reply(packed.getvalue(), content_type=content_type)
    assert (await failure(fetching(), site.url())).status == "refused"


@pytest.mark.parametrize("content_type", UNTOLD)
async def test_a_page_without_a_telling_type_is_told_by_its_beginning(site, fetching, content_type):
    site.answers["/page"] = reply(PAGE, content_type=content_type)
    site.answers["/bare"] = reply("<!-- x --><div><p>Words.</p></div>", content_type=content_type)
    site.answers["/words"] = reply("a < b, said <the> page.", content_type=content_type)
    site.answers["/notes.md"] = reply("# Winds\n\nA gale.", content_type=content_type)
    async with fetching() as fetch:
        assert (await fetch.fetch(site.url("/page"))).title == "A page"
        assert (await fetch.fetch(site.url("/bare"))).text == "Words."
        assert (await fetch.fetch(site.url("/words"))).text == "a < b, said <the> page."
        assert (await fetch.fetch(site.url("/notes.md"))).title == "Winds"


async def test_a_document_may_be_larger_than_a_page_whatever_its_type(site, fetching):
    long = pdf(*(f"Page {number} tells of the tide." for number in range(30)))
    site.answers["/pdf"] = reply(long, content_type="application/octet-stream")
    site.answers["/text"] = reply(b"word " * 1_000, content_type="application/octet-stream")
    async with fetching(max_bytes=2_000) as fetch:
        assert "Page 29" in (await fetch.fetch(site.url("/pdf"))).text
        with pytest.raises(FetchFailedError, match="larger than"):
            await fetch.fetch(site.url("/text"))


async def test_reads_pdf_page_by_page(site, fetching):
    site.answers["/"] = reply(pdf("First words.", "Last words."), content_type="application/pdf")
    async with fetching() as fetch:
        text = (await fetch.fetch(site.url())).text
    assert text == "## Page 1\n\nFirst words.\n\n## Page 2\n\nLast words."


async def test_a_pdf_that_is_a_scan_is_empty(site, fetching):
    site.answers["/"] = reply(scan(), content_type="application/pdf")
    failed = await failure(fetching(), site.url())
    assert (failed.status, "a scan" in failed.reason) == ("empty", True)


@pytest.mark.parametrize("label", ["utf-8", "windows-1252", "no-such-charset"])
async def test_a_wrong_charset_does_not_garble_the_text(site, fetching, label):
    content = "<p>Größe, façade, naïve — señor</p>"
    encoded = content.encode("utf-8" if label == "windows-1252" else "cp1252")
    site.answers["/"] = reply(encoded, content_type=f"text/html; charset={label}")
    async with fetching() as fetch:
        assert (await fetch.fetch(site.url())).text == "Größe, façade, naïve — señor"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300_000 + b"\r\n\r\n",
    ],
)
async def test_a_broken_answer_is_a_failure_worth_another_try(site, fetching, answer):
    site.answers["/"] = raw(answer)
    failed = await failure(fetching(), site.url())
    assert (failed.status, failed.permanent) == ("failed", False)
    assert failed.reason == "the site's response was cut off or corrupt"


async def test_a_page_without_text_is_empty(site, fetching):
    site.answers["/"] = reply("<html><body><script>draw()</script><div id=app></div>")
    failed = await failure(fetching(), site.url())
    assert failed.status == "empty"
    assert failed.reason == "the page shows its text only with JavaScript"


@pytest.mark.requirement("C18")
async def test_a_host_gets_no_more_than_its_share(site, fetching):
    for n in range(6):
        site.answers[f"/{n}"] = reply(PAGE, delay_seconds=0.05)
    async with fetching() as fetch:
        await asyncio.gather(*(fetch.fetch(site.url(f"/{n}")) for n in range(6)))
    assert site.most_busy == 2


@pytest.mark.requirement("C18")
async def test_a_busy_host_does_not_hold_up_others(site, fetching):
    async with open_site({"/": reply(PAGE)}) as other:
        site.answers |= {f"/{n}": reply(PAGE, delay_seconds=0.5) for n in range(6)}
        async with fetching(also=(other.place,), at_once=3) as fetch:
            slow = [asyncio.create_task(fetch.download(site.url(f"/{n}"))) for n in range(6)]
            await asyncio.sleep(0.05)
            await asyncio.wait_for(fetch.download(other.url()), 0.4)
            await asyncio.gather(*slow)


@pytest.mark.requirement("C18")
async def test_all_hosts_together_stay_under_the_limit(site, fetching):
    site.answers |= {f"/{n}": reply(PAGE, delay_seconds=0.05) for n in range(8)}
    async with fetching(at_once=3, at_once_per_host=8) as fetch:
        await asyncio.gather(*(fetch.download(site.url(f"/{n}")) for n in range(8)))
    assert site.most_busy == 3


async def test_cancelling_a_fetch_frees_its_place(site, fetching):
    site.answers |= {"/slow": reply(PAGE, delay_seconds=5), "/": reply(PAGE)}
    async with fetching(at_once=1, at_once_per_host=1) as fetch:
        slow = asyncio.create_task(fetch.fetch(site.url("/slow")))
        await asyncio.sleep(0.05)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        assert (await asyncio.wait_for(fetch.fetch(site.url()), 2)).title == "A page"
