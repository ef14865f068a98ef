"""Dates in a report's text, in the words of the reader's language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markdown_it.token import Token

from dashboard.words import format_partial_date

DATE = (
    r"\d{4}(?:-\d\d){0,2}|[^,:<>()]{0,20}\d{4}(?:年[\d月日]*)?"  # "2025-10-21", "21 October 2025"
)
DATED = re.compile(rf"(?:, ({DATE}))?: $")  # ", 2025-10-21: " before an address
EARLIER = re.compile(r"\(\d{4}-\d\d(?:-\d\d)?\): ")  # "Previously (2020-03-24): It was so."
MONTH = r"(?<![\w-])\d{4}-(?:0[1-9]|1[0-2])"
MONTH_OR_QUOTE = re.compile(rf"[“„«”»]|{MONTH}(?:-\d\d)?(?![\w-])")  # "2025-01-14", "2025-01"
DAY_OR_QUOTE = re.compile(rf"[“„«”»]|{MONTH}-\d\d(?![\w-])")


def put_days_in_words(tokens: Sequence[Token]) -> None:
    """Put days into words as the reader's language has them, but not in quotations."""
    for token in tokens:
        in_words = _outside_quotations()
        for child in token.children or ():
            if child.type == "text":
                child.content = DAY_OR_QUOTE.sub(in_words, child.content)


def _outside_quotations() -> Callable[[re.Match[str]], str]:
    """Return what puts the dates among dates and quotation marks, in their order, into words."""
    within_quote = False

    def in_words(found: re.Match[str]) -> str:
        nonlocal within_quote
        if found[0][0].isdigit():
            return found[0] if within_quote else format_partial_date(found[0])
        within_quote = found[0] in "„«" or (found[0] == "“" and not within_quote)
        return found[0]

    return in_words


def date_in_words(found: re.Match[str]) -> str:
    return f", {format_partial_date(found[1])}" if found[1] else ""


def days_in_words(text: str) -> str:
    """Return a text with its days and months in words, but not in quotations."""
    return MONTH_OR_QUOTE.sub(_outside_quotations(), text)
