"""Quotes: found in the stored page by code, and compared with the claim made of them.

F1 and C11 of the requirement ledger: a quote that does not stand in the page is refused;
a claim that says something else than its quote is not repeated, the quote's own words
take its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rapidfuzz import fuzz

from research.engine import features
from research.engine.records import Uncertainty
from research.engine.text import Sentence, normalise, term_set

MAX_QUOTE = 400
_FOLDED = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-"}
)
_REANCHOR_SCORE = 96.0


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Offsets of `quote` in `text`, compared with Unicode, quotes and white space folded.

    Where it does not stand word for word, a place that differs by a few letters may
    re-anchor it, if numbers and negations agree. None where there is no such place.
    """
    needle = _fold(quote)[0].strip()
    if not needle:
        return None
    folded, offsets = _fold(text)
    at = folded.find(needle)
    if at >= 0:
        return offsets[at], offsets[at + len(needle) - 1] + 1
    return _reanchor(needle, folded, offsets)


def _fold(text: str) -> tuple[str, list[int]]:
    """Folded text and, for each of its characters, the offset in the original."""
    characters: list[str] = []
    offsets: list[int] = []
    for offset, original in enumerate(text):
        folded = unicodedata.normalize("NFKD", original).translate(_FOLDED)
        for character in " " if folded.isspace() else folded:
            if character == " " and characters and characters[-1] == " ":
                continue
            characters.append(character)
            offsets.append(offset)
    return "".join(characters), offsets


def _reanchor(needle: str, folded: str, offsets: list[int]) -> tuple[int, int] | None:
    if len(needle) < 20 or len(needle) > len(folded):
        return None
    found = fuzz.partial_ratio_alignment(needle, folded, score_cutoff=_REANCHOR_SCORE)
    if found is None:
        return None
    start, end = _whole_words(folded, found.dest_start, found.dest_end)
    place = folded[start:end]
    if set(features.numbers(place)) != set(features.numbers(needle)):
        return None
    if features.negated(place) != features.negated(needle):
        return None
    return offsets[start], offsets[end - 1] + 1


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def span(sentences: Sequence[Sentence], text: str) -> tuple[int, int] | None:
    """Offsets of the first run of neighbouring sentences that makes a quote of fit length.

    A sentence longer than `MAX_QUOTE` characters is cut at a word.
    """
    if not sentences:
        return None
    run = [sentences[0]]
    for sentence in sentences[1:]:
        joined = sentence.end - run[0].start
        if sentence.number != run[-1].number + 1 or joined > MAX_QUOTE or sentence.kind == "item":
            break
        run.append(sentence)
    start, end = run[0].start, run[-1].end
    if end - start > MAX_QUOTE:
        end = start + MAX_QUOTE
        while end > start and not text[end].isspace():
            end -= 1
        end = start + len(text[start:end].rstrip())
    return (start, end) if end > start else None


def differences(claim: str, quote: str, context: str) -> tuple[Uncertainty, ...]:
    """What the claim says that its quote doesn't: numbers, names, negation or direction.

    `context` (title and section of the page, and the question) may lend names, since a
    claim names what its quote calls "it"; numbers must stand in the quote itself.
    """
    found: list[Uncertainty] = []
    numbers = set(features.numbers(claim)) - set(features.numbers(quote))
    if numbers or features.scales(claim) - features.scales(quote):
        found.append("number_differs")
    if _foreign_names(claim, f"{quote} {context}"):
        found.append("name_differs")
    against = features.direction(claim) * features.direction(quote) < 0
    if features.negated(claim) != features.negated(quote) or against:
        found.append("negation_differs")
    return tuple(found)


def _foreign_names(claim: str, allowed: str) -> list[str]:
    plain = normalise(allowed).casefold()
    words = term_set(allowed)
    return [
        name
        for name in features.names(claim)
        if name.casefold() not in plain and not term_set(name) <= words
    ]


def stronger(claim: str, quote: str) -> bool:
    """Whether the claim drops a hedge that its quote holds ("may" → "does")."""
    return features.hedged(quote) and not features.hedged(claim)


def share_supported(claim: str, quote: str, context: str) -> float:
    """The share (0-1) of the claim's words that stand in its quote or in the context."""
    words = term_set(claim)
    return len(words & (term_set(quote) | term_set(context))) / len(words) if words else 0.0


def plain(quote: str) -> str:
    """A quote as people read it: white space folded, list and table marks dropped."""
    return normalise(re.sub(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+", "", quote, flags=re.MULTILINE))
