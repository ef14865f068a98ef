"""Several searches in order of preference: the next one helps out where one falls short.

A search falls short where it fails, and where what it found is poor or one-sided; what
was found is then kept and fused with what the next one finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from research.engine.relevance import hit_relevance
from research.engine.tools import (
    Search,
    SearchAnswer,
    SearchFailure,
    SearchHit,
    SearchKind,
    SearchRequest,
)
from research.retrieval.bounds import Bounds
from research.retrieval.pipeline import prepare
from research.retrieval.sites import independence_key

FEW = 3
BESIDE_THE_QUESTION = 0.25
ONE_SIDED = 0.8
WAYS_OUT = (
    "Ways out: try again later, name other searches (SEARCH_PROVIDER), or research documents"
    " of your own (DOCUMENTS)."
)
SWITCHED_OFF = (
    "Search is switched off (SEARCH_PROVIDER=none): name searches there, or folders of documents"
    " (DOCUMENTS or --documents)."
)


@dataclass(frozen=True)
class NamedSearch:
    """A search with the name by which people know it; `kinds` None is every kind."""

    name: str
    search: Search
    kinds: frozenset[SearchKind] | None = None


class FallbackSearch:
    """Searches in order of preference; the next one where one falls short."""

    def __init__(self, searches: Sequence[NamedSearch]) -> None:
        self._searches = tuple(searches)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """What was found, fused, within the bounds of the request.

        Notes say who failed or fell short, and who answered instead. Raises
        `SearchFailure`, naming each and the ways out, when nobody gave any answer.
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
            raise SearchFailure(
                f"None of the searches ({names}) looks for {kind} pages: change SEARCH_KIND or"
                " name other searches (SEARCH_PROVIDER).",
                permanent=True,
            )
        return suitable


class _Attempt:
    """One request on its way through the searches."""

    def __init__(self, request: SearchRequest) -> None:
        self.request = request
        self.enough = False
        self._bounds = Bounds.of(request)
        self._hits: list[SearchHit] = []
        self._answered: list[str] = []
        self._notes: list[str] = []
        self._failures: list[SearchFailure] = []
        self._refusals: list[str] = []

    async def ask(self, named: NamedSearch, *, alone: bool) -> None:
        try:
            answer = await named.search.search(self.request)
        except SearchFailure as failure:
            self._failures.append(failure)
            self._refusals.append(f"{named.name}: {failure.reason}")
            return
        self._answered.append(named.name)
        self._notes.extend(answer.notes)
        self._hits += [hit for hit in answer.hits if self._bounds.admit(hit)]
        lacking = shortcoming(prepare(self._hits, self.request.limit), self.request)
        self.enough = lacking is None
        if lacking and not alone:
            self._notes.append(f"{named.name} found {lacking}.")

    def answer(self) -> SearchAnswer:
        if not self._answered:
            raise self._all_failed() from self._failures[-1]
        instead = f"Answered instead: {', '.join(self._answered)}."
        refused = (f"{refusal} {instead}" for refusal in self._refusals)
        return SearchAnswer(prepare(self._hits, self.request.limit), (*refused, *self._notes))

    def _all_failed(self) -> SearchFailure:
        permanent = all(failure.permanent for failure in self._failures)
        listed = "; ".join(refusal.rstrip(".") for refusal in self._refusals)
        return SearchFailure(
            f"No search provider answered: {listed}. {WAYS_OUT}", permanent=permanent
        )


def shortcoming(hits: Sequence[SearchHit], request: SearchRequest) -> str | None:
    """What hits lack, in words, or None: the measure by which the next search is asked.

    Too few are less than `FEW`. They are beside the question where no title with its
    snippet holds `BESIDE_THE_QUESTION` of it (the measure by which pages are chosen), and
    one-sided where more than `ONE_SIDED` of them are of one site that nobody asked for.
    """
    if not hits:
        return "nothing"
    if len(hits) < min(FEW, request.limit):
        return "little"
    if max(hit_relevance(request.query, h.title, h.snippet) for h in hits) < BESIDE_THE_QUESTION:
        return "nothing that holds much of the question"
    [(_, most)] = Counter(independence_key(hit.url) for hit in hits).most_common(1)
    if most > ONE_SIDED * len(hits) and not request.only_sites:
        return "pages of one site only"
    return None


class NoSearch:
    """The choice to do without search: no hits, and the answer says so."""

    async def search(self, request: SearchRequest) -> SearchAnswer:
        return SearchAnswer((), (SWITCHED_OFF,))
