"""Fallback chain of searches: the next provider is asked if one fails or returns poor results.

Poor results (few, irrelevant or all of one site) are kept and fused with those of the next
provider.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from research.engine.ports import (
    Search,
    SearchAnswer,
    SearchFailedError,
    SearchHit,
    SearchKind,
    SearchRequest,
)
from research.engine.text.relevance import hit_relevance
from research.fetch.sites import independence_key
from research.operations.metrics import SEARCH_SECONDS, SEARCHES, measure_call
from research.search.bounds import Bounds
from research.search.pipeline import prepare_hits

FEW = 3
BESIDE_THE_QUESTION = 0.25
ONE_SIDED = 0.8
WITHHELD = (
    "Left out of the search by {name}, as only your documents hold these words: {words}. The plan "
    "of a run can allow them."
)
WAYS_OUT = (
    "Try again later, name other searches (SEARCH_PROVIDER), or research your own documents"
    " (DOCUMENTS)."
)
SWITCHED_OFF = (
    "Search is switched off (SEARCH_PROVIDER=none): name searches there, or folders of documents"
    " (DOCUMENTS or --documents)."
)


@dataclass(frozen=True)
class NamedSearch:
    """A search with its display name.

    `kinds` None means every kind; `is_private` that it sends nothing away.
    """

    name: str
    search: Search
    kinds: frozenset[SearchKind] | None = None
    is_private: bool = False


class FallbackSearch:
    """Asks searches in order of preference until the results are good enough."""

    def __init__(self, searches: Sequence[NamedSearch]) -> None:
        self._searches = tuple(searches)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the fused results within the request's bounds.

        Notes name the searches that failed or fell short, and those that answered instead. Raise
        `SearchFailedError`, naming each search and possible remedies, if all of them failed.
        """
        suitable = self._suitable(request.kind)
        attempt = _Attempt(request)
        for named in suitable:
            await attempt.ask(named, alone=len(suitable) == 1)
            if attempt.enough:
                break
        return attempt.answer()

    def _suitable(self, kind: SearchKind) -> list[NamedSearch]:
        suitable = [each for each in self._searches if each.kinds is None or kind in each.kinds]
        if not suitable:
            names = ", ".join(each.name for each in self._searches)
            raise SearchFailedError(
                f"None of the searches ({names}) looks for {kind} pages: change SEARCH_KIND or"
                " name other searches (SEARCH_PROVIDER).",
                permanent=True,
            )
        return suitable


class _Attempt:
    """One request on its way through the chain."""

    def __init__(self, request: SearchRequest) -> None:
        self.request = request
        self.enough = False
        self._bounds = Bounds.of(request)
        self._hits: list[SearchHit] = []
        self._answered: list[str] = []
        self._notes: list[str] = []
        self._failures: list[SearchFailedError] = []
        self._refusals: list[str] = []

    async def ask(self, named: NamedSearch, *, alone: bool) -> None:
        request = self.request if named.is_private else self._public(named.name)
        if not request.query:
            return
        try:
            with measure_call(SEARCHES, SEARCH_SECONDS, SearchFailedError, named.name):
                answer = await named.search.search(request)
        except SearchFailedError as failure:
            self._failures.append(failure)
            self._refusals.append(f"{named.name}: {failure.reason}")
            return
        self._answered.append(named.name)
        self._notes.extend(answer.notes)
        self._hits += [hit for hit in answer.hits if self._bounds.admit(hit)]
        lacking = find_shortcoming(prepare_hits(self._hits, self.request.limit), self.request)
        self.enough = lacking is None
        if lacking and not alone:
            self._notes.append(f"{named.name} found {lacking}.")

    def _public(self, name: str) -> SearchRequest:
        """Return the request without words that only private documents hold; says what is
        left out.
        """
        withheld = self.request.private_words
        if withheld:
            self._notes.append(WITHHELD.format(words=", ".join(withheld), name=name))
        return replace(self.request, query=self.request.public_query, private_words=())

    def answer(self) -> SearchAnswer:
        if not self._answered:
            raise self._all_failed() from self._failures[-1]
        instead = f"Answered instead: {', '.join(self._answered)}."
        refused = (f"{refusal} {instead}" for refusal in self._refusals)
        return SearchAnswer(prepare_hits(self._hits, self.request.limit), (*refused, *self._notes))

    def _all_failed(self) -> SearchFailedError:
        permanent = all(failure.permanent for failure in self._failures)
        listed = "; ".join(refusal.rstrip(".") for refusal in self._refusals)
        return SearchFailedError(
            f"No search provider answered: {listed}. {WAYS_OUT}", permanent=permanent
        )


def find_shortcoming(hits: Sequence[SearchHit], request: SearchRequest) -> str | None:
    """Return what is wrong with the results, in words, or None if they suffice.

    Too few: fewer than `FEW`. Irrelevant: no title with its snippet covers `BESIDE_THE_QUESTION` of
    the query (by the measure used for page selection). One-sided: more than `ONE_SIDED` of them are
    of one site that was not requested.
    """
    if not hits:
        return "nothing"
    if len(hits) < min(FEW, request.limit):
        return "little"
    if max(hit_relevance(request.query, h.title, h.snippet) for h in hits) < BESIDE_THE_QUESTION:
        return "nothing relevant to the question"
    [(_, most)] = Counter(independence_key(hit.url) for hit in hits).most_common(1)
    if most > ONE_SIDED * len(hits) and not request.only_sites:
        return "pages of one site only"
    return None


class NoSearch:
    """Search switched off: returns no hits and a note that says so."""

    async def search(self, request: SearchRequest) -> SearchAnswer:
        return SearchAnswer((), (SWITCHED_OFF,))
