"""Which independent sources give an answer, as far as code alone can tell."""

from __future__ import annotations

import re
from collections.abc import Hashable

from research.engine import features
from research.engine.extractive.answering import direct
from research.engine.extractive.coverage import page_terms
from research.engine.extractive.question import Asked, read_question
from research.engine.extractive.signs import people
from research.engine.extractive.wanted import counted
from research.engine.figures import Figure, figures, unit_of
from research.engine.languages import ENGLISH, language_of
from research.engine.ledger import Ledger
from research.engine.quotes import plain
from research.engine.records import Aspect, Evidence, Standing
from research.engine.text import term_set, tokens

LOOKED_AT = 40
"""So many of the best passages of a sub-question; what is counted stays true without the rest."""

NAMED = frozenset({"where", "which"})
LENGTHS = frozenset({"mm", "cm", "m", "km", "mi", "ft", "in", "yd"})
TIMES = frozenset({"ms", "s", "min", "h", "day", "week", "month", "year", "decade", "century"})
MONEY = frozenset("$€£")
MEASURED = {
    "tall": LENGTHS,
    "high": LENGTHS,
    "deep": LENGTHS,
    "far": LENGTHS,
    "long": LENGTHS | TIMES,
    "old": TIMES,
    "heavy": frozenset({"g", "kg", "t"}),
}
_MEASURE = re.compile(rf"\bhow ({'|'.join(MEASURED)})\b", re.IGNORECASE)
_PRICE = re.compile(r"\b(?:costs?|prices?)\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")

Given = frozenset[Hashable]


def standings(ledger: Ledger) -> dict[str, Standing]:
    """That of each sub-question, by its id."""
    return {aspect.id: standing(ledger, aspect) for aspect in ledger.aspects.values()}


def standing(ledger: Ledger, aspect: Aspect) -> Standing:
    """Who gives the answer of the best passage that holds one; nobody where none does.

    One date, number or name answers many a question: a source that gives another one on the same
    subject gives another answer, or none.
    """
    asked = read_question(aspect.text)
    close = direct(ledger.supporting(aspect.id)[:LOOKED_AT], asked)
    found = [record for record in close if _is_named(ledger, record, asked)]
    given = {record.id: _given(record, asked) for record in found}
    best = next(filter(None, given.values()), frozenset())
    others = frozenset().union(*(r.keys for r in found if _differ(given[r.id], best, asked)))
    if best:
        found = [record for record in found if given[record.id] & best]
    elif asked.kind == "how_many":
        found = []
    keys = frozenset().union(*(record.keys for record in found))
    return Standing(tuple(sorted(keys)), bool(best), tuple(sorted(others - keys)))


def _differ(one: Given, other: Given, asked: Asked) -> bool:
    """Whether both give years, or amounts of one measure, and none that is the same."""
    if asked.kind == "when":
        one, other = (frozenset(y for y in each if isinstance(y, int)) for each in (one, other))
        return bool(one and other) and not one & other
    if asked.kind != "how_many" or one & other:
        return False
    return bool(_measured(one) & _measured(other))


def _measured(given: Given) -> frozenset[object]:
    return frozenset(each[1] for each in given if isinstance(each, tuple))


def _is_named(ledger: Ledger, record: Evidence, asked: Asked) -> bool:
    """Whether the passage's page calls one of the question's names, if it has any."""
    held = page_terms(ledger.pages[record.sources[0].url])
    return not asked.names or any(term_set(name) <= held for name in asked.names)


def _given(record: Evidence, asked: Asked) -> Given:
    """What of a passage may be the date, number or name that was asked for."""
    text = plain(record.sources[0].quote)
    if asked.kind == "when":
        dated, known = figures(text), figures(asked.text)
        return dated.years - known.years or dated.dates - known.dates
    if asked.kind == "how_many":
        return _amounts(text, asked.text)
    if asked.kind == "who":
        return term_set(" ".join(people(text))) - frozenset(asked.terms)
    if asked.kind in NAMED:
        named = term_set(" ".join(features.names(text))) - frozenset(asked.terms)
        return named.union(_DIGITS.findall(text)).difference(_DIGITS.findall(asked.text))
    return frozenset()


def _amounts(text: str, asked: str) -> Given:
    """The amounts of what is counted, or in a unit that measures what is asked for; which things
    those are is read off English alone."""
    is_english = language_of(asked) == ENGLISH
    things, units = counted(asked), frozenset(map(unit_of, tokens(asked))) - {""}
    if match := _MEASURE.search(asked):
        units |= MEASURED[match[1].lower()]
    if _PRICE.search(asked) and not (things or units):
        units = MONEY

    def fits(amount: Figure) -> bool:
        if amount.unit:
            return amount.unit in units or not (units or things)
        return not amount.noun or amount.noun in things or not is_english

    return frozenset((each.value, each.measures) for each in figures(text).amounts if fits(each))
