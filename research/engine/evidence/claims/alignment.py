"""Tokens of claims and quotes for word-by-word alignment; equal figures and dates are one token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from research.engine.text.amounts import Amount, find_amounts, same_amount
from research.engine.text.dates import FoundDate, find_dates, is_within
from research.engine.text.tokens import stem

ARTICLES = frozenset(("a", "an", "the"))
FUNCTION_WORDS = ARTICLES | frozenset(
    (
        *("is", "are", "was", "were", "be", "been", "has", "have", "had", "it", "its", "of", "to"),
        *("in", "on", "at", "by", "for", "from", "with", "as", "and", "or", "that", "which"),
        *("who", "did", "does", "do", "s", "their", "his", "her", "there", "this", "these"),
    )
)
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[,;:()—–]")
_POSSESSIVE = re.compile(r"['’]s?$")
_MOST_TOKENS = 400


class Token(NamedTuple):
    """A word, a punctuation mark, a figure or a date at `text[start:end]`."""

    key: str
    start: int
    end: int
    kind: str = "word"
    measure: Amount | FoundDate | None = None

    @property
    def is_content(self) -> bool:
        return self.kind in {"amount", "date"} or (
            self.kind == "word" and self.key not in FUNCTION_WORDS
        )


@lru_cache(maxsize=4096)
def tokens_of(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text in order, its first `_MOST_TOKENS`; figures and dates whole."""
    spans = _measures(text)
    found: list[Token] = []
    at = 0
    for span in [*spans, None]:
        end = span.start if span else len(text)
        found += _words(text, at, end)
        if span:
            found.append(span)
            at = span.end
    return tuple(found[:_MOST_TOKENS])


def _words(text: str, start: int, end: int) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(text, start, end):
        written = match[0]
        if written[0].isalnum():
            word = _POSSESSIVE.sub("", written.lower())
            key = word if word in FUNCTION_WORDS else stem(word)
            found.append(Token(key, *match.span()))
        else:
            found.append(Token(written, *match.span(), "mark"))
    return found


def _measures(text: str) -> list[Token]:
    """Dates and amounts, the longest of those that overlap; a figure ends before its noun."""
    dates = [Token(f"date {d.date}", d.start, d.end, "date", d) for d in find_dates(text)]
    amounts = [
        Token(f"amount {a.value}", a.start, _end_of(text, a), "amount", a)
        for a in find_amounts(text)
        if a.kind not in {"ordinal"} and not _is_pronoun(text, a)
    ]
    found: list[Token] = []
    for token in sorted((*dates, *amounts), key=lambda t: (t.start - t.end, t.start)):
        if all(token.end <= other.start or other.end <= token.start for other in found):
            found.append(token)
    return sorted(found, key=lambda token: token.start)


def _end_of(text: str, amount: Amount) -> int:
    """Return the end of a figure; the noun that it counts is a word by itself."""
    written = text[amount.start : amount.end]
    if not amount.noun:
        return amount.end
    head, _, _ = written.rpartition(" ")
    return amount.start + len(head or written)


def _is_pronoun(text: str, amount: Amount) -> bool:
    """Return whether it is the word "one" without a unit."""
    return amount.value == 1 and not amount.dimension and text[amount.start].isalpha()


def matched_to(claim: Sequence[Token], quote: Sequence[Token]) -> tuple[Token, ...]:
    """Return the claim's tokens, each figure and date with the key of the quote's equal one."""
    measured = [token for token in quote if token.measure is not None]
    return tuple(_rekeyed(token, measured) if token.measure else token for token in claim)


def _rekeyed(token: Token, measured: Sequence[Token]) -> Token:
    for other in measured:
        if token.kind == other.kind and _is_equal(token.measure, other.measure):
            return Token(other.key, token.start, token.end, token.kind, token.measure)
    return token


def _is_equal(one: Amount | FoundDate | None, other: Amount | FoundDate | None) -> bool:
    if isinstance(one, Amount) and isinstance(other, Amount):
        return same_amount(one, other)
    if isinstance(one, FoundDate) and isinstance(other, FoundDate):
        return is_within(one.date, other.date)
    return False
