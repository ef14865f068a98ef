"""The passages that are shown for a sub-question, and how likely they answer it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.quotes import plain_quote
from research.engine.offline.answering import kind_worth
from research.engine.offline.passages.complete_passages import MOST_SLICES
from research.engine.offline.passages.passage_model import (
    OF_ANOTHER_THING,
    WITHOUT_ITS_KIND,
    RankedPassage,
    answer_probability,
    best_distinct,
    rank_passages,
)
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking
from research.engine.records import AnswerSupport, Aspect, Evidence, QuoteSource

HALF = 0.5
LONGEST_GAP = 8
"""Characters between two slices that are white space and the mark of a list."""


def standings(ledger: Ledger) -> dict[str, AnswerSupport]:
    """Return the offline answer support of each sub-question, by id."""
    ranking = PassageRanking(list(ledger.pages.values()))
    return {aspect.id: _standing(ledger, ranking, aspect) for aspect in ledger.aspects.values()}


def _standing(ledger: Ledger, ranking: PassageRanking, aspect: Aspect) -> AnswerSupport:
    asked = AskedText(aspect.text)
    records = ledger.book.of(aspect.id)
    found: dict[str, RankedPassage] = {}
    for each in rank_passages(ranking, asked):
        if record := _record_of(each, records):
            found.setdefault(record.id, each)
    shown = best_distinct(list(found.values()))
    chosen = [i for i, each in found.items() if any(each is best for best in shown)]
    keys = frozenset().union(*(ledger.book.records[i].keys for i in chosen))
    chosen.sort(key=lambda i: -kind_worth(found[i].passage.text, aspect.text))
    probability = answer_probability(asked, ranking, shown)
    return AnswerSupport(
        tuple(sorted(keys)),
        False,
        probability=probability,
        passages=tuple(chosen),
        lacks_kind=probability in {WITHOUT_ITS_KIND, OF_ANOTHER_THING},
    )


def _record_of(each: RankedPassage, records: Sequence[Evidence]) -> Evidence | None:
    """Return the record that quotes most of a passage; None if none quotes half of it."""
    passage = each.passage
    size = sum(end - start for start, end in passage.slices)

    def quoted(record: Evidence) -> int:
        return sum(
            max(0, min(end, source.end) - max(start, source.start))
            for source in record.sources
            if source.url == passage.page.url
            for start, end in passage.slices
        )

    best = max(records, key=quoted, default=None)
    if best is None or not quoted(best):
        return None
    shortest = min(size, sum(source.end - source.start for source in slices_of(best)))
    return best if quoted(best) >= HALF * shortest else None


def slices_of(record: Evidence) -> list[QuoteSource]:
    """Return the quotes that make up the first passage of a record, in the page's order."""
    first, *others = record.sources
    slices = [first]
    for source in others:
        is_next = source.url == first.url and source.start >= slices[-1].end
        if not is_next or source.section != first.section or len(slices) == MOST_SLICES:
            break
        slices.append(source)
    return slices


def shown_text(record: Evidence) -> str:
    """Return a record's passage for display; " … " marks omissions."""
    slices = slices_of(record)
    parts = [plain_quote(slices[0].quote)]
    for before, after in pairwise(slices):
        gap = after.start - before.end > LONGEST_GAP
        parts.append(("… " if gap else "") + plain_quote(after.quote))
    return " ".join(parts)
