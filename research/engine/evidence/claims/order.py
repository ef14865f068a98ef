"""Compare the word order of a claim and its quote to find exchanged things.

"Acme acquired Borel" has the words of "Borel acquired Acme". A claim that keeps most words of its
quote gives away an exchange by its neighbours, whatever the words are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations

from research.engine.evidence.claims.alignment import Token, matched_to, tokens_of
from research.engine.evidence.claims.clauses import sentences_of
from research.engine.evidence.claims.comparing import comparatives
from research.engine.text.tokens import stem

NEAR_VERBATIM = 0.6
"""Share of a claim's words that must keep the quote's order for an edit to be recognised."""

MUTUAL = frozenset(map(stem, (
    "married", "borders", "merged", "met", "equals", "differs", "resembles", "matches",
    "adjoins", "between", "together", "same", "like", "versus", "agreed", "rivals",
)))  # fmt: skip
"""Stems of what two do to each other alike: the order makes no difference."""
_BY = re.compile(r"\bby\b", re.IGNORECASE)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s(?:[a-z]+ly\s)?"
    r"[a-z]+(?:ed|en|wn|ght|ung|ade|old|eld|ost|ept|elt|uilt)\b",
    re.IGNORECASE,
)
_PLACEHOLDERS = frozenset(map(stem, (
    "i", "me", "my", "we", "us", "you", "your", "he", "him", "she", "they", "them", "those", "can",
    "may", "must", "might", "could", "cannot", "will", "would", "should", "said", "says", "also",
    "all", "no", "not", "more", "less", "former", "latter",
)))  # fmt: skip
"""Words of a slot that another may fill without telling of another thing."""
_EDGE = ""


def has_exchanged_words(claim: str, quote: str) -> bool:
    """Return whether two words of the claim are in each other's place."""
    said, quoted = _content(claim, quote)
    if any(len(form.findall(claim)) != len(form.findall(quote)) for form in (_BY, _PASSIVE)):
        return False  # a passive sentence turns the order round
    if comparatives(claim) != comparatives(quote):
        return False  # "longer than" from one side is "shorter than" from the other
    places = {key: at for at, key in enumerate(quoted) if quoted.count(key) == 1}
    own = [(at, key) for at, key in enumerate(said) if key in places and said.count(key) == 1]
    return any(
        places[one] > places[other]
        and _are_exchanged(said, quoted, (at, there), (places[one], places[other]))
        for (at, one), (there, other) in combinations(own, 2)
    )


def _are_exchanged(
    said: Sequence[str], quoted: Sequence[str], here: tuple[int, int], there: tuple[int, int]
) -> bool:
    """Return whether each has a neighbour in the claim that the other one has in the quote."""
    (one, other), (one_was, other_was) = here, there
    between = set(said[one + 1 : other]) | set(quoted[other_was + 1 : one_was])
    if between & MUTUAL or not between:
        return False
    return _shares_neighbour(said, one, quoted, other_was) and _shares_neighbour(
        said, other, quoted, one_was
    )


def _shares_neighbour(said: Sequence[str], at: int, quoted: Sequence[str], place: int) -> bool:
    return any(_at(said, at + step) == _at(quoted, place + step) != _EDGE for step in (-1, 1))


def _at(keys: Sequence[str], place: int) -> str:
    return keys[place] if 0 <= place < len(keys) else _EDGE


def has_taken_place(claim: str, quote: str, context: str) -> bool:
    """Return whether a name or figure of the claim, known from elsewhere in the quote or the
    context, is between two neighbours that have another word between them in the quote.
    """
    names = _names(context, tokens_of(context)) | _names(quote, tokens_of(quote))
    said, _ = _content(claim, quote)
    for sentence in sentences_of(quote):
        _, quoted = _content(claim, sentence)
        slots: dict[tuple[str, str], set[str]] = {}
        for left, word, right in _triples(quoted):
            slots.setdefault((left, right), set()).add(word)
        for left, word, right in _triples(said):
            there = slots.get((left, right), set()) - _PLACEHOLDERS
            if not there or word in there or there & set(said):
                continue
            is_moved = word in quoted and (_is_measure(word) or said.count(word) > 1)
            if (word in names or is_moved) and word not in _PLACEHOLDERS:
                return True
    return False


def _is_measure(key: str) -> bool:
    return key.startswith(("amount ", "date "))


def _triples(keys: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    yield from zip(keys, keys[1:], keys[2:], strict=False)


@lru_cache(maxsize=512)
def _content(claim: str, quote: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys of the words that carry content, figures and dates among them."""
    quoted = tokens_of(quote)
    return _keys(matched_to(tokens_of(claim), quoted)), _keys(quoted)


def _keys(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.key for token in tokens if token.is_content)


def has_replaced_name(claim: str, quote: str) -> bool:
    """Return whether a claim that otherwise keeps the quote's words has another name in the place
    of one.
    """
    quoted = [token for token in tokens_of(quote) if token.is_content]
    said = [token for token in matched_to(tokens_of(claim), quoted) if token.is_content]
    return any(
        kind == "replace"
        and _names(claim, said[start:end])
        and _names(quote, quoted[begin:stop])
        and not _names(claim, said[start:end]) & {token.key for token in quoted[begin:stop]}
        and not _are_initials(said[start:end], quoted[begin:stop])
        for kind, begin, stop, start, end in _edits(quoted, said)
    )


def share_in_order(claim: str, quote: str) -> float:
    """Return the share (0-1) of the claim's words and figures that keep the order of the quote, or
    of one sentence of it.
    """
    return max(
        _matched(said, quoted) / max(1, len(said))
        for text in dict.fromkeys((quote, *sentences_of(quote)))
        for said, quoted in [_content(claim, text)]
    )


def _matched(said: Sequence[str], quoted: Sequence[str]) -> int:
    blocks = SequenceMatcher(None, quoted, said, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def _edits(quoted: Sequence[Token], said: Sequence[Token]) -> list[tuple[str, int, int, int, int]]:
    """Edits that turn the quote into the claim; none for a free paraphrase."""
    keys, own = [token.key for token in quoted], [token.key for token in said]
    least = NEAR_VERBATIM * max(1, len(own))
    if (Counter(keys) & Counter(own)).total() < least:
        return []  # as many are kept at most
    matcher = SequenceMatcher(None, keys, own, autojunk=False)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    return list(matcher.get_opcodes()) if kept >= least else []


def _names(text: str, tokens: Sequence[Token]) -> set[str]:
    """Return the keys of the words with a capital that open no sentence."""
    return {
        token.key
        for token in tokens
        if token.kind == "word" and text[token.start].isupper() and token.start > 0
    }


def _are_initials(one: Sequence[Token], other: Sequence[Token]) -> bool:
    """Return whether one is the acronym of the other."""
    initials = {"".join(token.key[0] for token in tokens) for tokens in (one, other)}
    return bool(initials & {token.key for token in (*one, *other)})
