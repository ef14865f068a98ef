"""Formulas: the arithmetic that a writer puts behind a figure, recomputed by code.

"80 million {= 20% * 400 million} rows": each number of a formula stands in a quote that the
sentence cites, in the question or in front of an earlier formula of the sentence, or converts
units. Code computes the result, whose figure has to be the same as rounded; whether the numbers
mean what the sentence says is for the verifier.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from research.engine.evidence.claims.operands import (
    ASKED,
    Calculation,
    NotComputedError,
    Operand,
    as_given,
    converts_units,
    is_askers,
    is_factor,
    is_rounded,
    only_converts,
    plain_value,
    with_sizes_apart,
    without_numbers,
)
from research.engine.text.amounts import APPROXIMATE, Amount, find_amounts
from research.engine.text.numerals import (
    find_numerals,
    from_continental,
    in_english,
    is_continental,
)
from research.engine.text.tokens import normalise_space
from research.engine.text.units import NO_UNIT

LONGEST = 200
FIGURE_REACH, FIGURE_ENDS = 60, 30
"""Characters before a formula in which its figure begins, and behind it that may name its unit."""
ROUNDED, BEYOND = Fraction(10, 100), Fraction(15, 100)
"""Shares by which a figure may be rounded (1.3 isn't 1) and a result be beyond its bound."""

_FORMULA = re.compile(rf"\s?\{{=(?P<terms>[^{{}}]{{1,{LONGEST}}})\}}")
_TOKEN = re.compile(  # of a number its unit, too: "64 MB/s"
    r"\s*(?:(?P<sign>[-−–+*×·/÷()])|(?P<number>[^-−–+*×·/÷()]+(?:/[^\W\d_]+(?!\w))?))"
)
_TIMES = re.compile(r"(?<=\s)x(?=\s)")
_SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"}
_SHOWN = {"*": "×", "/": "÷", "-": "−"}
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_ABOVE = re.compile(r"\b(?:more than|over|above|at least|mehr als|über|mindestens)\s$", re.I)
_BELOW = re.compile(
    r"\b(?:less than|fewer than|under|below|almost|nearly|not quite|at most|fast|knapp|unter"
    r"|weniger als|höchstens)\s$",
    re.IGNORECASE,
)
_EXACTLY = re.compile(r"\b(?:exactly|precisely|genau)\s$", re.IGNORECASE)
_BARE = re.compile(r"\d[\d.,]*")
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PURE = frozenset(("", "ratio", "times"))
_Measure = frozenset[tuple[str, int]] | None
_Reading = Callable[[str], str]
_Sources = Sequence[tuple[str, str]]
_READINGS = (in_english, from_continental)


@dataclass(frozen=True)
class Formula:
    """The terms of a formula, and the words around it: the figure that it makes ends those
    `before` it.
    """

    terms: str
    before: str
    after: str


def split_formulas(text: str) -> tuple[str, tuple[Formula, ...]]:
    """Return a text without its formulas, and these."""
    plain, found, start = "", list[tuple[str, int]](), 0
    for formula in _FORMULA.finditer(text):
        plain += text[start : formula.start()]
        found.append((normalise_space(formula["terms"]), len(plain)))
        start = formula.end()
    plain += text[start:]
    formulas = (
        Formula(terms, plain[max(0, at - 2 * FIGURE_REACH) : at], plain[at : at + FIGURE_ENDS])
        for terms, at in found
    )
    return plain, tuple(formulas)


def without_formulas(text: str) -> str:
    return _FORMULA.sub("", text)


def makes_figure_of(formula: Formula, text: str) -> bool:
    """Return whether a formula makes a figure that a text gives."""
    said = _figure_of(formula, in_english)
    return said is not None and any(
        (each.dimension, each.base) == (said.dimension, said.base)
        for each in find_amounts(in_english(text))
    )


def compute_formulas(
    formulas: Sequence[Formula],
    sources: _Sources,
    *,
    marks_asked: bool = False,
) -> tuple[Calculation, ...]:
    """Recompute the figures of a sentence from `sources`, pairs of a record's id, or `ASKED`, and
    its text. Raises `NotComputedError` where a result differs, and where a number is nobody's.

    Numbers may leave out the scale that their texts give ("300 / 40" of millions), all where one
    does. With `marks_asked` a figure that the question gives for the same is marked as its asker's.
    """
    sources = [(record, with_sizes_apart(text)) for record, text in sources]
    is_foreign = any(is_continental(f"{each.before} {each.terms}") for each in formulas)
    readings, failed = _READINGS if is_foreign else _READINGS[:1], None
    for read, is_scaled in product(readings, (False, True)):
        try:
            return _compute_all(formulas, sources, read, is_scaled, marks_asked)
        except NotComputedError as error:
            failed = failed or error
    raise failed or NotComputedError("it has no formula")


def has_foreign_figure(text: str, formulas: Sequence[Formula], sources: _Sources) -> bool:
    """Return whether a sentence has a figure that its formulas don't make and no source gives."""
    results = (_figure_of(each, read) for each in formulas for read in _READINGS)
    made = {value for each in results if each for value in (plain_value(each), each.base)}
    given = (read(text) for _, text in sources for read in _READINGS)
    known = made.union(*map(_values_in, given))
    return all(
        any(plain_value(a) not in known and a.base not in known for a in _figures_in(read(text)))
        for read in _READINGS
    )


def _figures_in(text: str) -> Iterator[Amount]:
    """Yield the amounts of a text that are more than "one", "once" and "the three"."""
    for amount in find_amounts(text):
        written = text[amount.start : amount.end]
        if amount.value > 1 or any(map(str.isdigit, written)) or amount.kind == "fraction":
            yield amount


def _values_in(text: str) -> set[Fraction]:
    amounts = find_amounts(text)
    written = {value for each in amounts for value in (plain_value(each), each.base, each.value)}
    return written | {each.value for each in find_numerals(text)}


def _compute_all(
    formulas: Sequence[Formula],
    sources: _Sources,
    read: _Reading,
    is_scaled: bool,
    marks_asked: bool,
) -> tuple[Calculation, ...]:
    given, calculations = [*sources], list[Calculation]()
    for formula in formulas:
        terms = [*_terms_of(formula, given, read, is_scaled, marks_asked)]
        calculations.append(_compute(formula, terms, read, marks_asked))
        given.append(("", calculations[-1].result))
    return tuple(calculations)


def _compute(
    formula: Formula, terms: Sequence[str | _Term], read: _Reading, marks_asked: bool
) -> Calculation:
    said = _figure_of(formula, read)
    if said is None:
        raise NotComputedError(f"no figure stands in front of {{= {formula.terms}}}")
    numbers = [term for term in terms if isinstance(term, _Term)]
    if len(numbers) < 2 or all(term.is_conversion for term in numbers):
        raise NotComputedError("a formula needs two numbers, one of its quotes or of the question")
    exact, before = _result(terms), read(formula.before)[: said.start]
    is_measured = exact.measure is not None and exact.measure == _measure_of(said.dimension)
    if not is_measured or not _is_same(said, exact.base, before):
        either = replace(said, unit=NO_UNIT), said
        if not any(_is_same(each, exact.value, before) for each in either):
            raise NotComputedError(f"{{= {formula.terms}}} makes another figure")
        if is_measured and exact.measure:
            raise NotComputedError(f"{{= {formula.terms}}} makes it in another unit")
    shown = tuple(Operand(term.source, term.text) for term in numbers)
    written = read(formula.before + formula.after)[said.start : said.end].strip()
    return Calculation("formula", shown, written, _written(terms, marks_asked))


def _figure_of(formula: Formula, read: _Reading) -> Amount | None:
    """Return the figure that ends the words before a formula."""
    end = len(read(formula.before))
    amounts = find_amounts(read(formula.before + formula.after))
    near = [each for each in amounts if end - FIGURE_REACH <= each.start < end]
    return near[-1] if near else None


def _is_same(said: Amount, exact: Fraction, before: str) -> bool:
    """Return whether a figure is the exact one as rounded, or bounds it closely."""
    if _EXACTLY.search(before):
        return said.base == exact
    beyond = exact - said.base
    if _ABOVE.search(before) and 0 < beyond <= BEYOND * said.base:
        return True
    if _BELOW.search(before) and 0 < -beyond <= BEYOND * said.base:
        return True
    if abs(beyond) > ROUNDED * abs(exact) and not said.is_about:
        return False
    is_close = said.is_about and not said.step and abs(beyond) <= APPROXIMATE * exact
    return is_close or is_rounded(said.base, said, exact)


# --- numbers of a formula -------------------------------------------------------------------


@dataclass(frozen=True)
class _Quantity:
    """A value as it is written, the same in base units, and what it measures: dimensions with
    their powers; None where that isn't known.
    """

    value: Fraction
    base: Fraction
    measure: _Measure = frozenset()


@dataclass(frozen=True)
class _Term:
    """A number of a formula and the id of the text that gives it."""

    text: str
    quantity: _Quantity
    source: str = ""
    is_conversion: bool = False


def _terms_of(
    formula: Formula,
    sources: _Sources,
    read: _Reading,
    is_scaled: bool,
    marks_asked: bool,
) -> Iterator[str | _Term]:
    """Yield the signs and the numbers of a formula, with the scale of their texts if wanted."""
    said = f"{formula.before} {formula.after}"
    for token in _TOKEN.finditer(_TIMES.sub("*", formula.terms)):
        if token["sign"]:
            yield _SIGNS.get(token["sign"], token["sign"])
        elif written := token["number"].strip():
            given, values = sources, _values_of(written, read)
            if marks_asked and is_askers(values, [(i, read(t)) for i, t in sources], said):
                given = sorted(sources, key=lambda each: each[0] != ASKED)
            if marks_asked and only_converts(values, sources, said, formula.terms):
                given = [(i, without_numbers(t) if i == ASKED else t) for i, t in given]
            scaled = _scaled_term(written, given, read) if is_scaled else None
            term = scaled or _term(written, given, read, marks_asked)
            if marks_asked and term.source == ASKED:
                term = replace(term, text=as_given(dict(sources)[ASKED], values, term.text, said))
            yield term


def _values_of(written: str, read: _Reading) -> set[Fraction]:
    """Return the values that a number of a formula may have, with the scale that it may lack."""
    value = _value_of(read(written)) or Fraction(0)
    return {value, *(value * scale for scale in _SCALES.values() if _BARE.fullmatch(written))}


def _scaled_term(written: str, sources: _Sources, read: _Reading) -> _Term | None:
    """Return a number of digits alone with the one scale of a text: "300" as "300 million"."""
    if not _BARE.fullmatch(written):
        return None
    value = _value_of(read(written)) or Fraction(0)
    for source, text in sources:
        english = read(text)
        given = {
            (each.value, scale)
            for each in find_amounts(english)
            for scale, times in _SCALES.items()
            if each.value == value * times
            and re.search(rf"{scale}\b", english[each.start : each.end], re.IGNORECASE)
        }
        if len(given) == 1:
            [(scaled, scale)] = given
            quantity = _quantity_in(english, scaled) or _Quantity(scaled, scaled, None)
            return _Term(f"{written} {scale}", quantity, source)
    return None


def _term(written: str, sources: _Sources, read: _Reading, knows_factors: bool) -> _Term:
    value = _value_of(read(written))
    if value is None:
        raise NotComputedError(f"{written!r} in its formula is no number")
    own = _quantity_in(read(written), value)
    for source, text in () if knows_factors and is_factor(value, sources) else sources:
        for given in dict.fromkeys((read(text), in_english(text), from_continental(text))):
            if quantity := _quantity_in(given, value):
                is_other = own and own.measure and own.measure != quantity.measure
                return _Term(written, own if own and is_other else quantity, source)
    if converts_units(value, sources):
        measured = own if own and own.measure else _Quantity(value, value, None)
        return _Term(written, measured, is_conversion=True)
    raise NotComputedError(f"{written!r} in its formula is in no quote and not in the question")


def _value_of(written: str) -> Fraction | None:
    if len(found := find_amounts(written)) == 1:
        return plain_value(found[0])
    numerals = find_numerals(written)  # a year is no amount
    return numerals[0].value if len(numerals) == 1 else None


def _quantity_in(text: str, value: Fraction) -> _Quantity | None:
    """Return the number of this value in a text; what it measures is known where only one amount
    has the value.
    """
    amounts = find_amounts(text)
    known = {
        _Quantity(value, each.base, _measure_of(each.dimension))
        for each in amounts
        if value in {plain_value(each), each.base}
    }
    if len(known) == 1:
        return known.pop()
    parts = (each.value for each in amounts if each.kind == "fraction")
    of_parts = {n for part in parts for n in (part.numerator, part.denominator)}
    is_given = known or value in of_parts | {each.value for each in find_numerals(text)}
    return _Quantity(value, value, None) if is_given else None


def _measure_of(dimension: str) -> _Measure:
    """Return the dimensions of "length/time" with their powers; none of a count or a share."""
    over, *under = dimension.split("/")
    powers = Counter({over: 1})
    powers.subtract(under)
    return frozenset((name, n) for name, n in powers.items() if n and name not in _PURE)


# --- arithmetic -----------------------------------------------------------------------------


def _result(terms: Sequence[str | _Term]) -> _Quantity:
    """Return what a formula makes, with the usual order of operations."""
    names = {f"n{at}": term.quantity for at, term in enumerate(terms) if isinstance(term, _Term)}
    written = " ".join(
        f"n{at}" if isinstance(term, _Term) else term for at, term in enumerate(terms)
    )
    try:
        return _evaluate(ast.parse(written, mode="eval").body, names)
    except SyntaxError as error:
        raise NotComputedError("its formula can't be read") from error
    except ZeroDivisionError as error:
        raise NotComputedError("its formula divides by zero") from error


def _evaluate(node: ast.expr, names: Mapping[str, _Quantity]) -> _Quantity:
    if isinstance(node, ast.Name):
        return names[node.id]
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATIONS:
        raise NotComputedError("its formula can't be read")
    calculate = _OPERATIONS[type(node.op)]
    one, other = _evaluate(node.left, names), _evaluate(node.right, names)
    value, base = calculate(one.value, other.value), calculate(one.base, other.base)
    return _Quantity(value, base, _joined(one.measure, other.measure, node.op))


def _joined(one: _Measure, other: _Measure, sign: ast.operator) -> _Measure:
    if one is None or other is None:
        return None
    if isinstance(sign, ast.Add | ast.Sub):
        return one if one == other else None
    powers = Counter(dict(one))
    (powers.update if isinstance(sign, ast.Mult) else powers.subtract)(dict(other))
    return frozenset((name, n) for name, n in powers.items() if n)


def _written(terms: Sequence[str | _Term], marks_asked: bool) -> str:
    """Return the formula with the source of each number behind it."""
    shown, unmarked = "", {""} if marks_asked else {"", ASKED}
    for term in terms:
        if isinstance(term, _Term):
            shown += term.text if term.source in unmarked else f"{term.text} ({term.source})"
        else:
            shown += term if term in "()" else f" {_SHOWN.get(term, term)} "
    return normalise_space(shown)
