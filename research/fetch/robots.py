"""robots.txt according to RFC 9309: requested once per host, cached for a day, obeyed.

A host without the file (4xx) may be crawled. A host whose file is unreachable (5xx, no answer,
refused address) may not until the file can be read; the failure's reason is reported.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx
from protego import Protego

from research.engine.ports import FetchFailedError
from research.fetch.network import failures_named
from research.fetch.response import read_start
from research.fetch.url_policy import AddressRules, Target, check_url

AGENT = "Plumbline"
MAX_BYTES = 512_000
KEPT_SECONDS = 24 * 3600.0
UNREACHABLE_SECONDS = 60.0
MOST_HOSTS = 2_000
REDIRECTS = 5
# bytes; larger files are parsed in a thread
LARGE = 20_000
LONGEST_DELAY_SECONDS = 10.0

_REDIRECTED = frozenset({301, 302, 303, 307, 308})
# a rate-limited host must not count as one without rules
_UNREACHABLE = frozenset({408, 425, 429})


@dataclass(frozen=True)
class Known:
    """Cached rules of a host, None if it has none, or the failure to get them.

    `until` is a time of the event loop's clock.
    """

    until: float
    rules: Protego | None = None
    failure: FetchFailedError | None = None


class Robots:
    """Cache of robots.txt rules by host; `client` connects to checked addresses only."""

    def __init__(self, client: httpx.AsyncClient, rules: AddressRules, seconds: float) -> None:
        self._client = client
        self._rules = rules
        self._seconds = seconds
        self._known: dict[str, Known] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def check(self, target: Target) -> float:
        """Return the crawl delay in seconds; raise `FetchFailedError` if the target is excluded."""
        known = await self._rules_for(target)
        if known.failure is not None:
            why = known.failure
            raise FetchFailedError(why.reason, status=why.status, permanent=why.permanent)
        if known.rules is None:
            return 0.0
        if not known.rules.can_fetch(target.url, AGENT):
            raise FetchFailedError("refused: the site's robots.txt excludes it", status="refused")
        return min(known.rules.crawl_delay(AGENT) or 0.0, LONGEST_DELAY_SECONDS)

    async def _rules_for(self, target: Target) -> Known:
        origin = urljoin(target.url, "/robots.txt")
        async with self._asking.setdefault(origin, asyncio.Lock()):
            known = self._known.get(origin)
            if known is None or known.until < _now():
                known = self._known[origin] = await self._learn(origin)
        self._forget_the_oldest()
        return known

    async def _learn(self, url: str) -> Known:
        try:
            with failures_named():
                async with asyncio.timeout(self._seconds):
                    body = await self._read(url)
        except FetchFailedError as failure:
            return Known(_now() + UNREACHABLE_SECONDS, failure=failure)
        until = _now() + KEPT_SECONDS
        return Known(until, await _parsed(body) if body else None)

    async def _read(self, url: str) -> bytes | None:
        """Return the start of robots.txt, or None if there is none; raise if that is unknown."""
        for _ in range(REDIRECTS + 1):
            target = check_url(url, self._rules)
            async with self._client.stream("GET", target.url) as response:
                status = response.status_code
                if status == 200:
                    return await read_start(response, MAX_BYTES)
                if status >= 500 or status in _UNREACHABLE:
                    raise FetchFailedError(
                        f"the server answered {status} for robots.txt",
                        status="failed",
                        permanent=False,
                    )
                if status not in _REDIRECTED:
                    return None
                url = _joined(target.url, response.headers.get("location", ""))
        return None

    def _forget_the_oldest(self) -> None:
        while len(self._known) > MOST_HOSTS:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._asking.pop(oldest, None)


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


async def _parsed(body: bytes) -> Protego:
    text = body.decode("utf-8", errors="replace")
    return (
        await asyncio.to_thread(Protego.parse, text) if len(text) > LARGE else Protego.parse(text)
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
