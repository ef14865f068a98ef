"""Earlier values told within the sentence of the current one."""

from __future__ import annotations

import pytest

from research.engine.report.parts.earlier_values import value_beside, with_unit


@pytest.mark.parametrize(
    ("older", "newer", "value"),
    [
        ("The state pays 38.5 talers, on a form.", "It comes to 27.5 talers a day.", "38.5 talers"),
        ("They stand a watch of four hours.", "Three hours is a watch.", "four hours"),
        ("The six ships burnt 655,000 litres.", "The six ships burn 418,000 litres.",
         "655,000 litres"),
        ("In 2016 it was $1.2 million.", "It is now $3.5 million a year.", "$1.2 million"),
        ("Es waren 27,5 Taler je Tag.", "Es sind 31,25 Taler am Tag.", "27,5 Taler"),
        ("40 % waren es.", "Heute sind es 35 % aller Kinder.", "40 %"),
        ("Il y a 2,3 millions de logements.", "3,1 millions de logements.", "2,3 millions"),
        ("It is a staysail schooner.", "It is a lugger.", ""),
        ("It has 4 masts and 9 sails.", "It has 3 masts and 7 sails.", ""),
        ("It weighs 12 kg.", "It is 3 metres long.", ""),
    ],
)  # fmt: skip
def test_the_one_quantity_that_is_given_otherwise_is_the_earlier_value(
    older: str, newer: str, value: str
) -> None:
    assert value_beside(older, newer).startswith(value)
    assert bool(value_beside(older, newer)) is bool(value)


def test_a_value_has_the_unit_that_it_shares_with_another() -> None:
    said = "There must be 4.2 square metres for each, where 2.8 square metres used to do."
    assert with_unit("2.8 square", said) == "2.8 square metres"
    said = "It was trimmed to 27.5 talers for each, having been 38.5 talers for long."
    assert with_unit("38.5 talers", said) == "38.5 talers"
