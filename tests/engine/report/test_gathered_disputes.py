"""All statements on one dispute stand together, whatever pairs of them are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.disagreement import (
    first_of_sides,
    gather_rivals,
    holders_of,
    rival_groups,
)
from tests.engine.report.test_comparing import ledger_of, record_of

CLAIMS = {
    "E1": "The Harbour Board puts the flood down to the tide.",
    "E2": "The Mill Society puts the flood down to a gate that stood open.",
    "E3": "A gate that stood open let the water in, says the Mill Society.",
    "E4": "It was the tide, as the Harbour Board has it.",
    "E5": "Forty cellars were under water.",
    "E6": "The mill has nine wheels.",
}
TIDE, GATE, GATE_TOO, TIDE_TOO, CELLARS, WHEELS = (
    Statement(claim, (record_id,)) for record_id, claim in CLAIMS.items()
)


@pytest.fixture
def known() -> Ledger:
    """Return a ledger in which E3 and E4 are known to contradict one record each."""
    made = ledger_of(*(record_of(i, claim, f"{i}.example") for i, claim in CLAIMS.items()))
    records = made.book.records
    for one, other in (("E1", "E2"), ("E1", "E3"), ("E2", "E4")):
        made.book.oppose(records[one], records[other])
    for part in ("A2", "A3"):
        made.aspects[part] = replace(made.aspects["A1"], id=part)
    return made


def test_a_side_that_stands_elsewhere_comes_to_where_most_of_its_dispute_is(known: Ledger) -> None:
    sections = (
        Section("A1", (WHEELS, GATE_TOO)),
        Section("A2", (CELLARS, TIDE, GATE)),
        Section("A3", (TIDE_TOO,)),
    )
    both = replace(TIDE, evidence=("E1", "E4"))
    for began, tide in ((Form.REPAIRED, (both,)), (Form.ATTRIBUTED, (TIDE, TIDE_TOO))):
        known.began = began
        first, second = gather_rivals(Draft((), sections), known).sections
        assert first.statements == (WHEELS,)
        assert second.statements == (CELLARS, *tide, GATE, GATE_TOO)


def test_sides_of_one_dispute_are_a_group_though_their_pair_is_not_known(known: Ledger) -> None:
    told = (CELLARS, TIDE_TOO, GATE_TOO, WHEELS)
    assert [*rival_groups(told, known)] == [[CELLARS], [TIDE_TOO, GATE_TOO], [WHEELS]]


def test_statements_on_one_side_are_no_dispute(known: Ledger) -> None:
    assert [*rival_groups((GATE, GATE_TOO), known)] == [[GATE], [GATE_TOO]]


def test_the_other_side_is_told_where_the_draft_lacks_it(known: Ledger) -> None:
    [section] = gather_rivals(Draft((), (Section("A1", (GATE_TOO, WHEELS)),)), known).sections
    assert section.statements == (GATE_TOO, TIDE, WHEELS)


def test_what_only_says_that_there_is_a_dispute_comes_first(known: Ledger) -> None:
    lead = Statement("Two causes are named for the flood.", ("E1", "E2"))
    [section] = gather_rivals(Draft((), (Section("A1", (GATE, TIDE, lead)),)), known).sections
    assert section.statements == (lead, GATE, TIDE)


def test_a_record_that_is_cited_for_something_else_moves_nothing(known: Ledger) -> None:
    aside = Statement("The mill has nine wheels and a clerk.", ("E6", "E2"))
    sections = (Section("A1", (TIDE, GATE)), Section("A2", (aside,)))
    assert gather_rivals(Draft((), sections), known).sections == sections


def test_two_statements_on_one_side_have_the_same_holder(known: Ledger) -> None:
    known.question = "What does the Harbour Board, or a society of the mill, say on the flood?"
    page = next(iter(known.pages.values()))
    for n, site in enumerate(("Harbour Board", "Mill Society")):
        known.pages[f"https://{n}.example/"] = replace(page, site=site)
    holders = holders_of((TIDE, GATE, GATE_TOO), known)
    assert holders == {TIDE: "Harbour Board", GATE: "Mill Society", GATE_TOO: "Mill Society"}


def test_disputed_records_that_one_statement_cites_are_on_one_side(known: Ledger) -> None:
    records = known.book.records
    for record_id, rivals in (("E1", ("E2",)), ("E2", ("E1",)), ("E3", ("E4",)), ("E4", ("E3",))):
        records[record_id] = replace(records[record_id], contradicts=rivals)
    gate = Statement("A gate stood open, says the Mill Society.", ("E2", "E3"))
    sections = (Section("A1", (TIDE, gate)), Section("A2", (CELLARS, TIDE_TOO)))
    first, second = gather_rivals(Draft((), sections), known).sections
    assert first.statements == (replace(TIDE, evidence=("E1", "E4")), gate)
    assert second.statements == (CELLARS,)


def test_the_first_statement_on_each_side_is_worth_most(known: Ledger) -> None:
    draft = Draft((), (Section("A1", (TIDE, TIDE_TOO, GATE, GATE_TOO, WHEELS)),))
    assert first_of_sides(draft, known) == {TIDE, GATE}
