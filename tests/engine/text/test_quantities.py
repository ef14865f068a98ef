import pytest

from research.engine.text.quantities import Date, figures_conflict, parse_figures


@pytest.mark.requirement("F2")
@pytest.mark.parametrize(
    "text, amounts, dates",
    [
        ("24 % in 2019", [("24", "%", "")], {(2019, None, None)}),
        ("from 24 percent to 37 per cent", [("24", "%", ""), ("37", "%", "")], set()),
        ("5 million users since 14 March 1887", [("5000000", "", "user")], {(1887, 3, 14)}),
        ("$1.5 billion", [("1500000000", "$", "")], set()),
        ("March 14, 1887", [], {(1887, 3, 14)}),
        ("on 2024-05-01", [], {(2024, 5, 1)}),
        ("In 1990 200 people came", [("200", "", "peopl")], {(1990, None, None)}),
        ("twelve pages", [("12", "", "page")], set()),
        ("1,000.50 dollars", [("1000.5", "$", "")], set()),
        ("twenty-five people", [("25", "", "peopl")], set()),
        ("Ninety nine lamps", [("99", "", "lamp")], set()),
        ("thirty-one thousand users", [("31000", "", "user")], set()),
        ("a twenty-five-year plan", [("25", "year", "")], set()),
        ("twenty one-way streets", [("20", "", ""), ("1", "", "")], set()),
        ("no figures at all", [], set()),
    ],
)
def test_figures_know_what_they_measure_and_years_are_dates(
    text: str, amounts: list[tuple[str, str, str]], dates: set[Date]
) -> None:
    found = parse_figures(text)
    assert [(a.value, a.unit, a.noun) for a in found.amounts] == amounts
    assert found.dates == dates


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "one, other, excluded",
    [
        ("24 % in 2019", "37 % in 2019", True),
        ("24 % in 2019", "37 % in 2020", False),
        ("24 % of 300 users", "37 % of 300 users", True),
        ("24 % there", "37 km there", False),
        ("lit in 1887", "lit in 1889", True),
        ("lit in March 1887", "lit in 1887", False),
        ("8 lamps", "8 lamps and 3 doors", False),
        ("costs 5", "costs 6", True),
        ("costs 5", "costs", False),
        ("25 people", "twenty-five people", False),
        ("25 people", "twenty-six people", True),
    ],
)
def test_figures_exclude_each_other_by_what_they_measure(
    one: str, other: str, excluded: bool
) -> None:
    assert figures_conflict(parse_figures(one), parse_figures(other)) is excluded
    assert figures_conflict(parse_figures(other), parse_figures(one)) is excluded
