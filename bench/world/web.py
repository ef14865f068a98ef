"""The world's pages over HTTP: every site has a separate loopback address, all have one port."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from urllib.parse import unquote

from bench.world import markup
from bench.world.facts import Page, World
from bench.world.serving import Log, Reply, Request

PAGE_SECONDS = 0.12
SLOW_SECONDS = 4.0


def host_of(site: int) -> str:
    return f"127.0.0.{site}"


def url_of(page: Page, port: int) -> str:
    return f"http://{host_of(page.site)}:{port}{page.path}"


class Web:
    """Responses of all sites; the address of the connection selects the site."""

    def __init__(self, world: World, log: Log, latency: bool) -> None:
        self._log, self._latency = log, latency
        self._sites = {host_of(site.number): site for site in world.sites}
        self._pages = {(host_of(page.site), page.path): page for page in world.pages}
        self._of_site: dict[int, list[Page]] = defaultdict(list)
        for page in world.pages:
            self._of_site[page.site].append(page)

    async def answer(self, request: Request) -> Reply:
        start = time.time()
        page = self._pages.get((request.address, unquote(request.path)))
        if self._latency:
            slow = page is not None and page.trouble == "slow"
            await asyncio.sleep(SLOW_SECONDS if slow else PAGE_SECONDS)
        reply = self._reply(request, page)
        url = f"http://{request.address}{request.path}"
        self._log.add("web", start, url=url, status=reply.status)
        return reply

    def _reply(self, request: Request, page: Page | None) -> Reply:
        if page is None or page.trouble == "missing":
            return Reply(b"There is no such page.", 404, "text/plain")
        if page.trouble == "error":
            return Reply(b"Something went wrong.", 500, "text/plain")
        site = self._sites[request.address]
        if page.trouble == "empty":
            return Reply(markup.nothing(site).encode())
        others = [other for other in self._of_site[page.site] if other is not page]
        return Reply(markup.document(page, site, others).encode())
