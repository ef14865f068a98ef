"""Quotes: found in the stored page by code; one that does not stand there is refused.

Rule F1 of the requirement ledger. What is claimed of a quote is checked in `claims.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rapidfuzz import fuzz

from research.engine import features
from research.engine.sentences import Sentence
from research.engine.text import normalise

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


def plain(quote: str) -> str:
    """A quote as people read it: white space folded, list and table marks dropped."""
    return normalise(re.sub(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+", "", quote, flags=re.MULTILINE))
