"""Differences of wording between a clause of a claim and the part of the quote that is closest.

Function words only are listed here, the closed classes of English that negate, restrict, attribute
and generalise. Each rule asks first whether clause and part share most of their words: in a free
rewording code can't know, and says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import permutations
from pathlib import Path

from research.engine.evidence.claims.clauses import Pair
from research.engine.evidence.claims.closed_classes import (
    AS_ONLY,
    AS_UNIVERSAL,
    BY_RECORDS,
    CONDITION,
    CONDITIONAL,
    DONE,
    FUTURE,
    NEGATIVE,
    ONLY,
    REPORTED,
    SPEAKS,
    UNCERTAIN,
    UNIVERSAL,
)
from research.engine.evidence.claims.comparing import comparatives
from research.engine.evidence.claims.names import bare_subject
from research.engine.evidence.claims.order import MUTUAL
from research.engine.text import entities
from research.engine.text.tokens import stem, term_set

CLOSE = 0.6
"""Share of a clause's words that its part must have before they are compared."""
VERY_CLOSE = 0.7
ABOUT_HALF = 0.5
ALMOST_ALL = 0.8

_OPPOSITES = tuple(
    tuple(frozenset(map(stem, member.split())) for member in line.split("|"))
    for line in (Path(__file__).parents[1] / "data" / "opposites_en.txt").read_text().splitlines()
)
_OPPOSED = frozenset(word for group in _OPPOSITES for member in group for word in member)
_WORDS = re.compile(r"[^\W\d_]+")
_FUNCTION = frozenset(
    (
        *("a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "it"),
        *("its", "of", "to", "in", "on", "at", "by", "for", "from", "with", "as", "and", "or"),
        *("that", "which", "who", "did", "does", "do", "s"),
    )
)
_BY = re.compile(r"\bby\b", re.IGNORECASE)
_IS_A = re.compile(r"\b(?:is|are|was|were) an?\b")
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_ORDER = re.compile(r"\b(?:before|after)\b", re.IGNORECASE)
_REACH = 30


def wording_differences(pair: Pair, claim: str, quote: str) -> list[str]:
    """Return the reasons why a clause differs from its part, in plain words."""
    return [reason for reason, differs in _RULES.items() if differs(pair, claim, quote)]


def _negated_otherwise(pair: Pair, claim: str, quote: str) -> bool:
    """Return whether one negates what the other says; "with no delay" negates nothing but the
    delay.
    """
    if pair.overlap < CLOSE:
        return False
    clause, part = pair.clause, pair.part
    if entities.is_negated(clause):
        if entities.is_negated(quote) and pair.overlap < ALMOST_ALL:
            return False
        return not entities.is_negated(part) and not NEGATIVE.search(part)
    if NEGATIVE.search(clause) or entities.is_negated(claim):
        return False
    return any(term_set(clause) & scope for scope in map(term_set, entities.denied_words(part)))


def _directed_otherwise(pair: Pair, claim: str, quote: str) -> bool:
    """Return whether one rises and the other falls, or one has a word that excludes the other's."""
    if pair.overlap_without(_directing(pair.clause)) < VERY_CLOSE:
        return False
    if entities.is_negated(pair.clause) != entities.is_negated(pair.part):
        return False  # "not enabled" is "disabled"
    opposed = entities.change_direction(pair.clause) * entities.change_direction(pair.part) < 0
    turned = is_swapped(pair.clause, pair.part) or _are_sides_swapped(pair.clause, pair.part)
    if _are_sides_swapped(pair.clause, pair.part, _ORDER):
        return False  # one thing before another is the other after it
    return (opposed and not turned) or is_opposite(pair.clause, pair.part)


def _directing(clause: str) -> frozenset[str]:
    """Return the terms of a clause that give a direction or exclude others."""
    directed = term_set(
        " ".join(word for word in clause.split() if entities.change_direction(word))
    )
    return directed | (term_set(clause) & _OPPOSED)


def _swapped_roles(pair: Pair, claim: str, quote: str) -> bool:
    if pair.overlap < CLOSE:
        return False
    opposed = entities.change_direction(pair.clause) * entities.change_direction(pair.part) < 0
    return is_swapped(pair.clause, pair.part) and not opposed


def _lost_hedge(pair: Pair, claim: str, quote: str) -> bool:
    """Return whether the quote only thinks so, and the claim knows."""
    hedged = entities.is_uncertain(pair.part) and pair.overlap >= ALMOST_ALL
    return hedged and not UNCERTAIN.search(claim)


def _lost_condition(pair: Pair, claim: str, quote: str) -> bool:
    """Return whether a condition in the part, or right after it, is gone from the claim."""
    start = quote.find(pair.part)
    stretch = quote[start : start + len(pair.part) + _REACH] if start >= 0 else pair.part
    match = CONDITION.search(stretch)
    if match is None or CONDITIONAL.search(claim):
        return False
    words = term_set(pair.clause)
    main = term_set(stretch[: match.start()] or stretch[match.end() :])
    after = stretch[match.end() :]
    condition = term_set(after) - main if match.start() else term_set(after.partition(",")[0])
    is_kept = 2 * len(condition & term_set(claim)) >= len(condition) > 0
    return bool(words) and not is_kept and len(words & main) >= CLOSE * len(words)


def _lost_speaker(pair: Pair, claim: str, quote: str) -> bool:
    """Return whether the claim states what the quote only reports as another's words; whether the
    name of a document of record may go is left open.
    """
    if pair.overlap < VERY_CLOSE or SPEAKS.search(claim) or '"' in claim:
        return False
    match = REPORTED.search(BY_RECORDS.sub(lambda found: " " * len(found[0]), quote))
    if match is None:
        return False
    reported = (
        term_set(quote[match.end() :]) if match[0].endswith(("that", "to")) else term_set(pair.part)
    )
    words = term_set(pair.clause)
    return len(words & reported) >= CLOSE * len(words)


def _new_universal(pair: Pair, claim: str, quote: str) -> bool:
    """Return whether the claim leaves no exception where its quote does."""
    if pair.overlap < ABOUT_HALF:
        return False
    said = re.sub(r"\bnot at all\b|\bat all\b", "", pair.clause)
    universal = UNIVERSAL.search(said) and not AS_UNIVERSAL.search(quote)
    only = ONLY.search(said) and not AS_ONLY.search(quote)
    return bool(universal or only)


def _done_already(pair: Pair, claim: str, quote: str) -> bool:
    """Return whether the claim presents as done what the quote announces."""
    if pair.overlap < CLOSE or FUTURE.search(claim):
        return False
    return bool(FUTURE.search(pair.part) and DONE.search(pair.clause)) and not DONE.search(
        pair.part
    )


_RULES: Mapping[str, Callable[[Pair, str, str], bool]] = {
    "negation differs": _negated_otherwise,
    "direction differs": _directed_otherwise,
    "roles differ": _swapped_roles,
    "hedge lost": _lost_hedge,
    "condition lost": _lost_condition,
    "speaker lost": _lost_speaker,
    "generalised": _new_universal,
    "not yet done": _done_already,
}


# --- words that exclude each other, and roles ------------------------------------------------


def is_opposite(clause: str, part: str) -> bool:
    """Return whether one says a word and the other only one that excludes it."""
    said, quoted = _lower_words(clause) & _OPPOSED, _lower_words(part) & _OPPOSED
    if not said or not quoted:
        return False
    for group in _OPPOSITES:
        here = [member for member in group if member & said]
        there = [member for member in group if member & quoted]
        if here and there and not any(member in there for member in here):
            return True
    return False


@lru_cache(maxsize=512)
def _lower_words(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in re.findall(r"\w+", text))


@lru_cache(maxsize=512)
def is_swapped(clause: str, part: str) -> bool:
    """Return whether both say the same of two things, with the things in each other's place."""
    return _roles_swapped(clause, part) or _compared_the_other_way(clause, part)


def _roles_swapped(clause: str, part: str) -> bool:
    both = [
        name
        for name in {
            *entities.find_names(clause),
            *entities.find_names(part),
            *bare_subject(clause),
        }
        if name in clause and name in part
    ]
    for one, other in permutations(sorted(both), 2):
        here, there = _between(clause, one, other), _between(part, other, one)
        if here is None or there is None:
            continue
        said, quoted = _predicate(here), _predicate(there)
        alike = said <= quoted or quoted <= said
        turned = bool(_BY.search(here)) != bool(_BY.search(there))
        if said and quoted and alike and not turned and not MUTUAL & (said | quoted):
            return True
    return False


def _between(text: str, one: str, other: str) -> str | None:
    start, end = text.find(one) + len(one), text.find(other)
    return text[start:end] if start <= end else None


def _predicate(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORDS.findall(text))
    said = frozenset(stem(word) for word in words if word not in _FUNCTION)
    return said or frozenset(["is a"] if _IS_A.search(text) else [])


def _compared_the_other_way(clause: str, part: str) -> bool:
    same = comparatives(clause) == comparatives(part)
    return same and _are_sides_swapped(clause, part)


def _are_sides_swapped(clause: str, part: str, pivot: re.Pattern[str] = _THAN) -> bool:
    """Return whether what one says before "than", or another pivot, the other says after it."""
    here, there = pivot.search(clause), pivot.search(part)
    if not here or not there:
        return False
    less, more = term_set(clause[: here.start()]), term_set(clause[here.end() :])
    left, right = term_set(part[: there.start()]), term_set(part[there.end() :])
    return bool((less - more) & (right - left) and (more - less) & (left - right))
