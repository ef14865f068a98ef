"""Search effort: what was searched for, and how often in a row without anything new."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from research.engine.records import Evidence

TRIED = 2
"""After so many searches in a row without news, no more is expected."""


@dataclass
class Effort:
    """`sources` and `relevant` count searches in a row without a new source, or a relevant page;
    `support` counts them for each claim since it gained an independent source. `searches` were
    answered in all, `full` of them with as many results as were asked for. `searched` are
    sub-questions that a search answered for, `verified` the claims that verification looked for.
    """

    searches: int = 0
    full: int = 0
    sources: int = 0
    relevant: int = 0
    support: dict[str, int] = field(default_factory=dict)
    searched: set[str] = field(default_factory=set)
    verified: set[str] = field(default_factory=set)

    def named(self, hits: Collection[int], most: int, news: bool) -> None:
        """Record searches that returned these numbers of pages, of at most `most`, or no
        new one.
        """
        self.searches += len(hits)
        self.full += sum(count >= most for count in hits)
        self.sources = 0 if news else self.sources + len(hits)

    @property
    def named_all(self) -> bool:
        """Return whether no search had more results than it returned."""
        return self.searches > 0 and self.full == 0

    def read(self, searches: int, news: bool) -> None:
        """A round's searches led to a relevant page, or to none."""
        self.relevant = 0 if news else self.relevant + searches

    def count_corroboration(
        self, searches: int, records: Iterable[Evidence], before: dict[str, Evidence]
    ) -> None:
        """Count, for each record of an earlier round, what brought it no further source."""
        for record in records:
            old = before.get(record.id)
            gained = old is None or record.keys > old.keys
            self.support[record.id] = 0 if gained else self.support.get(record.id, 0) + searches

    def is_given_up(self, claim: Evidence, in_vain: Collection[str] = ()) -> bool:
        """Return whether no further source of a claim is expected; `in_vain` are sub-questions that
        were searched without success.
        """
        tried = claim.id in self.verified or self.support.get(claim.id, 0) >= TRIED
        return tried or claim.aspect_id in in_vain
