"""Choose the pages to read from a round's searches, over all units together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from research.engine.evidence.ledger import Lead
from research.engine.offline.passages.coverage import QuestionScale, in_words, plain_title
from research.engine.ports import SearchHit
from research.engine.text.relevance import hit_relevance
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import normalise_space, term_set

LEAST = 0.2
SAME_HOST = 0.9
NAMES_IT = 0.6
HARDLY = 0.1


class Offer(Protocol):
    """A page that a search named, and what it promises (0-1, 0 for nothing)."""

    @property
    def hit(self) -> SearchHit: ...

    @property
    def worth(self) -> float: ...


@dataclass(frozen=True)
class Candidate:
    """A search hit and the texts that it may be relevant to."""

    hit: SearchHit
    aims: tuple[str, ...]

    @cached_property
    def worth(self) -> float:
        """Return what its title and snippet show, less the further down the search put it."""
        shown = max(hit_relevance(aim, self.hit.title, self.hit.snippet) for aim in self.aims)
        return max(shown, LEAST) if self.hit.rank == 1 else shown * _rank_weight(self.hit)


@dataclass(frozen=True)
class Followed:
    """A search hit for a lead: worth what of the question it covers together with the lead.

    A page that the lead calls by its title counts whole, one that names the lead `NAMES_IT`,
    any other `HARDLY`.
    """

    hit: SearchHit
    lead: Lead
    scale: QuestionScale

    @cached_property
    def worth(self) -> float:
        shown = f"{self.hit.title} {self.hit.snippet}"
        named = in_words(self.lead.text) in in_words(shown)
        title = term_set(plain_title(self.hit.title))
        link = max(jaccard(term_set(self.lead.text), title), NAMES_IT if named else HARDLY)
        together = self.scale.share(self.lead.held | term_set(shown))
        return link * max(together, HARDLY) * _rank_weight(self.hit)


def _rank_weight(hit: SearchHit) -> float:
    """Return the weight of a hit's rank: 1 for the first, down to 0.65."""
    return 0.65 + 0.35 / (1 + 0.15 * (hit.rank - 1))


def shown_as(hit: SearchHit) -> str:
    """Return the title and snippet of a page as one key: hits with the same key are mirrors. "" if
    too short.
    """
    snippet = normalise_space(hit.snippet).casefold()
    return f"{normalise_space(hit.title).casefold()}\n{snippet}" if snippet else ""


def choose_pages(
    wanted: Sequence[Sequence[Offer]],
    most: int,
    per_unit: int,
    tried: set[str],
    shown: Iterable[str] = (),
) -> list[list[str]]:
    """Addresses for each unit, at most `most` in all and `per_unit` each, best first.

    Units take turns, so that no topic starves another; no page is chosen twice. Mirrors, of each
    other or of pages that were `shown_as` these, are chosen once nothing else is left.
    """
    chosen: list[list[str]] = [[] for _ in wanted]
    taken, hosts, seen = set(tried), Counter[str](), set(shown)
    mirrors_too = False
    while sum(map(len, chosen)) < most:
        before = len(taken)
        for unit, candidates in enumerate(wanted):
            if len(chosen[unit]) >= per_unit or sum(map(len, chosen)) >= most:
                continue
            best = _best_offer(candidates, taken, hosts, frozenset() if mirrors_too else seen)
            if best is not None:
                chosen[unit].append(best.hit.url)
                taken.add(best.hit.url)
                seen |= {shown_as(best.hit)} - {""}
                hosts[_source_host(best.hit.url)] += 1
        if len(taken) == before:
            if mirrors_too:
                break
            mirrors_too = True
    return chosen


def _best_offer(
    candidates: Sequence[Offer], taken: set[str], hosts: Counter[str], seen: Set[str]
) -> Offer | None:
    free = [
        c
        for c in candidates
        if c.hit.url not in taken and c.worth > 0 and shown_as(c.hit) not in seen
    ]
    if not free:
        return None
    return max(
        free, key=lambda c: (c.worth * SAME_HOST ** hosts[_source_host(c.hit.url)], -c.hit.rank)
    )


def _source_host(url: str) -> str:
    """Return the host of a web address; every document of a folder is a separate source."""
    return url if url.startswith("file:") else url.split("/")[2] if "://" in url else url
