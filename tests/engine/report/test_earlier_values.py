"""Earlier values told within the sentence of the current one."""

from __future__ import annotations

import pytest

from research.engine.evidence.relations import Relations
from research.engine.journal.forms import Form
from research.engine.report.draft import Statement
from research.engine.report.parts.earlier_values import (
    is_worded_as_earlier,
    lone_value,
    tell_earlier,
    value_beside,
    with_unit,
)
from research.engine.report.report_i18n import labels_for
from tests.engine.report.test_comparing import ledger_of, record_of


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


@pytest.mark.parametrize(
    ("older", "newer", "value"),
    [
        ("The toll of the road had settled at 546 by 2017.", "In 2026 the toll was 318.", "546"),
        ("In 2016, 212,000 signs had to be moved.", "Of signs, 358,000 were moved.",
         "212,000 signs"),
        ("It weighs 12 kg.", "It is 3 metres long.", ""),
        ("In 2016, 212,000 signs had to be moved.", "It cost 358,000 in all.", ""),
        ("It had 9 sails on 4.", "It has 7.", ""),
    ],
)  # fmt: skip
def test_the_only_quantity_of_both_texts_is_the_earlier_value(
    older: str, newer: str, value: str
) -> None:
    assert value_beside(older, newer) == "" and lone_value(older, newer) == value


def test_a_value_without_a_unit_is_told_as_the_earlier_one() -> None:
    old = record_of("E1", "The toll of the road had settled at 546 by 2017.", "a.example")
    new = record_of("E2", "In 2026 the toll of the road was 318.", "b.example")
    ledger = ledger_of(old, new)
    said = Statement(new.claim, ("E2",), earlier=("E1",))
    assert tell_earlier(said, ledger, labels_for("en")) == "earlier: 546, 2017"
    ledger.began = Form.REPAIRED
    assert tell_earlier(said, ledger, labels_for("en")) == ""


def test_what_a_claim_words_as_a_former_value_needs_no_mark() -> None:
    claim = "The file is opened after 10 years, a period that was cut from 30 years."
    ledger = ledger_of(record_of("E1", claim, "a.example"))
    said = Statement(claim, ("E1",))
    assert not is_worded_as_earlier(said, ["30 years"], ledger)
    ledger.relations = Relations(True, recalled={"E1": frozenset({"30"})})
    assert is_worded_as_earlier(said, ["30 years"], ledger)
    assert not is_worded_as_earlier(said, ["20 years"], ledger)
    assert not is_worded_as_earlier(Statement(claim, ("E1",), quoted=True), ["30 years"], ledger)
    ledger.began = Form.REPAIRED
    assert not is_worded_as_earlier(said, ["30 years"], ledger)
