"""Statements of a report beside their quotes, with what checked each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.markdown.statements import CitedText
from dashboard.queries.queries import CitationRows, CitedStatement
from research.engine.evidence.claim_check import check_claim
from research.models import Evidence, EvidenceSource

QUOTATION = words.State(_("Statement: a quotation, word for word"), "check", "good")
VALUE = words.State(_("Value: stands in the quote, checked by code"), "check", "good")
COMPUTED = words.State(_("Statement: computed by code from the quotes’ figures"), "check", "good")
BY_CODE = words.State(_("Statement: checked word for word by code"), "check", "good")
BY_MODEL = words.State(
    _("Statement: judged by the model to follow from the quote"), "check", "good"
)
NOT_CHECKED = words.State(
    _("Statement: not checked whether it follows from the quote"), "circle", "idle"
)


def statement_context(said: CitedStatement, rows: CitationRows) -> dict[str, Any]:
    """Return a statement with its section, a link to its place there, and its check."""
    text, number = said.said, rows.number
    return {
        "text": text.text,
        "label": text.label,
        "heading": text.heading or gettext("Short answer"),
        "anchor": anchor_of(number, text.place_of(number) or 0),
        "check": _with_others(check_of(said, rows), text, number),
    }


def _with_others(check: words.State, text: CitedText, number: int) -> words.State:
    """Return a check that names the other citations of the statement, whose quotes it took too."""
    others = dict.fromkeys(each for each, _place in text.markers if each != number)
    if not others or check not in (BY_CODE, BY_MODEL):
        return check
    named = words.join_words([f"[{each}]" for each in others])
    told = gettext("%(check)s, together with %(others)s") % {"check": check.word, "others": named}
    return replace(check, word=told)


def anchor_of(number: int, place: int) -> str:
    """Return the anchor of a marker in a report: of its number, or of a later occurrence."""
    return f"cite-{number}-{place}" if place else f"cite-{number}"


def check_of(said: CitedStatement, rows: CitationRows) -> words.State:
    """Return what found that a statement says what its quotes say.

    What code vouches for is found again, as it was when the report was written; what it doesn't
    vouch for is the model's, by the counts of the report.
    """
    text, checks = said.said, rows.checks
    quotes = [quote for record in said.evidence for quote in record.quotes.all()]
    if text.is_quotation:
        return QUOTATION
    if text.label:
        is_there = any(text.text.casefold() in quote.quote.casefold() for quote in quotes)
        return VALUE if is_there else NOT_CHECKED
    if any(line.startswith(text.bare.rstrip(".。")) for line in rows.calculations):
        return COMPUTED
    if is_carried(text, said.evidence, quotes, rows.run.question):
        return BY_CODE
    return by_counts(checks)


def is_carried(
    text: CitedText, records: Sequence[Evidence], quotes: Sequence[EvidenceSource], question: str
) -> bool:
    """Return whether code vouches that the quotes say it: together, or those of one record or
    source alone.
    """
    context = " ".join((question, *(f"{quote.title} {quote.section}" for quote in quotes)))
    by_record = (" ".join(quote.quote for quote in each.quotes.all()) for each in records)
    every = " ".join(quote.quote for quote in quotes)
    texts = dict.fromkeys((every, *by_record, *(quote.quote for quote in quotes)))
    return any(check_claim(text.bare, each, context).outcome == "carried" for each in texts)


def by_counts(checks: Mapping[str, Any]) -> words.State:
    """Return what vouches for a statement that code alone doesn't find in its quotes."""
    if checks.get("by_neither", 0) > checks.get("connections", 0):
        return NOT_CHECKED
    if checks.get("by_model"):
        return BY_MODEL
    return BY_CODE if checks.get("by_code") else NOT_CHECKED
