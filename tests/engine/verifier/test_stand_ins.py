"""Statements in the place of sentences of the short answer that failed."""

from __future__ import annotations

from research.engine.report.draft import Draft, Section, Statement
from research.engine.verifier.quote_instead import with_stand_ins

TOLL = Statement("The bridge has charged 4 florins since the flood.", ("E1", "E2"))
ARCHES = Statement("Nine arches carry the bridge.", ("E3",))
GUARD = Statement("A guard of two sleeps in the tower of the bridge.", ("E1",))
QUOTED = Statement("“Moss grows on the north side”", ("E4",), quoted=True)
SECTIONS = (Section("A1", (GUARD, TOLL)), Section("A2", (ARCHES, QUOTED)))
VERDICT = Statement("It costs 4 florins to cross nine arches.", ("E1", "E2", "E3"), is_verdict=True)


def test_a_failed_sentence_gives_way_to_the_statement_that_it_rested_on() -> None:
    failed = Statement("Since the flood the bridge charges no more than 4 florins.", ("E1", "E2"))
    checked = with_stand_ins(Draft((ARCHES,), SECTIONS), (failed, ARCHES))
    assert checked.short_answer == (TOLL, ARCHES)
    assert checked.sections == SECTIONS


def test_of_a_record_with_two_statements_the_one_in_like_words_is_taken() -> None:
    failed = Statement("Two guards sleep in the tower.", ("E1",))
    assert with_stand_ins(Draft((), SECTIONS), (failed,)).short_answer == (GUARD,)


def test_a_quotation_stays_where_no_statement_holds() -> None:
    failed = Statement("The north side is green with moss.", ("E4",))
    assert with_stand_ins(Draft((QUOTED,), SECTIONS), (failed,)).short_answer == (QUOTED,)


def test_what_only_a_failed_verdict_said_stands_with_its_sub_question() -> None:
    price = Statement("Crossing costs 4 florins.", ("E1", "E2"))
    checked = with_stand_ins(Draft((price,), SECTIONS), (VERDICT, price))
    assert checked.short_answer == (price, ARCHES)
    assert not any(said.is_verdict for said in checked.short_answer)


def test_a_verdict_that_holds_stays_in_front() -> None:
    price = Statement("Crossing is cheap, at 4 florins.", ("E1", "E2"))
    checked = with_stand_ins(Draft((VERDICT,), SECTIONS), (VERDICT, price))
    assert checked.short_answer == (VERDICT, TOLL)
