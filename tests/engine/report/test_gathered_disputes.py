"""All statements on one dispute stand together, whatever pairs of them are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.report.disputes import is_beside
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts import disagreement
from research.engine.report.parts.disagreement import (
    first_of_sides,
    gather_rivals,
    holders_of,
    rival_groups,
    untold_rivals,
)
from research.engine.report.rendering.markdown import render_report
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
    first, second = gather_rivals(Draft((), sections), known).sections
    assert first.statements == (WHEELS,)
    assert second.statements == (CELLARS, both, GATE, GATE_TOO)


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


LATE = (
    "Trials start late by forty minutes on average, for which the Audit Office blames prison vans."
)
GATE_VIEW = "The Law Review blames the one security gate for trials that start late."
PLAIN = Statement("Trials start late by forty minutes on average.", ("E1",))


def of_late_trials() -> Ledger:
    made = ledger_of(record_of("E1", LATE, "a.example"), record_of("E2", GATE_VIEW, "b.example"))
    records = made.book.records
    made.book.oppose(records["E1"], records["E2"])
    return made


def test_a_plain_fact_is_no_view() -> None:
    known = of_late_trials()
    vans, gate = Statement(LATE, ("E1",)), Statement(GATE_VIEW, ("E2",))
    assert [*rival_groups((vans, PLAIN, gate), known)] == [[vans, gate], [PLAIN]]
    told = render_report(known, Draft((), (Section("A1", (vans, PLAIN, gate)),)), "", 0, 0)
    box, _, after = told.markdown.partition("> **⚠")[2].partition("\n\n")
    assert box.count("forty minutes") == 1 and after.startswith(PLAIN.text.rstrip("."))
    assert "(⚠" not in after.partition("## ")[0]
    known.began = Form.REPAIRED
    assert [*rival_groups((vans, PLAIN, gate), known)] == [[vans, PLAIN, gate]]


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        (PLAIN.text, True),
        ("On average trials start forty minutes late.", True),
        ("Prison vans make trials start late.", False),
        ("The Audit Office has trials start late by forty minutes.", False),
        ("Nobody is on time, as one hears.", False),
    ],
)
def test_a_plain_fact_has_nothing_of_the_view(text: str, is_plain: bool) -> None:
    assert is_beside(Statement(text, ("E1",)), of_late_trials()) == is_plain


def test_a_side_of_which_only_a_plain_fact_is_told_is_told_as_well() -> None:
    known = of_late_trials()
    gate = Statement(GATE_VIEW, ("E2",))
    [section] = gather_rivals(Draft((), (Section("A1", (PLAIN, gate)),)), known).sections
    assert [each.text for each in section.statements] == [PLAIN.text, GATE_VIEW, LATE]
    assert untold_rivals(Draft((), (Section("A1", (PLAIN, gate)),)), known) == {gate: ["E1"]}


def test_a_plain_fact_that_needs_the_view_before_it_stays_with_it() -> None:
    known = of_late_trials()
    vans, gate = Statement(LATE, ("E1",)), Statement(GATE_VIEW, ("E2",))
    leaning = Statement("They start forty minutes late on average.", ("E1",))
    assert is_beside(leaning, known)
    assert [*rival_groups((vans, leaning, gate), known)] == [[vans, leaning, gate]]


def test_what_goes_on_about_a_view_is_nobodys_view(known: Ledger) -> None:
    more = Statement("They cost the mill six wheels.", ("E1", "E6"))
    draft = Draft((), (Section("A1", (TIDE, more, GATE)),))
    for known.began, led in (
        (Form.COMPUTED, "[1] They"),
        (Form.REPAIRED, "** (January 2026) – They"),
    ):
        told = render_report(known, draft, "", 0, 0).markdown
        assert f"{led} cost the mill six wheels" in told


@pytest.mark.parametrize(("form", "is_once"), [(Form.EDITED, True), (Form.COMPUTED, False)])
def test_a_view_that_is_told_again_in_fewer_words_is_told_once(form: Form, is_once: bool) -> None:
    view = (
        "The Board says that moving all of its stops to the other side of each street, with new "
        "shelters and signs, would have cost more than a whole fleet of new buses."
    )
    again = "Moving stops cost more than new buses, says the Board."
    known = ledger_of(record_of("E1", view, "a.example"), record_of("E2", view, "b.example"))
    known.began = form
    chunks = [[Statement(view, ("E1",))], [Statement(again, ("E2",))]]
    told = disagreement._said_once(chunks, known)
    assert [[each.evidence for each in chunk] for chunk in told] == (
        [[("E1", "E2")]] if is_once else [[("E1",)], [("E2",)]]
    )
