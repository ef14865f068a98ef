"""Fetches one public web page as text, behind the SSRF guard.

Each redirect is checked, rate-limited and timed like the first request; the body is read under
a size cap and its text extracted in a worker process. Every error is a `FetchFailedError` whose
reason contains neither the address nor a traceback.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from urllib.parse import urldefrag, urljoin

import httpx

from research.engine.ports import FetchFailedError, Page
from research.extract.extracted import EmptyPageError, Extracted
from research.extract.pool import PoolError, TextPool
from research.fetch.network import (
    USER_AGENT,
    CheckedTransport,
    Resolve,
    failures_named,
    system_resolve,
)
from research.fetch.rate_limit import RateLimiter, RateLimiters
from research.fetch.response import (
    READABLE_TYPES,
    BusyError,
    check_status,
    check_type,
    fetch_failure,
    is_packed,
    may_be_packed,
    read_body,
    settled_type,
    too_large,
)
from research.fetch.robots import Robots
from research.fetch.sites import domain_of, independence_key
from research.fetch.url_policy import DEFAULT_PORTS, AddressRules, Target, check_url
from research.limits.limiter import Store
from research.operations.metrics import FETCH_SECONDS, FETCHES, measure_call

_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": ", ".join((*READABLE_TYPES, "*/*;q=0.1")),
    "Accept-Encoding": "gzip, deflate",
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True)
class FetchSettings:
    """Limits of a fetch. `allow_private_hosts` contains exact `host:port` pairs.

    `total_seconds` counts from the first connection to the last byte, redirects included, but
    without the wait for a free connection. `max_bytes` limits the size after decompression,
    `max_packed_bytes` that of a PDF or Word document. Requests to one host start at least
    `interval_seconds` apart, or the crawl delay of its robots.txt. A Retry-After of up to
    `longest_wait_seconds` is honoured; a longer one ends this fetch and blocks the host until
    it has passed.
    """

    allow_private_hosts: frozenset[str] = frozenset()
    ports: frozenset[int] = DEFAULT_PORTS
    max_bytes: int = 5_000_000
    max_packed_bytes: int = 25_000_000
    total_seconds: float = 15.0
    connect_seconds: float = 5.0
    extract_seconds: float = 10.0
    extract_packed_seconds: float = 60.0
    max_redirects: int = 5
    at_once: int = 32
    at_once_per_host: int = 2
    interval_seconds: float = 0.1
    longest_wait_seconds: float = 5.0
    obey_robots: bool = True
    robots_seconds: float = 5.0


@dataclass(frozen=True)
class Download:
    """Raw bytes of a page, after all redirects."""

    final_url: str
    content_type: str
    body: bytes
    fetched_at: datetime


def utc_now() -> datetime:
    return datetime.now(UTC)


class SafeFetch:
    """The engine's `Fetch` over the real web. Close it with `aclose` or `async with`.

    An instance belongs to one event loop. Limits per host apply to all instances of a `store`.
    `resolve` and `now` are parameters for tests.
    """

    def __init__(
        self,
        settings: FetchSettings,
        pool: TextPool,
        *,
        now: Callable[[], datetime] = utc_now,
        resolve: Resolve = system_resolve,
        store: Store | None = None,
    ) -> None:
        self._settings = settings
        self._pool = pool
        self._now = now
        hosts = frozenset(host.lower() for host in settings.allow_private_hosts)
        self._rules = AddressRules(hosts, settings.ports)
        self._client = _client(settings, self._rules, resolve)
        self._robots = Robots(self._client, self._rules, settings.robots_seconds)
        self._places = asyncio.Semaphore(settings.at_once)
        self._paces = RateLimiters(settings.at_once_per_host, settings.interval_seconds, store)

    async def fetch(self, url: str, admit: Callable[[str], None] | None = None) -> Page:
        """Return the page at `url`; raise `FetchFailedError`.

        `admit` is called with each address, redirects included, and raises `FetchFailedError` to
        refuse it.
        """
        with measure_call(FETCHES, FETCH_SECONDS, FetchFailedError):
            download = await self.download(url, admit)
            extracted = await self._extract(download)
        return _make_page(url, download, extracted)

    async def download(self, url: str, admit: Callable[[str], None] | None = None) -> Download:
        """Return the bytes at `url` after all redirects; raise `FetchFailedError`."""
        target = check_url(url, self._rules)
        left = _TimeLeft(self._settings.total_seconds)
        for _ in range(self._settings.max_redirects + 1):
            if admit is not None:
                admit(target.url)
            answer = await self._request_with_retry(target, left)
            if isinstance(answer, Download):
                return answer
            target = answer
        raise fetch_failure("the site redirected too often")

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

    async def _request_with_retry(self, target: Target, left: _TimeLeft) -> Download | Target:
        """Send the request; retry once if a busy server sends an acceptable Retry-After."""
        pace = self._pace_of(target)
        if self._settings.obey_robots:
            delay = await self._robots.check(target)
            pace.interval_seconds = max(self._settings.interval_seconds, delay)
        for last in (False, True):
            if pace.held_seconds > self._settings.longest_wait_seconds:
                raise fetch_failure("the site limits requests and asked to wait", permanent=False)
            try:
                async with pace.turn(), self._places, left:
                    return await self._request_once(target, left.seconds)
            except BusyError as busy:
                pace.hold(busy.wait_seconds)
                if last or busy.wait_seconds > self._settings.longest_wait_seconds:
                    raise
        raise AssertionError("the second visit returns or raises")

    def _pace_of(self, target: Target) -> RateLimiter:
        """Return the rate limiter of the target's host, so that a slow host delays only itself.

        Hosts opened by `allow_private_hosts` are limited per port: each port may be another server.
        """
        listed = self._rules.opens(target.host, target.port)
        return self._paces.of(f"{target.host}:{target.port}" if listed else target.host)

    async def _request_once(self, target: Target, seconds: float) -> Download | Target:
        """Send one request; return the page, or the checked target of a redirect."""
        with failures_named():
            async with (
                asyncio.timeout(seconds),
                self._client.stream("GET", target.url) as response,
            ):
                if response.status_code in _REDIRECTS:
                    return self._redirected(target, response)
                return await self._accept(target, response)

    def _redirected(self, source: Target, response: httpx.Response) -> Target:
        location = response.headers.get("location", "")
        if not location:
            raise fetch_failure(
                f"the server answered {response.status_code} without a redirect address"
            )
        try:
            joined = urljoin(source.url, location)
        except ValueError:
            raise fetch_failure("the site redirected to an address that cannot be read") from None
        return check_url(joined, self._rules)

    async def _accept(self, target: Target, response: httpx.Response) -> Download:
        """Return the body of a response that is worth reading.

        Raise `FetchFailedError` otherwise.
        """
        check_status(response)
        header = check_type(response.headers.get("content-type", ""))
        limits = self._settings
        most = limits.max_packed_bytes if may_be_packed(header) else limits.max_bytes
        body = await read_body(response, most)
        content_type = settled_type(header, body)
        if not is_packed(content_type) and len(body) > limits.max_bytes:
            raise too_large(limits.max_bytes)
        return Download(target.url, content_type, body, self._now())

    async def _extract(self, download: Download) -> Extracted:
        limits, packed = self._settings, is_packed(download.content_type)
        try:
            return await self._pool.extract(
                download.body,
                download.content_type or None,
                download.final_url,
                limits.extract_packed_seconds if packed else limits.extract_seconds,
            )
        except EmptyPageError as empty:
            raise FetchFailedError(empty.reason, status="empty") from None
        except PoolError as failure:
            raise fetch_failure(failure.reason) from None


def _client(settings: FetchSettings, rules: AddressRules, resolve: Resolve) -> httpx.AsyncClient:
    """Return a client without cookies that ignores proxies and credentials of the environment."""
    return httpx.AsyncClient(
        transport=CheckedTransport(rules, resolve, connections=settings.at_once),
        headers=_HEADERS,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx.Timeout(settings.total_seconds, connect=settings.connect_seconds),
        follow_redirects=False,
        trust_env=False,
    )


class _TimeLeft:
    """Remaining time of a fetch; the clock runs only while a request is in progress."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = 0.0

    async def __aenter__(self) -> None:
        self._began = asyncio.get_running_loop().time()

    async def __aexit__(self, *_: object) -> None:
        self.seconds -= asyncio.get_running_loop().time() - self._began


def _make_page(url: str, download: Download, extracted: Extracted) -> Page:
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
