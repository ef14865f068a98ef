"""Statements of different sections of which only one can be right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.records import Evidence
from research.engine.report.checking.check import clash_faults, new_clashes, with_clashes_told
from research.engine.report.draft import Clash, Draft, Section, Statement
from research.engine.report.parts.timeline import (
    render_timeline,
    without_events,
    without_told_events,
)
from research.engine.report.report_i18n import labels_for
from tests.engine.report.test_comparing import ledger_of, record_of
from tests.engine.report.test_sections import THOROUGH, models
from tests.engine.report.test_timeline import MOVES, known_of
from tests.engine.scripted import CHAIN, QUALIFIED, Answer, World, harbour

FREE = record_of("E1", "The check needs no space of its own.", "a.example")
COSTLY = record_of("E2", "The check needs as much space as the table.", "b.example")
OWNED = record_of("E3", "The village owns the mill.", "c.example")
ONE, OTHER, THIRD = (Statement(each.claim, (each.id,)) for each in (FREE, COSTLY, OWNED))
SUMMED = Statement("Checks are free.", ("E1",))
CLASH = Clash(ONE, OTHER, "whether the check needs space")


def draft_of(*clashes: Clash) -> Draft:
    sections = Section("A1", (ONE,)), Section("A2", (THIRD, OTHER))
    return Draft((SUMMED,), sections, open=(), clashes=clashes)


def known(*records: Evidence) -> Ledger:
    made = ledger_of(*(records or (FREE, COSTLY, OWNED)))
    made.aspects["A2"] = replace(made.aspects["A1"], id="A2")
    return made


def test_a_clash_that_the_report_tells_as_a_dispute_or_a_change_is_none() -> None:
    disputed, changed = known(), known()
    disputed.book.oppose(FREE, COSTLY)
    changed.relations.replaced["E1"] = "E2"
    assert new_clashes(draft_of(CLASH), known()) == [CLASH]
    assert not new_clashes(draft_of(CLASH), disputed) + new_clashes(draft_of(CLASH), changed)
    gone = replace(draft_of(CLASH), sections=(Section("A1", (ONE,)),))
    assert not new_clashes(gone, known())


def test_a_repair_is_told_of_both_and_of_the_summary_that_rests_on_them() -> None:
    told = {each.statement: each.reason for each in clash_faults(draft_of(CLASH), [CLASH])}
    assert told == {
        SUMMED: "it rests on [2], which may change",
        ONE: "only one of this and [4] can be right: whether the check needs space",
        OTHER: "only one of this and [2] can be right: whether the check needs space",
    }


def test_a_quotation_that_clashes_stays_as_it_is() -> None:
    quoted = replace(OTHER, quoted=True)
    clash = replace(CLASH, other=quoted)
    draft = replace(draft_of(clash), sections=(Section("A1", (ONE, quoted)),))
    assert [each.statement for each in clash_faults(draft, [clash])] == [SUMMED, ONE]


def test_what_both_quotes_carry_is_told_as_a_dispute() -> None:
    ledger = known()
    told = with_clashes_told(draft_of(CLASH), [CLASH], {}, ledger)
    assert [section.statements for section in told.sections] == [(ONE, OTHER), (THIRD,)]
    assert ledger.book.records["E1"].contradicts == ("E2",)
    assert ledger.relations.matters == {("E1", "E2"): CLASH.about}


def test_what_one_site_says_both_ways_is_open() -> None:
    ledger = known(FREE, record_of("E2", COSTLY.claim, "a.example"), OWNED)
    told = with_clashes_told(draft_of(CLASH), [CLASH], {}, ledger)
    assert told.sections == draft_of().sections and told.open is not None
    assert [(each.aspect_id, each.text) for each in told.open] == [("A1", CLASH.about)]


def test_a_clash_that_was_put_right_is_told_no_more() -> None:
    ledger = known()
    assert with_clashes_told(draft_of(CLASH), [CLASH], {ONE: None}, ledger) == draft_of(CLASH)
    assert not ledger.book.records["E1"].contradicts


# --- in a run ----------------------------------------------------------------------------------


async def run_with(clash: dict[str, Any], mended: str | None) -> tuple[World, str]:
    """Return a run whose summary names a clash, and whose repair says `mended` in place of each
    statement that it is asked about, or gives it unchanged.
    """
    world = harbour(CHAIN)
    model = models(world)

    def repair(answer: Answer) -> Answer:
        tries = answer["statements"] if mended is not None else []
        return {"statements": [{**each, "text": mended} for each in tries]}

    model.twists["summary"] = lambda answer: {**answer, "clashes": [clash]}
    model.twists["repair"] = repair
    ran = await world.ask(CHAIN.question, verifier=QUALIFIED, **THOROUGH)
    replayed = await world.replay(CHAIN.question, verifier=QUALIFIED, **THOROUGH)
    assert replayed.final() == ran.final() and not replayed.journal.divergences
    return world, ran.report.markdown


async def test_a_clash_is_repaired_with_the_quotes_of_both() -> None:
    world, _ = await run_with({"statements": [1, 2], "about": "who drew it"}, None)
    [repair] = [each for each in models(world).requests if each.task == "repair"]
    assert repair.prompt.count("can be right: who drew it") == 2
    assert "put right the one that its quotes don't say" in repair.system


@pytest.mark.parametrize("numbers", [[1], [1, 1], [1, 2, 3], [1, 999]])
async def test_a_clash_of_other_than_two_shown_statements_is_ignored(numbers: list[int]) -> None:
    world, _ = await run_with({"statements": numbers, "about": "who drew it"}, None)
    assert "repair" not in [each.task for each in models(world).requests]


# --- the course of events ---------------------------------------------------------------------

COURSE = "May 2010: The fund got a house because it had outgrown its room. [1]"


async def test_the_summary_of_a_course_of_events_is_its_table() -> None:
    first, second, third = CHAIN.parts
    third = replace(third, question=f"{third.question} Please tell it in order.")
    script = replace(CHAIN, parts=(first, second, third))
    world = harbour(script)
    await world.ask(script.question, **THOROUGH)
    [asked] = [each for each in models(world).requests if each.task == "summary"]
    assert "the rows of a table of dates" in asked.system
    assert "course" in asked.schema["properties"]
    plain = harbour(CHAIN)
    await plain.ask(CHAIN.question, **THOROUGH)
    [asked] = [each for each in models(plain).requests if each.task == "summary"]
    assert "table of dates" not in asked.system and "course" not in asked.schema["properties"]


def test_rows_that_the_author_wrote_stand_for_what_the_section_tells_of_them() -> None:
    ledger = known_of(*MOVES)
    said = [Statement(each.claim, (each.id,)) for each in MOVES]
    rest = Statement("In May 2012 the fund moved, which a clerk of the Bank recalls.", ("E2", "E5"))
    rows = tuple(
        Statement(f"May 201{n}: The fund moved, as house {n} had become too small.", (f"E{n}",))
        for n in range(3)
    )
    draft = Draft((), (Section("A1", (*said, rest)),), course=rows)
    [section] = without_events(draft, ledger, only="A1").sections
    assert section.statements == (*said[3:], rest)


def test_a_row_that_the_author_wrote_has_its_date_once() -> None:
    ledger = known_of(*MOVES)
    rows = tuple(
        Statement(f"{when}: The fund moved to house {n}.", (f"E{n}",))
        for n, when in enumerate(("May 2010", "the middle of 2011", "3 May 2012"))
    )
    named = Statement("Its last house: The fund moved there in May 2013.", ("E3",))
    draft = Draft((), (Section("A1", (Statement("It moves.", ("E5",)),)),), course=(*rows, named))
    shown = render_timeline(draft, ledger, labels_for("en"), lambda _: "")
    assert "| May 2010 | The fund moved to house 0. |" in shown
    assert "| 2011 | The fund moved to house 1. |" in shown
    assert "| May 2013 | Its last house: The fund moved there in May 2013. |" in shown


def test_too_few_rows_of_the_author_leave_the_table_to_the_section() -> None:
    ledger = known_of(*MOVES)
    said = tuple(Statement(each.claim, (each.id,)) for each in MOVES)
    plain = Draft((), (Section("A1", said),))
    rows = tuple(replace(each, text=f"Row: {each.text}") for each in said[:2])
    few = replace(plain, course=rows)
    for shape in (without_events, without_told_events):
        assert shape(few, ledger).sections == shape(plain, ledger).sections
    words = labels_for("en")
    table, usual = (render_timeline(each, ledger, words, lambda _: "") for each in (few, plain))
    assert table == usual and table.count("house number") == len(MOVES)
