"""What belongs together in a quote that lists several: the date of each event, the sum of each
name. A claim that takes one from the first and one from the second mixes them up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from research.engine.evidence.claims.alignment import Token, matched_to, tokens_of
from research.engine.evidence.claims.clauses import clauses_of, sentences_of
from research.engine.text import entities
from research.engine.text.amounts import Amount, find_amounts, same_amount

_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?:in all|in total|total|altogether|all told|combined|overall|in sum|together)\b",
    re.IGNORECASE,
)
_EACH = re.compile(r"\b(?:each|apiece|per|every|average|mean)\b", re.IGNORECASE)
_A_PERIOD = re.compile(r"\ba (?:year|month|week|day|hour)\b", re.IGNORECASE)
_BY_A_SHARE = re.compile(  # "grew by 38 percent", "71% more"
    r"\bby (?:about |some |around )?[\d.,]{1,15} ?(?:%|per ?cent)"
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
