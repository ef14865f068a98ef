"""Calculations, and the figures of quotes that they start from, chosen by code."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction

from research.engine.text.amounts import Amount, find_amounts
from research.engine.text.dates import FoundDate, find_dates
from research.engine.text.tokens import term_set
from research.errors import PlumblineError

_ON = re.compile(
    r"^(?:on|in|since|until|by|from|before|after|the|of|during|,|\()\s?", re.IGNORECASE
)
_NUMBERED = re.compile(r"(?<=[\w,;:] )([A-Z][\w+-]*\s\(?)\d+(?:\.\d+)*(?!\w|[.,]\d|\s?[%€$])")
"""A number behind a name that doesn't begin a sentence."""
_SIZE = re.compile(r"(?<=\d)[x×](?=\d)")
_MODEL = re.compile(r"\b[A-Z](\d{2,4})\b")
"""A letter that names a size or kind by its number: "C90"."""
_REST = re.compile(r"\w*")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_OF = re.compile(r"\sof\s(?:the\s|its\s)?$", re.IGNORECASE)

CONVERSIONS = frozenset(
    (1, Fraction("365.25"), 7, 12, 24, 30, 52, 60, 100, 365, 1000, 1024, 3600, 86400, 10**6, 10**9)
)
"""Numbers that no text has to give: the whole, and what converts units."""
FACTORS = frozenset((1000, 3600, 86400, 10**6, 10**9))
"""Those of them that convert units even where a text has them."""
BITS_PER_BYTE, PAIR, MINUTES = 8, 2, 60
_OF_HOURS = re.compile(r"3,?600|[+-]|^[^*/]*$")
"""Terms in which 60 may be a number of hours: seconds are made of them, or they are summed."""
_BITS = re.compile(r"\b[kKMGT]?i?(?:bits?|bps)\b")
_PAIRS = re.compile(r"\b(?:stereo|both|twice|pairs?|double|beide[nrs]?|doppelt)\b", re.IGNORECASE)

TO_A_FRACTION = Fraction(1, 100)
"""How far "a third" may be from the exact share."""

ASKED = "Q"
"""The id of the question, as that of a record, where one of its amounts is an operand."""
REACH = 40
"""Characters around a figure whose words tell what it is a figure of."""
_SIGNS = {"difference": "−", "sum": "+", "ratio": "÷", "share_of": "×"}


class NotComputedError(PlumblineError, ValueError):
    """A statement that its quotes' figures don't make; the message is for the drafting model."""


@dataclass(frozen=True)
class Operand:
    """A figure or date as the quote writes it."""

    evidence: str
    text: str
    amount: Amount | None = None
    date: FoundDate | None = None

    @property
    def value(self) -> Fraction:
        """Return the amount in the base unit of its dimension."""
        return self.amount.base if self.amount else Fraction(0)


@dataclass(frozen=True)
class Calculation:
    """The arithmetic of a statement: its operands, as the quotes write them, and its result; of a
    formula also its `terms`, with the sources of its numbers.
    """

    operation: str
    operands: tuple[Operand, ...]
    result: str
    terms: str = ""
    marks_asked: bool = False

    @property
    def formula(self) -> str:
        """Return the calculation as one line: "18,600 (E2) − 12,400 (E1) = 6,200"."""
        if self.terms:
            return f"{self.terms} = {self.result}"
        sign = _SIGNS.get(self.operation)
        written = [
            operand.text
            if operand.evidence == ASKED and not self.marks_asked
            else f"{operand.text} ({operand.evidence})"
            for operand in self.operands
        ]
        if sign:
            return f"{f' {sign} '.join(written)} = {self.result}"
        return f"{self.operation.replace('_', ' ')}: {', '.join(written)} → {self.result}"


def choose_amounts(statement: str, quotes: Sequence[tuple[str, str]]) -> list[Operand] | None:
    """Return one figure of each quote, all of one measure; None where more than one choice is
    possible or none.

    A quote with several is told by the nouns that the statement counts.
    """
    every = [_counts(quote) for _, quote in quotes]
    shared = set.intersection(*({a.dimension for a in amounts} for amounts in every))
    terms = term_set(statement)
    chosen: list[list[Amount]] = []
    for dimension in sorted(shared):
        row = [_of_measure(amounts, dimension, terms) for amounts in every]
        if all(row_amount is not None for row_amount in row):
            chosen.append([amount for amount in row if amount is not None])
    named = [row for row in chosen if any(amount.noun in terms for amount in row)]
    said = {amount.dimension for amount in find_amounts(statement)} - {""}
    measured = [row for row in chosen if row[0].dimension in said]
    rows = chosen if len(chosen) == 1 else named or measured
    if len(rows) != 1:
        return None
    return [
        Operand(record, quote[amount.start : amount.end].strip(), amount)
        for (record, quote), amount in zip(quotes, rows[0], strict=True)
    ]


def choose_named(statement: str, record: str, quote: str, *, is_share: bool) -> Operand:
    """Return the share, or the amount that is none, of a quote that a statement gives as well.
    Raises `NotComputedError` where it gives none or several of them.
    """
    said = {(amount.dimension, amount.base) for amount in find_amounts(statement)}
    found = [a for a in find_amounts(quote) if (a.dimension == "ratio") is is_share]
    chosen = [*{a.base: a for a in found if (a.dimension, a.base) in said}.values()]
    if len(chosen) != 1:
        raise NotComputedError("the share and the amount that it is of aren't clear")
    return Operand(record, quote[chosen[0].start : chosen[0].end].strip(), chosen[0])


def choose_dates(quotes: Sequence[tuple[str, str]]) -> list[Operand] | None:
    """Return the only date of each quote; None if any quote has none or several."""
    found = []
    for record, quote in quotes:
        dates = find_dates(quote)
        if len(dates) != 1 or dates[0].date[0] is None:
            return None
        text = _ON.sub("", quote[dates[0].start : dates[0].end].strip(), count=1)
        found.append(Operand(record, text, date=dates[0]))
    return found


def _counts(quote: str) -> list[Amount]:
    """Return the amounts of a quote; of "12 of 4,000 people" the 12."""
    amounts = [a for a in find_amounts(quote) if a.dimension != "clock" and a.kind != "share"]
    found: list[Amount] = []
    skipped = -1
    for at, amount in enumerate(amounts):
        following = amounts[at + 1] if at + 1 < len(amounts) else None
        if at == skipped:
            continue
        if following and _OF.fullmatch(quote[amount.end : following.start]):
            amount, skipped = replace(amount, noun=following.noun), at + 1
        found.append(amount)
    telling = [amount for amount in found if amount.dimension or amount.noun]
    return telling or found


def _of_measure(amounts: Sequence[Amount], dimension: str, terms: frozenset[str]) -> Amount | None:
    """Return the one amount of a dimension; of several the one that counts what the statement
    names.
    """
    fitting = [amount for amount in amounts if amount.dimension == dimension]
    if len(fitting) > 1:
        fitting = [amount for amount in fitting if amount.noun and amount.noun in terms]
    return fitting[0] if len(fitting) == 1 else None


def plain_value(amount: Amount) -> Fraction:
    return amount.base if amount.dimension == "ratio" else amount.value


def is_askers(
    values: Container[Fraction], sources: Sequence[tuple[str, str]], sentence: str
) -> bool:
    """Return whether the question gives one of these values for what a quote gives it for: with the
    same noun or, of the same measure, among at least as many words of the sentence.
    """
    found = {record: _given_as(text, values) for record, text in sources}
    own, quoted = found.pop(ASKED, None), [each for each in found.values() if each]
    if own is None or not quoted:
        return own is not None
    (amount, words), said = own, term_set(sentence)
    return all(
        amount.dimension == other.dimension
        and (amount.noun == other.noun != "" or len(words & said) >= len(around & said))
        for other, around in quoted
    )


def as_given(text: str, values: Container[Fraction], written: str, said: str) -> str:
    """Return how a text writes an amount of one of these values, with what it counts; `written` if
    it gives none, or the sentence gives the value for something else ("ten minutes", asked about
    "ten years").
    """
    found = _given_as(text, values)
    units = {each.unit.name for each in find_amounts(said) if plain_value(each) in values}
    if not found or (units and found[0].unit.name not in units):
        return written
    rest = _REST.match(text, found[0].end)
    return text[found[0].start : rest.end() if rest else found[0].end].strip()


def converts_units(value: Fraction, sources: Sequence[tuple[str, str]]) -> bool:
    """Return whether a number converts units, or counts what the texts call a pair, and so need not
    stand in any of them.
    """
    has_bits = any(_BITS.search(text) for _, text in sources)
    has_pairs = any(_PAIRS.search(text) for _, text in sources)
    return (
        value in CONVERSIONS
        or (value == BITS_PER_BYTE and has_bits)
        or (value == PAIR and has_pairs)
    )


def is_factor(value: Fraction, sources: Sequence[tuple[str, str]]) -> bool:
    """Return whether a number of a formula is one that hardly ever counts anything."""
    has_bits = any(_BITS.search(text) for _, text in sources)
    return value in FACTORS or (value == BITS_PER_BYTE and has_bits)


def only_converts(
    values: Set[Fraction], sources: Sequence[tuple[str, str]], said: str, terms: str
) -> bool:
    """Return whether a number of one of these values in a formula's terms converts units and is
    nothing else in what was asked: it is part of a name there, or counts what the sentence doesn't
    speak of ("60 tapes"). Who asks about 60 hours needs 3600 to make seconds of them.
    """
    if values.isdisjoint(CONVERSIONS | {PAIR}):
        return False
    found = _given_as(without_numbered_names(dict(sources).get(ASKED, "")), values)
    if found and PAIR in values and found[0].dimension:  # "2 TB" counts no channels
        return any(_PAIRS.search(text) for _, text in sources)
    if found is None or (MINUTES in values and found[0].dimension == "time"):
        return found is None or not _OF_HOURS.search(terms)
    return not found[0].dimension and found[0].noun not in term_set(said)


def with_sizes_apart(text: str) -> str:
    """Return a text whose sizes have their numbers apart, "720 × 576" for "720x576", and behind it
    those that name a size, such as that of a "C90".
    """
    return " ; ".join((_SIZE.sub(" × ", text), *_MODEL.findall(text)))


def without_numbers(text: str) -> str:
    return _DIGITS.sub("", text)


def without_numbered_names(text: str) -> str:
    """Return a text without the numbers that are parts of names within sentences ("Debian 12")."""
    return _NUMBERED.sub(r"\1", text)


def _given_as(text: str, values: Container[Fraction]) -> tuple[Amount, frozenset[str]] | None:
    """Return the first amount of a text that has one of these values, of several one that says of
    what, and the words around it.
    """
    found = [a for a in find_amounts(text) if plain_value(a) in values or a.base in values]
    if not found:
        return None
    chosen = next((each for each in found if each.dimension or each.noun), found[0])
    return chosen, term_set(text[max(0, chosen.start - REACH) : chosen.end + REACH])


def is_rounded(value: Fraction, said: Amount, exact: Fraction) -> bool:
    """Return whether a value is the exact one to the digits given; behind "about", to the last
    digit that is none of the zeros at its end.
    """
    if not said.step:
        return abs(value - exact) <= abs(exact) * TO_A_FRACTION
    step = said.base_step
    if said.is_about:
        while said.value % (step / said.unit.factor * 10) == 0 and said.value:
            step *= 10
    return abs(value - exact) * 2 <= step
