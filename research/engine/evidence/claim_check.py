"""Check whether a quote supports a claim: code vouches for it, refuses it, or leaves it undecided.

Rules F1 and C11 of `docs/requirements.md`. Figures, dates and names of the claim have to be the
quote's; each clause is compared with the part of the quote that shares most of its words
(`claims/`). What keeps the quote's words in their order is vouched for. What is worded freely, or
differs in a way that may follow from the quote, is left undecided.

In a quote that lists several things, the date of each event and the sum of each name belong
together: a claim that takes one from the first and one from the second mixes them up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import Literal

from research.engine.evidence.claims.alignment import Token, matched_to, tokens_of
from research.engine.evidence.claims.clauses import clauses_of, match_clauses, sentences_of
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
from research.engine.evidence.claims.proof import proven_differences
from research.engine.evidence.claims.vouching import drops_exclusion, is_verbatim, is_vouched
from research.engine.evidence.claims.wording import is_opposite, is_swapped, wording_differences
from research.engine.text import entities
from research.engine.text.amounts import Amount, find_amounts, same_amount
from research.engine.text.tokens import term_set

SUPPORTED_SHARE = 0.25
"""The least share of a claim's words that its quote has. Of 369 faithful claims in other words (the
parts of `bench/claims` from the fifth on) 3 % have less, and 13 % less than .4.
"""
ALIKE_SHARE = 0.55
"""Share of a claim's words that keep the quote's order, from which on it is worded like it, so that
a proven difference refuses it. In other words the difference may only seem to be there: "a quarter
of them" for "35 of 140". Of .5, .55, .6, .65 and .7 the lowest at which no part of `bench/claims`
loses more than .08 of its faithful claims.
"""
SHORT_ALIKE_SHARE = 0.5
"""The share for a claim of at most `SHORT_WORDS`, and for every claim that only proof refuses."""
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

_LEFT_TO_VERIFIER = frozenset((
    "roles differ", "another thing", "generalised", "hedge lost", "speaker lost",
))  # fmt: skip
"""The differences on which a verifier that missed hardly anything is believed: they are read off
wording, and in the drafts of a careful writer 9 of 9 claims that they refused were true. Numbers,
dates, names, negations and directions are code's own.
"""
_OF_THINGS = frozenset((
    "number differs", "date differs", "name differs", "pairs mixed up", "measured otherwise",
))  # fmt: skip
"""The differences that code decides on even where the verifier misses little: those of figures,
dates and names.
"""

_DIFFERENT_DATE = frozenset(("number differs", "date differs"))

Outcome = Literal["carried", "refused", "undecided"]
RefusesBy = Literal["suspicion", "proof", "likeness", "floor", "things"]
"""When a difference refuses: always, if it is proven, if besides the claim is worded like its
quote, or if it is besides none that is left to the verifier: in runs before `Form.COMPUTED` some,
since then all but figures, dates and names. The first is for canaries and runs without a model,
the second for measurements.
"""


@dataclass(frozen=True)
class ClaimCheck:
    """Outcome of the comparison of a claim with its quotes by code.

    `carried`: code vouches that the quotes say it. `refused`: code found a difference, and no
    other opinion counts. `undecided`: code can't know. `reasons` are the differences that it found
    or suspects. `is_near` marks an undecided claim that nearly has the words of its quote,
    `is_left` one that code would refuse if the verifier were less good.
    """

    outcome: Outcome
    reasons: tuple[str, ...] = ()
    is_near: bool = False
    is_left: bool = False


@lru_cache(maxsize=2048)
def check_claim(
    claim: str, quote: str, context: str, *, by: RefusesBy = "likeness", dated: str = ""
) -> ClaimCheck:
    """Compare a claim with its quote.

    `context` (title and section of the page, and the question) may lend names, since a claim names
    what its quote calls "it"; numbers must be in the quote itself. `dated`, the day on
    which the page was published, may lend a date, though code does not vouch for what it dates.
    Drafts, their verification and the report ask for the same claims.
    """
    check = _compare(claim, quote, context, by)
    if check.outcome != "refused" or not dated or not _DIFFERENT_DATE & set(check.reasons):
        return check
    check = _compare(claim, f"{quote} ({dated})", f"{context} ({dated})", by)
    return replace(check, outcome="undecided") if check.outcome == "carried" else check


def _compare(claim: str, quote: str, context: str, by: RefusesBy) -> ClaimCheck:
    if is_verbatim(claim, quote):
        return ClaimCheck("carried")
    found = _differences(claim, quote, context)
    drops = by != "suspicion" and drops_exclusion(claim, quote)
    if not found and not drops and is_vouched(claim, quote, context):
        return ClaimCheck("carried")
    proven = found if by == "suspicion" else proven_differences(found, claim, quote, context)
    share = share_in_order(claim, quote)
    if by in ("likeness", "floor", "things"):
        is_alike = share >= (SHORT_ALIKE_SHARE if _is_short(claim) else ALIKE_SHARE)
        refuses = bool(proven) and (is_alike or not _IN_ANY_WORDS.isdisjoint(proven))
    else:
        told_by_wording = _TOLD_BY_WORDING.issuperset(proven)
        refuses = bool(proven) and (not told_by_wording or share >= SHORT_ALIKE_SHARE)
    is_left = refuses and (
        (by == "floor" and _LEFT_TO_VERIFIER.issuperset(proven))
        or (by == "things" and _OF_THINGS.isdisjoint(proven))
    )
    if refuses and not is_left:
        return ClaimCheck("refused", found)
    return ClaimCheck("undecided", found, is_near=share >= NEAR_SHARE, is_left=is_left)


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


def is_supported(claim: str, quote: str, context: str) -> bool:
    """Return whether the quote contains enough of the claim's words to be its source."""
    return share_supported(claim, quote, context) >= SUPPORTED_SHARE


def share_supported(claim: str, quote: str, context: str) -> float:
    """Return the share (0-1) of the claim's words that are in its quote; those that only the
    context has are not counted.
    """
    words, quoted = term_set(claim), term_set(quote)
    own = words - (term_set(context) - quoted)
    return len(own & quoted) / len(own) if own else 0.0


_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?:in all|in total|total|altogether|all told|combined|overall|in sum|together)\b",
    re.IGNORECASE,
)
_EACH = re.compile(r"\b(?:each|apiece|per|every|average|mean)\b", re.IGNORECASE)
_A_PERIOD = re.compile(r"\ba (?:year|month|week|day|hour)\b", re.IGNORECASE)
_BY_A_SHARE = re.compile(  # "grew by 38 percent", "71% more"
    r"\bby (?:about |some |around )?[\d.,]{1,15} ?(?:%|per ?cent)(?! of\b)"
    r"|(?<![\d.,])[\d.,]{1,15} ?(?:%|per ?cent) (?:more|less|fewer|higher|lower|better|worse"
    r"|faster|slower|cheaper)",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?P<word>[^\W\d_]+)\s(?:(?:about|around|some|roughly|nearly|almost)\s)?$", re.IGNORECASE
)
_TO = frozenset(("to", "from", "at"))
_CHANGE = re.compile(
    r"\bby\b|\b(?:more|less|fewer|up|down|rose|ris\w+|fell|fall\w*|gr[eo]w\w*|increas\w*"
    r"|decreas\w*|declin\w*"
    r"|drop\w*|clim\w*|gain\w*|lost|los[es]\w*|cut|reduc\w*|higher|lower|faster|slower|cheaper"
    r"|better"
    r"|halv\w*|doubl\w*|shrank|shrink\w*|expan\w*|extra|sav\w*|jump\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Anchor:
    """A figure, a date or a name; `sort` is what it may be exchanged with."""

    sort: str
    key: str
    start: int


def mixes_pairs(claim: str, quote: str) -> bool:
    """Return whether the claim joins two things of which the quote joins each to another."""
    quoted = tokens_of(quote)
    for sentence in sentences_of(quote):
        anchors = _anchors(sentence, tokens_of(sentence))
        for one, other in permutations({anchor.sort for anchor in anchors}, 2):
            if {one, other} == {"name", "date"}:
                continue  # a name before a date is seldom what happened then
            pairs = _pairs(anchors, one, other, bool(_RESPECTIVELY.search(sentence)))
            if pairs and any(
                _is_mixed(
                    _anchors(clause, matched_to(tokens_of(clause), quoted)), one, other, pairs
                )
                for clause in clauses_of(claim)
            ):
                return True
    return False


def _anchors(text: str, tokens: Sequence[Token]) -> list[_Anchor]:
    names = [_Anchor("name", name, text.find(name)) for name in entities.find_names(text)]
    return sorted((*_measured(tokens), *names), key=lambda anchor: anchor.start)


def _measured(tokens: Sequence[Token]) -> Iterator[_Anchor]:
    for token in tokens:
        if isinstance(token.measure, Amount):
            sort = token.measure.dimension or token.measure.noun or "number"
            yield _Anchor("amount" if not token.measure.dimension else sort, token.key, token.start)
        elif token.kind == "date":
            yield _Anchor("date", token.key, token.start)


def _pairs(
    anchors: Sequence[_Anchor], one: str, other: str, is_respective: bool
) -> Mapping[str, str]:
    """Each anchor of one sort with its partner, where the two sorts take turns; else nothing."""
    row = [anchor for anchor in anchors if anchor.sort in {one, other}]
    half = len(row) // 2
    if len(row) < 4 or len(row) % 2 or len({anchor.key for anchor in row}) < len(row):
        return {}
    if is_respective:
        row = [anchor for couple in zip(row[:half], row[half:], strict=True) for anchor in couple]
    couples = list(zip(row[::2], row[1::2], strict=True))
    if any((first.sort, second.sort) != (one, other) for first, second in couples):
        return {}
    return {first.key: second.key for first, second in couples}


def _is_mixed(anchors: Sequence[_Anchor], one: str, other: str, pairs: Mapping[str, str]) -> bool:
    known = {*pairs, *pairs.values()}
    row = [anchor for anchor in anchors if anchor.sort in {one, other} and anchor.key in known]
    if len(row) < 2 or len(row) % 2:
        return False
    return any(
        {first.sort, second.sort} == {one, other}
        and pairs[first.key if first.sort == one else second.key]
        != (second.key if first.sort == one else first.key)
        for first, second in zip(row[::2], row[1::2], strict=True)
    )


def measures_another_way(claim: str, quote: str) -> bool:
    """Return whether a figure that is one of each, or of a year, becomes a total, a total one of
    each, or a share a change.
    """
    if not find_amounts(claim):
        return False
    is_total, was_total = bool(_TOTAL.search(claim)), bool(_TOTAL.search(quote))
    was_each = bool(_EACH.search(quote) or _A_PERIOD.search(quote))
    if is_total and not was_total and was_each:
        return True
    if was_total and not is_total and _EACH.search(claim) and not was_each:
        return True
    if _BY_A_SHARE.search(claim) and not _CHANGE.search(quote):
        return True
    return any(
        (_frame(claim, said) == "by" and _frame(quote, known) in _TO)
        or (_frame(claim, said) in _TO and _frame(quote, known) == "by")
        for said in find_amounts(claim)
        for known in find_amounts(quote)
        if same_amount(said, known)
    )


def _frame(text: str, amount: Amount) -> str:
    """Return the preposition before a figure, past "about" and the like."""
    before = _BEFORE.search(text, max(0, amount.start - 24), amount.start)
    return before["word"].lower() if before else ""
