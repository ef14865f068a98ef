"""Bounds of a search: included or excluded sites, and a date range.

Providers are asked to apply them; their results are checked against them as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import idna

from research.engine.config import ResearchConfig
from research.engine.ports import FetchFailedError, Page, SearchHit, SearchRequest
from research.fetch.sites import host_of


@dataclass(frozen=True)
class Bounds:
    """Included and excluded sites (with subdomains) and a range of days, both ends included."""

    only_sites: tuple[str, ...] = ()
    never_sites: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None

    @classmethod
    def of(cls, source: SearchRequest) -> Self:
        return cls(source.only_sites, source.never_sites, source.since, source.until)

    @classmethod
    def of_run(cls, config: ResearchConfig) -> Self:
        return cls(config.only_sites, config.never_sites, config.search_since, config.search_until)

    def admit_site(self, url: str) -> bool:
        """Return whether a page's site is allowed; documents, which have no host, always are."""
        host = _ascii(host_of(url))
        if not host:
            return True
        if any(_is_under(host, site) for site in self.never_sites):
            return False
        return not self.only_sites or any(_is_under(host, site) for site in self.only_sites)

    def admit_date(self, published: str | None) -> bool:
        """Return whether a date, however precise, may lie in the range; True if it is unknown."""
        if not published:
            return True
        day = published[:10]
        too_old = self.since is not None and day < self.since[: len(day)]
        too_new = self.until is not None and day > self.until[: len(day)]
        return not (too_old or too_new)

    def admit(self, hit: SearchHit) -> bool:
        return self.admit_site(hit.url) and self.admit_date(hit.published)

    def check_site(self, url: str) -> None:
        """Raise `FetchFailedError` if the site is excluded."""
        if not self.admit_site(url):
            raise FetchFailedError(
                "refused: the site is left out of this research", status="refused"
            )

    def check_page(self, page: Page) -> None:
        """Raise `FetchFailedError` if the page was published outside the date range."""
        if not self.admit_date(page.published):
            raise FetchFailedError(
                "refused: the page was published outside the time asked for", status="refused"
            )


def _is_under(host: str, site: str) -> bool:
    site = _ascii(site)
    return host == site or host.endswith(f".{site}")


def _ascii(host: str) -> str:
    """Return a host in ASCII (IDNA); return it unchanged if it can't be encoded."""
    try:
        return host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return host
