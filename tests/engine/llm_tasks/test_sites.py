"""What kind of publisher a site is, as the comparison of the findings says."""

from __future__ import annotations

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.records import Source
from research.engine.report.parts.sources import note_kinds
from research.engine.report.report_format import summary_words
from tests.engine.report.test_comparing import ledger_of, record_of

URL, OTHER = "https://board.example/1", "https://forum.example/2"


@pytest.fixture
def known() -> Ledger:
    made = ledger_of(record_of("E1", "It fell.", "board.example"))
    made.sources = {
        URL: Source(URL, "Notice", "board.example", 1),
        OTHER: Source(OTHER, "Thread", "forum.example", 1, kind="forum"),
    }
    return made


@pytest.mark.parametrize(
    ("host", "said", "kind"),
    [
        ("board.example", "official", "official"),
        (" Board.example ", "Scholarly", "academic"),
        ("board.example", "company", "vendor"),
        ("board.example", "trustworthy", "unknown"),
        ("board.example", "", "unknown"),
        ("other.example", "official", "unknown"),
    ],
)
def test_a_site_of_an_unknown_kind_has_the_kind_that_the_model_names(
    known: Ledger, host: str, said: str, kind: str
) -> None:
    note_kinds(known, {host: said})
    assert known.sources[URL].kind == kind


def test_a_kind_that_the_address_tells_stays(known: Ledger) -> None:
    note_kinds(known, {"forum.example": "official"})
    assert known.sources[OTHER].kind == "forum"


def test_the_short_answer_has_few_words_on_each_sub_question(known: Ledger) -> None:
    known.aspects |= {f"A{n}": known.aspects["A1"] for n in range(2, 13)}
    assert summary_words(known) == 180
