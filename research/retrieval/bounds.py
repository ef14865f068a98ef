"""The bounds of a search: sites to keep to or to leave out, and a window of time.

Providers are asked to keep them; what comes back is held against them all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import idna

from research.engine.config import ResearchConfig
from research.engine.tools import FetchFailure, Page, SearchHit, SearchRequest
from research.retrieval.sites import host_of


@dataclass(frozen=True)
class Bounds:
    """A site stands for its subdomains; `since` and `until` are days, both included."""

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
        """Whether a page may be asked for. Documents are chosen by their collections."""
        host = _ascii(host_of(url))
        if not host:
            return True
        if any(_is_under(host, site) for site in self.never_sites):
            return False
        return not self.only_sites or any(_is_under(host, site) for site in self.only_sites)

    def admit_date(self, published: str | None) -> bool:
        """Whether a date may lie in the window, as precise as it is known; no date may."""
        if not published:
            return True
        day = published[:10]
        too_old = self.since is not None and day < self.since[: len(day)]
        too_new = self.until is not None and day > self.until[: len(day)]
        return not (too_old or too_new)

    def admit(self, hit: SearchHit) -> bool:
        return self.admit_site(hit.url) and self.admit_date(hit.published)

    def check_site(self, url: str) -> None:
        """Raises `FetchFailure` for a site that was left out."""
        if not self.admit_site(url):
            raise FetchFailure("refused: the site is left out of this research", status="refused")

    def check_page(self, page: Page) -> None:
        """Raises `FetchFailure` for a page of another time."""
        if not self.admit_date(page.published):
            raise FetchFailure(
                "refused: the page was published outside the time asked for", status="refused"
            )


def _is_under(host: str, site: str) -> bool:
    site = _ascii(site)
    return host == site or host.endswith(f".{site}")


def _ascii(host: str) -> str:
    """The one spelling of a name in any script; an odd one stays as it is."""
    try:
        return host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return host
