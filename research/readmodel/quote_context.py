"""Quotes with the text around them in the stored copy of their page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from research.models import EvidenceSource, PageText

CONTEXT = 400
"""Characters of the stored page on each side of a quote."""


@dataclass(frozen=True)
class InContext:
    """A quote between what precedes and follows it."""

    before: str
    quote: str
    after: str


def with_context(quotes: QuerySet[EvidenceSource]) -> QuerySet[EvidenceSource]:
    """Annotate with `page_text`: the stored page of each quote.

    It is loaded whole, because the database can't cut a compressed text.
    """
    stored = PageText.objects.filter(
        uses__run=OuterRef("evidence__run"), sha256=OuterRef("text_sha256")
    )
    return quotes.annotate(page_text=Subquery(stored.values("text")[:1]))


def split_context(row: Any) -> InContext | None:
    """Return an annotated quote in its context; None if the copy is no longer stored."""
    text, end = row.page_text or "", row.start + len(row.quote)
    if text[row.start : end] != row.quote:
        return None
    return InContext(
        text[max(0, row.start - CONTEXT) : row.start], row.quote, text[end : end + CONTEXT]
    )
