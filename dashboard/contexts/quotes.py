"""The words of a quote that bear its claim."""

from __future__ import annotations

from typing import Any

from research.engine.evidence.quotes import plain_quote
from research.engine.text.sentences import split_sentences
from research.engine.text.tokens import term_set

LEAD_LENGTH = 80
"""Maximum characters that a card shows of a quote before the words that matter."""


def bearing_span(quote: str, claim: str) -> tuple[int, int]:
    """Return the offsets of the claim's own words or, if it is reworded, of the sentence that has
    most of its terms; of the whole quote if none has any.
    """
    start = quote.find(claim) if claim else -1
    if start >= 0:
        return start, start + len(claim)
    wanted = term_set(claim)
    shared = [(len(wanted & term_set(each.text)), each) for each in split_sentences(quote)]
    most, sentence = max(shared, key=lambda pair: pair[0], default=(0, None))
    return (sentence.start, sentence.end) if sentence and most else (0, len(quote))


def quote_pieces(quote: str, claim: str, *, whole: bool = True) -> list[dict[str, Any]]:
    """Return a quote without list marks, in pieces; the one that bears the claim is `marked`,
    unless it is all there is. What comes before it is shortened if not `whole`.
    """
    start, end = bearing_span(quote, claim)
    before, bearing, after = map(plain_quote, (quote[:start], quote[start:end], quote[end:]))
    if not before and not after:
        return [{"text": bearing, "marked": False}]
    if not whole and len(before) > LEAD_LENGTH:
        before = f"… {before[-LEAD_LENGTH:].partition(' ')[2]}"
    pieces = ((f"{before} ", False), (bearing, True), (f" {after}", False))
    return [{"text": text, "marked": marked} for text, marked in pieces if text.strip()]
