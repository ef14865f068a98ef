"""Gets one public page as text, and nothing that is not one.

A fetch is a walk along redirects, each hop checked, counted and timed like the first;
then the body under a cap, then the text. Whatever goes wrong is a `FetchFailure` whose
reason holds no address and no trace.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from urllib.parse import urldefrag, urljoin
from weakref import WeakValueDictionary

import httpx

from research.engine.tools import FetchFailure, Page
from research.retrieval.addresses import DEFAULT_PORTS, AddressRules, Target, check_url
from research.retrieval.body import read_body
from research.retrieval.extracted import EmptyPage, Extracted
from research.retrieval.network import CheckedTransport, Resolve, system_resolve
from research.retrieval.pool import PoolFailure, TextPool
from research.retrieval.sites import domain_of, independence_key

USER_AGENT = "Plumbline/0.1 (+self-hosted research; contact the operator)"
READABLE_TYPES = (
    *("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown"),
)
_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": ", ".join((*READABLE_TYPES, "*/*;q=0.1")),
    "Accept-Encoding": "gzip, deflate",
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429})


@dataclass(frozen=True)
class FetchSettings:
    """The limits of a fetch. `allow_private_hosts` holds exact `host:port` pairs.

    `total_seconds` counts from the first connection to the last byte, redirects
    included, without the time spent waiting for a free place. `max_bytes` is the size
    after decompression.
    """

    allow_private_hosts: frozenset[str] = frozenset()
    ports: frozenset[int] = DEFAULT_PORTS
    max_bytes: int = 5_000_000
    total_seconds: float = 15.0
    connect_seconds: float = 5.0
    extract_seconds: float = 10.0
    max_redirects: int = 5
    at_once_per_host: int = 2
    at_once: int = 16


@dataclass(frozen=True)
class Download:
    """The bytes of a page as they came, after all redirects."""

    final_url: str
    content_type: str
    body: bytes
    fetched_at: datetime


def utc_now() -> datetime:
    return datetime.now(UTC)


class SafeFetch:
    """The engine's `Fetch` over the real web. Close it with `aclose` or `async with`.

    One instance belongs to one event loop. `resolve` and `now` are there for tests.
    """

    def __init__(
        self,
        settings: FetchSettings,
        pool: TextPool,
        *,
        now: Callable[[], datetime] = utc_now,
        resolve: Resolve = system_resolve,
    ) -> None:
        self._settings = settings
        self._pool = pool
        self._now = now
        hosts = frozenset(host.lower() for host in settings.allow_private_hosts)
        self._rules = AddressRules(hosts, settings.ports)
        self._client = _client(settings, self._rules, resolve)
        self._places = asyncio.Semaphore(settings.at_once)
        self._places_of: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def fetch(self, url: str) -> Page:
        """The page at `url`; raises `FetchFailure`."""
        download = await self.download(url)
        extracted = await self._extract(download)
        return _page(url, download, extracted)

    async def download(self, url: str) -> Download:
        """The bytes at `url` behind all redirects; raises `FetchFailure`."""
        target = check_url(url, self._rules)
        remaining = self._settings.total_seconds
        for _ in range(self._settings.max_redirects + 1):
            async with self._place(target):
                started = asyncio.get_running_loop().time()
                answer = await self._hop(target, remaining)
                remaining -= asyncio.get_running_loop().time() - started
            if isinstance(answer, Download):
                return answer
            target = answer
        raise _failed("the site redirected too often")

    async def aclose(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> SafeFetch:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    @asynccontextmanager
    async def _place(self, target: Target) -> AsyncIterator[None]:
        """A place at the host, then one of all: a slow host holds up only its own.

        Behind one listed host there may be several servers, told apart by their ports.
        """
        listed = self._rules.opens(target.host, target.port)
        name = f"{target.host}:{target.port}" if listed else target.host
        of_host = asyncio.Semaphore(self._settings.at_once_per_host)
        of_host = self._places_of.setdefault(name, of_host)
        async with of_host, self._places:
            yield

    async def _hop(self, target: Target, seconds: float) -> Download | Target:
        """One request: the page, or the checked address that it redirects to."""
        try:
            async with (
                asyncio.timeout(seconds),
                self._client.stream("GET", target.url) as response,
            ):
                if response.status_code in _REDIRECTS:
                    return self._redirected(target, response)
                return await self._accept(target, response)
        except (TimeoutError, httpx.TimeoutException):
            raise _failed("the site took too long to answer", permanent=False) from None
        except httpx.ConnectError:
            raise _failed("no connection to the site could be made", permanent=False) from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise _failed("the site's answer broke off or was garbled", permanent=False) from None

    def _redirected(self, source: Target, response: httpx.Response) -> Target:
        location = response.headers.get("location", "")
        if not location:
            raise _failed(f"the server answered {response.status_code} without saying where to go")
        try:
            joined = urljoin(source.url, location)
        except ValueError:
            raise _failed("the site redirected to an address that cannot be read") from None
        return check_url(joined, self._rules)

    async def _accept(self, target: Target, response: httpx.Response) -> Download:
        """The body of an answer that is worth reading."""
        _check_status(response.status_code)
        content_type = _check_type(response.headers.get("content-type", ""))
        body = await read_body(response, self._settings.max_bytes)
        return Download(target.url, content_type, body, self._now())

    async def _extract(self, download: Download) -> Extracted:
        try:
            return await self._pool.extract(
                download.body,
                download.content_type or None,
                download.final_url,
                self._settings.extract_seconds,
            )
        except EmptyPage as empty:
            raise FetchFailure(empty.reason, status="empty") from None
        except PoolFailure as failure:
            raise _failed(failure.reason) from None


def _client(settings: FetchSettings, rules: AddressRules, resolve: Resolve) -> httpx.AsyncClient:
    """A client that keeps no cookies and reads no proxy, password or setting around it."""
    return httpx.AsyncClient(
        transport=CheckedTransport(rules, resolve, connections=settings.at_once),
        headers=_HEADERS,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx.Timeout(settings.total_seconds, connect=settings.connect_seconds),
        follow_redirects=False,
        trust_env=False,
    )


def _check_status(status: int) -> None:
    if status >= 400:
        again = status in _WORTH_ANOTHER_TRY or status >= 500
        raise _failed(f"the server answered {status}", permanent=not again)
    if status != 200:
        raise FetchFailure(f"the server answered {status} without a page", status="empty")


def _check_type(header: str) -> str:
    """The header as it came, if it names something readable or nothing at all."""
    name = header.partition(";")[0].strip().lower()
    if name and name not in READABLE_TYPES:
        shown = name if len(name) <= 60 and name.isprintable() else "unknown"
        raise FetchFailure(f"refused: pages of type {shown} are not read", status="refused")
    return header


def _page(url: str, download: Download, extracted: Extracted) -> Page:
    final_url = urldefrag(download.final_url).url
    return Page(
        url=url,
        final_url=final_url,
        title=extracted.title,
        text=extracted.text,
        sha256=hashlib.sha256(extracted.text.encode()).hexdigest(),
        content_type=download.content_type,
        domain=domain_of(final_url),
        independence_key=independence_key(final_url),
        fetched_at=download.fetched_at,
        site=extracted.site,
        kind=extracted.kind,
        published=extracted.published,
        language=extracted.language,
    )


def _failed(reason: str, *, permanent: bool = True) -> FetchFailure:
    return FetchFailure(reason, status="failed", permanent=permanent)
