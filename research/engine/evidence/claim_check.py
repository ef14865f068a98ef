"""Does a quote carry the claim made of it? Code vouches for it, refuses it, or can't know.

Rules F1 and C11 of `docs/requirements.md`. Figures, dates and names of the claim have to be the
quote's; each clause is compared with the part of the quote that shares most of its words
(`claims/`). What keeps the quote's words in their order is vouched for. What is worded freely, or
differs in a way that may follow from the quote, is left undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from research.engine.evidence.claims.alignment import tokens_of
from research.engine.evidence.claims.clauses import match_clauses
from research.engine.evidence.claims.figures import (
    counts_another_thing,
    foreign_amounts,
    foreign_dates,
    is_known_year,
    moves_date,
)
from research.engine.evidence.claims.names import is_misnamed
from research.engine.evidence.claims.order import (
    has_exchanged_words,
    has_replaced_name,
    has_taken_place,
    share_in_order,
)
from research.engine.evidence.claims.pairs import measures_another_way, mixes_pairs
from research.engine.evidence.claims.proof import proven_differences
from research.engine.evidence.claims.vouching import drops_exclusion, is_verbatim, is_vouched
from research.engine.evidence.claims.wording import is_opposite, is_swapped, wording_differences
from research.engine.text.tokens import term_set

SUPPORTED_SHARE = 0.4
ALIKE_SHARE = 0.55
"""Share of a claim's words that keep the quote's order, from which on it is worded like it, so that
a proven difference refuses it. In other words the difference may only seem to be there: "a quarter
of them" for "35 of 140". Of .5, .55, .6, .65 and .7 the lowest at which no part of `bench/claims`
loses more than .08 of its faithful claims.
"""
SHORT_ALIKE_SHARE = 0.5
"""The share for a claim of at most `SHORT_WORDS`, and for every claim in earlier forms of research.
"""
SHORT_WORDS = 3
NEAR_SHARE = 0.8
"""That share, from which on the claim is the quote but for a word or a phrase: what sets them
apart is easily overlooked, and the quote says as much.
"""
_TOLD_BY_WORDING = frozenset((
    "number differs", "date differs", "negation differs", "direction differs", "hedge lost",
    "speaker lost", "generalised",
))  # fmt: skip
"""The differences that refuse by proof only in a claim worded like its quote."""
_IN_ANY_WORDS = frozenset((
    "roles differ", "name differs", "pairs mixed up", "measured otherwise",
))  # fmt: skip
"""The differences that refuse in any words: of 21 claims of `bench/claims` that other words set
apart from their quotes, 20 were unfaithful.
"""

Outcome = Literal["carried", "refused", "undecided"]
RefusesBy = Literal["suspicion", "proof", "likeness"]
"""When a difference refuses: always, if it is proven, or if besides the claim is worded like its
quote. The former two are those of earlier forms of research.
"""


@dataclass(frozen=True)
class ClaimCheck:
    """The outcome of comparing a claim with its quotes, by code alone.

    `carried`: code vouches that the quotes say it. `refused`: code found a difference, and no
    other opinion counts. `undecided`: code can't know. `reasons` are the differences that it found
    or suspects. `is_near` marks an undecided claim that nearly has the words of its quote.
    """

    outcome: Outcome
    reasons: tuple[str, ...] = ()
    is_near: bool = False


@lru_cache(maxsize=2048)
def check_claim(claim: str, quote: str, context: str, *, by: RefusesBy = "likeness") -> ClaimCheck:
    """Compare a claim with its quote.

    `context` (title and section of the page, and the question) may lend names, since a claim names
    what its quote calls "it"; numbers must be in the quote itself. Drafts, their verification and
    the report ask for the same claims.
    """
    if is_verbatim(claim, quote):
        return ClaimCheck("carried")
    found = _differences(claim, quote, context)
    drops = by != "suspicion" and drops_exclusion(claim, quote)
    if not found and not drops and is_vouched(claim, quote, context):
        return ClaimCheck("carried")
    proven = found if by == "suspicion" else proven_differences(found, claim, quote, context)
    share = share_in_order(claim, quote)
    if by == "likeness":
        is_alike = share >= (SHORT_ALIKE_SHARE if _is_short(claim) else ALIKE_SHARE)
        refuses = bool(proven) and (is_alike or not _IN_ANY_WORDS.isdisjoint(proven))
    else:
        told_by_wording = _TOLD_BY_WORDING.issuperset(proven)
        refuses = bool(proven) and (not told_by_wording or share >= SHORT_ALIKE_SHARE)
    if refuses:
        return ClaimCheck("refused", found)
    return ClaimCheck("undecided", found, is_near=share >= NEAR_SHARE)


def _differences(claim: str, quote: str, context: str) -> tuple[str, ...]:
    """Return the differences between a claim and its quote in plain words."""
    dates = foreign_dates(claim, quote, context)
    found = {
        "number differs": bool(foreign_amounts(claim, quote, context))
        or counts_another_thing(claim, quote)
        or any(not is_known_year(date, quote) for date in dates),
        "date differs": any(month is not None for _, month, _ in dates) or moves_date(claim, quote),
        "name differs": is_misnamed(claim, quote, context),
    }
    for pair in match_clauses(claim, quote):
        found.update(dict.fromkeys(wording_differences(pair, claim, quote), True))
    found |= {
        "roles differ": found.get("roles differ", False) or has_exchanged_words(claim, quote),
        "pairs mixed up": mixes_pairs(claim, quote),
        "measured otherwise": measures_another_way(claim, quote),
        "another thing": has_taken_place(claim, quote, context) or has_replaced_name(claim, quote),
    }
    return tuple(reason for reason, applies in found.items() if applies)


def _is_short(claim: str) -> bool:
    return sum(token.is_content for token in tokens_of(claim)) <= SHORT_WORDS


def is_contrary(one: str, other: str) -> bool:
    """Return whether two claims differ in words that exclude each other, or in their roles."""
    return is_opposite(one, other) or is_swapped(one, other)


def share_supported(claim: str, quote: str, context: str) -> float:
    """Return the share (0-1) of the claim's words that are in its quote; those that only the
    context has are not counted.
    """
    words, quoted = term_set(claim), term_set(quote)
    own = words - (term_set(context) - quoted)
    return len(own & quoted) / len(own) if own else 0.0
