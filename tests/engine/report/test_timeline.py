"""Timelines of reports on a course of events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.timeline import (
    asks_for_course,
    timeline_of,
    with_course_of_events,
    without_told_events,
)
from research.engine.report.rendering.markdown import render_report
from tests.engine.report.test_comparing import ledger_of, record_of

MOVES = [
    record_of(f"E{n}", f"The fund moved to its house number {n} in May 201{n}.", f"{n}.example")
    for n in range(6)
]
COURSE = "What is the course of events in the history of the fund, in order?"


def known_of(*records: Evidence) -> Ledger:
    known = ledger_of(*records)
    known.aspects["A1"] = replace(known.aspects["A1"], text=COURSE)
    return known


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Please give the whole course of events, with month and year.", True),
        ("What happened to the Vastrel dam, in order?", True),
        ("Which were the turning points of the strike?", True),
        ("Schreib mir eine Chronik des Deichbaus.", True),
        ("What did the mill change in order to sell more flour?", False),
        ("Who won the order for the trams?", False),
    ],
)
def test_a_question_asks_for_a_course_of_events(question: str, asks: bool) -> None:
    assert asks_for_course(question) == asks


def test_dated_findings_that_were_left_out_answer_a_question_on_the_course_of_events() -> None:
    known = known_of(*MOVES)
    told = Statement(MOVES[0].claim, ("E0",))
    draft = Draft((), (Section("A1", (told,)),))
    added = with_course_of_events(draft, known)
    [section] = added.sections
    assert [said.evidence for said in section.statements] == [(f"E{n}",) for n in range(6)]
    known.began = Form.CARRIED
    assert with_course_of_events(draft, known) == draft
    known.began = Form.TOLD
    known.aspects["A1"] = replace(known.aspects["A1"], text="How much does the fund hold?")
    assert with_course_of_events(draft, known) == draft


def test_replaced_and_disputed_findings_are_no_events() -> None:
    known = known_of(*MOVES[:3])
    known.relations.replaced["E1"] = "E2"
    known.book.oppose(MOVES[0], MOVES[2])
    draft = Draft((), (Section("A1", (Statement("The fund is old.", ("E2",)),)),))
    assert with_course_of_events(draft, known) == draft


def test_an_added_event_gives_way_to_a_statement_of_another_section() -> None:
    known = known_of(*MOVES)
    known.aspects["A2"] = replace(known.aspects["A1"], id="A2", text="Where is the fund?")
    events = tuple(Statement(each.claim, (each.id,)) for each in MOVES)
    fuller = Statement("In May 2013 the fund moved, which took a week.", ("E3",))
    draft = Draft((), (Section("A1", events), Section("A2", (fuller,))))
    first, second = without_told_events(draft, known).sections
    assert [said.evidence for said in first.statements] == [(f"E{n}",) for n in (0, 1, 2, 4, 5)]
    assert second.statements == (fuller,)


def test_the_timeline_stands_in_the_section_that_asks_for_it() -> None:
    known = known_of(*MOVES)
    for part in ("A2", "A3"):
        known.aspects[part] = replace(known.aspects["A1"], id=part, text=f"What is {part}?")
    events = tuple(Statement(each.claim, (each.id,)) for each in MOVES)
    rest = Statement("The fund is old.", ("E0",))
    sections = Section("A1", (*events, rest)), Section("A2", (rest,)), Section("A3", (rest,))
    told = render_report(known, Draft((), sections), "", 0, 0).markdown
    assert "## Timeline" not in told and told.count("| May 2013 |") == 1
    before, _, after = told.partition("| May 2013 |")
    assert before.count("\n## ") == 1 and "\n## What is A2?" in after
    assert told.partition("## Sources")[0].count("house number 3 in May") == 1


def test_a_definite_noun_is_clear_beside_its_date() -> None:
    known = known_of(*MOVES)
    ban = Statement("The ban on old headlamps started in May 2015.", ("E5",))
    events = (*(Statement(each.claim, (each.id,)) for each in MOVES[:5]), ban)
    sections = tuple(Section("A1", part) for part in (events[:2], events[2:4], events[4:]))
    assert ban in [said for _, said in timeline_of(Draft((), sections), known)]
    known.began = Form.CARRIED
    assert ban not in [said for _, said in timeline_of(Draft((), sections), known)]
