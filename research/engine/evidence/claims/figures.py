"""Figures and dates of a claim against those of its quote: which of them the quote doesn't give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from research.engine.text.amounts import Amount, find_amounts, find_single_units, same_amount
from research.engine.text.dates import Date, FoundDate, find_dates, is_within
from research.engine.text.entities import MONTH
from research.engine.text.tokens import in_lower_case
from research.engine.text.units import NO_UNIT, find_unit, unit_at

_PERIOD = re.compile(  # "annual", "twice weekly", "each day"
    r"\b(?:(?:annual|year|month|week|dai|hour)(?:ly)?|(?:a|an|per|each|every)\s(?:year|month|week"
    r"|day|hour))\b",
    re.IGNORECASE,
)
_PART_OF_YEAR = re.compile(  # which months it has, code can't know
    r"\b(?:half|quarter|semester)\s(?:of\s)?(?:the\syear|(?:1|2)\d{3})\b"
    r"|\b(?:spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
_NUMBERED_NAME = re.compile(  # "Nimbus 2", "FIPS-204"
    rf"\b(?!{MONTH}\b)[A-Z][\w-]{{0,30}}[ -]\d[\w.]{{0,12}}\b(?![.,\s]?\d)"
)
_FIRST_WORD = re.compile(r"([^\W\d_]+)\s")
_LAST_WORD = re.compile(r"\b([^\W\d_]{1,20})\s(?:the\s|early\s|late\s)?$", re.IGNORECASE)
_LIMITS = {
    "before": "before", "until": "before", "till": "before", "after": "after", "since": "after",
    "on": "at", "in": "at", "during": "at",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]{3,}")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
             "tenth", "eleventh", "twelfth")  # fmt: skip
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th))\b", re.IGNORECASE)


def foreign_amounts(claim: str, quote: str, context: str) -> list[Amount]:
    """Return the amounts of the claim that its quote doesn't give.

    A number within a name may come from the context; one and once count nothing.
    """
    said = find_amounts(_without_known_names(claim, f"{quote} {context}"))
    known = (*find_amounts(quote), *find_single_units(quote), *_ordinals(quote))
    years = {found.date[0] for found in find_dates(quote)}
    missing = [
        each
        for each in said
        if not _is_idle(claim, each)
        and not (not each.dimension and each.value in years)
        and not any(_given(each, other, known, quote) for other in known)
    ]
    return [
        each
        for each in missing
        if not _is_part_of_a_share(each, said, missing)
        and not _is_share_of_parts(each, said, missing)
        and not (each.kind == "multiple" and not any(_compares(other) for other in known))
        and not any(_is_reciprocal(each, other) for other in known)
    ]


def counts_another_thing(claim: str, quote: str) -> bool:
    """Return whether the claim counts by a number what the quote counts by another one."""
    known = find_amounts(quote)
    things = [each for each in known if quote[each.start : each.end].endswith("s")]
    return any(_miscounted(amount, things) for amount in find_amounts(claim))


def foreign_dates(claim: str, quote: str, context: str) -> list[Date]:
    """Return the dates of the claim that its quote doesn't give.

    The context may give the year of a day that the quote names without one.
    """
    known = [found.date for found in find_dates(quote)]
    if _PART_OF_YEAR.search(quote):
        return [each.date for each in find_dates(claim) if not is_known_year(each.date, quote)]
    years = {found.date[0] for found in find_dates(context)}
    numbers = {amount.value for amount in find_amounts(quote)}
    return [
        found.date
        for found in find_dates(claim)
        if not any(_is_given(found.date, other, years) for other in known)
        and not (found.date[1] is None and found.date[0] in numbers)
    ]


def is_known_year(date: Date, quote: str) -> bool:
    """Return whether the year of a date, if it has one, is one of the quote's."""
    return date[0] is None or date[0] in {found.date[0] for found in find_dates(quote)}


def moves_date(claim: str, quote: str) -> bool:
    """Return whether what the quote says of the time before or after a date is said of another."""
    return any(
        _limits(claim, said) not in limits
        for said in find_dates(claim)
        if (
            limits := {_limits(quote, o) for o in find_dates(quote) if is_within(said.date, o.date)}
        )
        and limits <= {"before", "after"}
        and _limits(claim, said)
    )


def _limits(text: str, found: FoundDate) -> str:
    """Return whether the word before a date, or at its beginning, puts it before, after or at the
    date.
    """
    here = _FIRST_WORD.match(text, found.start)
    before = _LAST_WORD.search(text, max(0, found.start - 20), found.start)
    words = [match[1].lower() for match in (here, before) if match]
    return next((_LIMITS[word] for word in words if word in _LIMITS), "")


def _is_given(date: Date, known: Date, years: Iterable[int | None]) -> bool:
    if is_within(date, known):
        return True
    completed = known[0] is None and known[1] is not None and date[0] in years
    return completed and is_within((None, date[1], date[2]), known)


def _without_known_names(claim: str, known: str) -> str:
    """Return the claim without the names with numbers that are known, such as "Nimbus 2"."""
    for match in _NUMBERED_NAME.finditer(claim):
        named = re.search(rf"{re.escape(match[0])}(?![.,\s]?\d)", known)
        if named and not unit_at(claim, match.end()):
            claim = f"{claim[: match.start()]}{' ' * len(match[0])}{claim[match.end() :]}"
    return claim


def _is_idle(claim: str, amount: Amount) -> bool:
    """Return whether it is no figure: "one of them", "once"."""
    if any(map(str.isdigit, claim[amount.start : amount.end])):
        return False
    return amount.value == 1 or claim[: amount.start].lower().endswith(("the ", "these "))


def _is_part_of_a_share(amount: Amount, said: Sequence[Amount], missing: Sequence[Amount]) -> bool:
    """Return whether it is the 10 of a "1 in 10" that the quote expresses as a share."""
    return any(
        other.kind == "share"
        and other not in missing
        and other.start <= amount.start
        and amount.start < other.end
        for other in said
    )


def _is_share_of_parts(amount: Amount, said: Sequence[Amount], missing: Sequence[Amount]) -> bool:
    """Return whether it is a share whose two numbers the quote gives apart."""
    inside = [o for o in said if o.kind == "number" and amount.start <= o.start < amount.end]
    return amount.kind == "share" and not any(other in missing for other in inside)


def _is_reciprocal(said: Amount, known: Amount) -> bool:
    """Return whether one is "twice" and the other "half": each may say it, from the
    other's side.
    """
    return _compares(said) and _compares(known) and said.value * known.value == 1


def _compares(amount: Amount) -> bool:
    return amount.kind in {"multiple", "fraction"} or amount.dimension.startswith("times")


def _ordinals(quote: str) -> Iterator[Amount]:
    """Yield the numbers of "third" and "4th", which a claim may write as "year three"."""
    for match in _ORDINAL.finditer(quote):
        word = in_lower_case(match[0])
        value = _ORDINALS.index(word) + 1 if word in _ORDINALS else int(word[:-2])
        yield Amount(Fraction(value), NO_UNIT, "", Fraction(0), match.start(), match.end())


def _given(said: Amount, known: Amount, every: Sequence[Amount], quote: str) -> bool:
    if said.dimension and not known.dimension and _is_of_unit_named(said, known, quote):
        return True
    if _is_rate_of_unit_named(said, known, quote):
        return True
    if same_amount(said, known):
        return not (said.dimension and not known.dimension) or _may_have_unit(said, known, every)
    if not said.dimension or not known.dimension or said.value != known.value:
        return False
    return _rate_is_implied(said, known, quote)


def _is_of_unit_named(said: Amount, known: Amount, quote: str) -> bool:
    """Return whether the quote names the unit elsewhere: "every N seconds (default: 1800)"."""
    named = (find_unit(word) for word in _WORD.findall(quote))
    return any(
        unit.dimension == said.dimension and same_amount(said, replace(known, unit=unit))
        for unit in named
        if unit
    )


def _is_rate_of_unit_named(said: Amount, known: Amount, quote: str) -> bool:
    """Return whether it is a number of things in a unit that the quote names apart: "145 talers a
    day" of "for a day in court jurors are paid 145 talers", "three pennies a litre" of "each litre
    bears three pennies".
    """
    is_rate = said.dimension.startswith("/") and not known.dimension and said.value == known.value
    one = said.unit.name.removeprefix("/")
    named = (find_unit(word) for word in _WORD.findall(quote))
    return is_rate and said.noun == known.noun and any(u and u.name == one for u in named)


def _may_have_unit(said: Amount, known: Amount, every: Sequence[Amount]) -> bool:
    """Return whether a number without a unit may have one from its neighbours, as in "14 minutes
    down and 17 up".
    """
    return any(other.dimension == said.dimension for other in every if other is not known)


def _rate_is_implied(said: Amount, known: Amount, quote: str) -> bool:
    """Return whether one names the period and the other has it in another word: "annual",
    "a year".
    """
    one, other = said.dimension, known.dimension
    if one.startswith(f"{other}/"):
        return bool(_PERIOD.search(quote))
    return other.startswith(f"{one}/")


def _miscounted(amount: Amount, known: Sequence[Amount]) -> bool:
    if amount.dimension or not amount.noun:
        return False
    nouns = {other.noun for other in known if other.value == amount.value} - {""}
    others = {other.noun for other in known if other.value != amount.value}
    return bool(nouns and amount.noun not in nouns and amount.noun in others)
