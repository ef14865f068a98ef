"""Which pages of a round's searches are read: chosen over all units together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from research.engine.relevance import hit_relevance
from research.engine.tools import SearchHit

LEAST = 0.2
SAME_HOST = 0.9


@dataclass(frozen=True)
class Candidate:
    """A search hit and the texts that it may be relevant to."""

    hit: SearchHit
    aims: tuple[str, ...]

    @cached_property
    def worth(self) -> float:
        """0-1: mostly what its title and snippet show, the rest what the search thinks of it."""
        shown = max(hit_relevance(aim, self.hit.title, self.hit.snippet) for aim in self.aims)
        ranked = 1 / (1 + 0.15 * (self.hit.rank - 1))
        return 0.65 * shown + 0.35 * ranked if shown >= LEAST or self.hit.rank == 1 else 0.0


def choose_pages(
    wanted: Sequence[Sequence[Candidate]], most: int, per_unit: int, tried: set[str]
) -> list[list[str]]:
    """Addresses for each unit, at most `most` in all and `per_unit` each, best first.

    Units take turns, so that no topic starves another; no page is chosen twice.
    """
    chosen: list[list[str]] = [[] for _ in wanted]
    taken, hosts = set(tried), Counter[str]()
    while sum(map(len, chosen)) < most:
        before = len(taken)
        for unit, candidates in enumerate(wanted):
            if len(chosen[unit]) >= per_unit or sum(map(len, chosen)) >= most:
                continue
            best = _best(candidates, taken, hosts)
            if best is not None:
                chosen[unit].append(best.hit.url)
                taken.add(best.hit.url)
                hosts[_host(best.hit.url)] += 1
        if len(taken) == before:
            break
    return chosen


def _best(
    candidates: Sequence[Candidate], taken: set[str], hosts: Counter[str]
) -> Candidate | None:
    free = [c for c in candidates if c.hit.url not in taken and c.worth > 0]
    if not free:
        return None
    return max(free, key=lambda c: (c.worth * SAME_HOST ** hosts[_host(c.hit.url)], -c.hit.rank))


def _host(url: str) -> str:
    """The host of a web address; every document of a folder is a source of its own."""
    return url if url.startswith("file:") else url.split("/")[2] if "://" in url else url
