"""Numbers with their units: what is equal, however it is written."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from research.engine.text.amounts import find_amounts, find_single_units, same_amount
from research.engine.text.dates import find_dates
from research.engine.text.entities import find_numbers
from research.engine.text.numerals import find_numerals
from research.engine.text.quantities import parse_figures
from research.engine.text.units import find_unit


@pytest.mark.requirement("F2")
@pytest.mark.parametrize(
    "text, values",
    [
        ("1,000.5", ["1000.5"]),
        ("1.000,5", ["1000.5"]),
        ("1 000 and 31 406", ["1000", "31406"]),
        ("10½ and ¼", ["10.5", "0.25"]),
        ("two and a half thousand", ["2500"]),
        ("one hundred and twelve", ["112"]),
        ("two thousand three hundred", ["2300"]),
        ("$3.8m, 1.27bn", ["3.8", "1270000000"]),
        ("nine tenths, a quarter, half", ["0.9", "0.25", "0.5"]),
        ("twice, halved", ["2", "0.5"]),
        ("a length and a quarter", ["1.25"]),
        ("the third act, the first and third", []),
        ("−44", ["-44"]),
        ("a dozen", ["12"]),
        ("half a dozen", ["6"]),
        ("between a fifth and a quarter", ["1/5", "1/4"]),
        ("a mile and a quarter", ["5/4"]),
    ],
)
def test_numbers_are_read_as_they_are_written(text: str, values: list[str]) -> None:
    found = [numeral.value for numeral in find_numerals(text)]
    assert found == [Fraction(value) for value in values]


@pytest.mark.requirement("F2")
@pytest.mark.parametrize(
    "one, other",
    [
        ("30 minutes", "1,800 seconds"),
        ("half an hour", "30 min"),
        ("2:14:37", "2 hours, 14 minutes and 37 seconds"),
        ("four weeks", "28 days"),
        ("14:00", "two in the afternoon"),
        ("6.30 p.m.", "18:30"),
        ("a quarter", "25 %"),
        ("1 in 10", "10 percent"),
        ("two trips out of five", "40%"),
        ("68 in every 100", "68%"),
        ("$3.2 billion", "3.2 bn dollars"),
        ("€3.8 million", "3.8m euros"),
        ("31 cm", "310 mm"),
        ("1,540 cubic metres", "1,540 m³"),
        ("7.1 tonnes per hectare", "7,100 kg a hectare"),
        ("0 °C", "32 °F"),
        ("a tenth of a millimetre", "0.1 mm"),
        ("512 MiB", "512 mebibytes"),
        ("an hour and a half", "90 minutes"),
        ("about 42 miles", "68 kilometres"),
        ("67%", "two thirds"),
        ("about two months", "60 days"),
    ],
)
def test_equal_amounts_are_equal_in_any_form(one: str, other: str) -> None:
    said, known = find_amounts(one)[0], find_amounts(other)[0]
    if one.startswith(("1 in", "two trips", "68")):
        said = next(amount for amount in find_amounts(one) if amount.kind == "share")
    assert same_amount(said, known)


@pytest.mark.requirement("F2")
@pytest.mark.parametrize(
    "one, other",
    [
        ("45 cm", "45 mm"),
        ("54 hours", "54 minutes"),
        ("46 euros", "46 dollars"),
        ("11 percent", "11 percentage points"),
        ("€22 a day", "€22 an hour"),
        ("1.28bn dollars", "$1.27bn"),
        ("43 miles", "68 kilometres"),
        ("about 80 kilometres", "68 kilometres"),
        ("70%", "two thirds"),
        ("1.2", "1.25"),
    ],
)
def test_other_amounts_differ(one: str, other: str) -> None:
    assert not same_amount(find_amounts(one)[0], find_amounts(other)[0])


@pytest.mark.requirement("F2")
def test_a_range_has_the_unit_and_the_scale_of_its_end() -> None:
    first, last = find_amounts("from 31 to 24 million euros")
    assert (first.value, last.value) == (31_000_000, 24_000_000)
    assert first.dimension == last.dimension == "eur"
    assert [a.unit.name for a in find_amounts("17 and 24 turbines")] == ["", ""]


@pytest.mark.requirement("F2")
def test_dates_are_no_amounts() -> None:
    assert find_amounts("on 14 March 1887, in 1990 and on 5.5.1954") == ()


@pytest.mark.requirement("F2")
def test_a_unit_alone_counts_once() -> None:
    names = [amount.unit.name for amount in find_single_units("a week, annually, each day")]
    assert names == ["week", "year", "day"]


def test_a_word_that_is_no_unit_is_none() -> None:
    assert find_unit("the") is None
    assert find_unit("Kilometres") is find_unit("km")


def test_digits_without_end_are_no_amount() -> None:
    assert find_amounts("9" * 20_000) == ()


FOLDED = str.maketrans({"i": "ı", "s": "ſ", "k": "\u212a", "I": "İ", "S": "ſ", "K": "\u212a"})


@pytest.mark.parametrize("read", [find_amounts, find_dates, find_numbers, parse_figures])
@pytest.mark.parametrize("is_upper", [False, True])
def test_letters_that_patterns_take_for_i_s_and_k_break_nothing(
    read: Callable[[str], object], is_upper: bool
) -> None:
    """A page may have them in Turkish, in old print, or on purpose."""
    plain = (
        "It was 5 million in 2015, a third or twice of sixty-six thousand; on 5 July it came at "
        "six in the morning with two and a half billion kilograms, the sixth of August 2014."
    )
    text = (plain.upper() if is_upper else plain).translate(FOLDED)
    assert bool(read(text)) is bool(read(plain))
