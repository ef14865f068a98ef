import pytest

from research.engine.text.dates import Date, find_dates, is_within, without_dates


@pytest.mark.requirement("F2")
@pytest.mark.parametrize(
    "text, dates",
    [
        ("2024-03-12", [(2024, 3, 12)]),
        ("on 5.5.1954", [(1954, 5, 5)]),
        ("on 22.2.", [(None, 2, 22)]),
        ("versions 7.0 and 8.0.", []),
        ("4/4/1906", [(1906, 4, 4)]),
        ("Dec. 14; 2 Aug. 1648", [(None, 12, 14), (1648, 8, 2)]),
        ("12 to 16 June", [(None, 6, 12), (None, 6, 16)]),
        ("August 14 and 15, 2020", [(2020, 8, 14), (2020, 8, 15)]),
        ("between 1950 and 2010", [(1950, None, None), (2010, None, None)]),
        ("1990 people", [(1990, None, None)]),
        ("about 1990 %", []),
        ("exceed, by default, 1000 tuples", []),
        ("it grew by 1500 rows", []),
        ("the default (1024 s) or by 1000 ms", []),
        ("(1776), in 1492 Columbus", [(1776, None, None), (1492, None, None)]),
    ],
)
def test_dates_are_found_in_many_forms(text: str, dates: list[Date]) -> None:
    assert [found.date for found in find_dates(text)] == dates


@pytest.mark.requirement("F2")
def test_what_is_left_without_dates_keeps_its_places() -> None:
    text = "lit on 14 March 1887 by 3 men"
    assert without_dates(text).rstrip() == "lit on               by 3 men"
    assert len(without_dates(text)) == len(text)


@pytest.mark.requirement("F2")
def test_a_date_is_within_one_that_says_as_much() -> None:
    assert is_within((1887, 3, None), (1887, 3, 14))
    assert not is_within((1887, 3, 14), (1887, 3, None))
