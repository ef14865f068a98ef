"""The outline of a report in sections: which evidence stands where, and at what length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.records import Aspect, Evidence

LEAST_WORDS, MOST_WORDS = 80, 800
GROUPED_FROM = 6
"""Sections from which short ones are drafted together."""
SMALL, MOST_TOGETHER = 10, 20
"""Records of a section that is drafted with others, and of all sections that are."""


@dataclass(frozen=True)
class OutlinePart:
    """A sub-question, the evidence that its section owns, and its length in words."""

    aspect: Aspect
    records: tuple[Evidence, ...]
    words: int


def make_outline(ledger: Ledger, records: Sequence[Evidence], words: int) -> list[OutlinePart]:
    """Return the sections that have evidence, in the order of the sub-questions.

    Each record belongs to one section. The words are shared out by the number of records.
    """
    owned: dict[str, list[Evidence]] = {
        aspect.id: [] for aspect in ledger.aspects.values() if aspect.state in ANSWERING
    }
    for record in records:
        owner = owner_of(record, ledger, owned)
        if owner is not None:
            owned[owner].append(record)
    total = max(1, sum(map(len, owned.values())))
    return [
        OutlinePart(ledger.aspects[aspect_id], tuple(own), _share_words(words, len(own), total))
        for aspect_id, own in owned.items()
        if own
    ]


def group_parts(outline: Sequence[OutlinePart]) -> list[tuple[OutlinePart, ...]]:
    """Return the sections in groups that are drafted together: in a broad report those with little
    evidence, others alone, in the order of their first ones.
    """
    if len(outline) < GROUPED_FROM:
        return [(part,) for part in outline]
    groups: list[list[OutlinePart]] = []
    small: list[OutlinePart] = []
    for part in outline:
        size = sum(len(each.records) for each in (*small, part))
        if len(part.records) > SMALL:
            groups.append([part])
        elif small and size <= MOST_TOGETHER:
            small.append(part)
        else:
            small = [part]
            groups.append(small)
    return [tuple(group) for group in groups]


def owner_of(record: Evidence, ledger: Ledger, sections: Iterable[str]) -> str | None:
    """Return the sub-question whose section owns a record; None where none may.

    Claims that contradict each other stand together, in the section of the earliest one.
    """
    records = ledger.book.records
    rivals = [records[i] for i in record.contradicts if i in records]
    first = min((record, *rivals), key=lambda each: int(each.id[1:]))
    wanted = (*first.answers, *record.answers)
    return next((aspect_id for aspect_id in wanted if aspect_id in sections), None)


def _share_words(words: int, own: int, total: int) -> int:
    return min(MOST_WORDS, max(LEAST_WORDS, 10 * round(words * own / total / 10)))
