"""Which statements of a section its summary is written from, and how they are shown."""

from __future__ import annotations

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Relations
from research.engine.journal.forms import Form
from research.engine.llm_tasks.sections import summarised_of, summary_statement
from research.engine.report.draft import Section, Statement, cite_ids
from tests.engine.report.test_comparing import ledger_of, record_of

CLAIMS = {
    "E1": "The fund was set up by a baker.",
    "E2": "He did it at night.",
    "E3": "The fund holds 6 million marks.",
    "E4": "The Bank credits the fall to rain.",
    "E5": "The Post credits it to the frost.",
    "E6": "The fund has three guards.",
    "E7": "Another has a dog.",
}
BAKER, NIGHT, HOLDS, RAIN, FROST, GUARDS, DOG = (
    Statement(claim, (record_id,)) for record_id, claim in CLAIMS.items()
)
LESS = Statement("It holds less than before, for two reasons.")


@pytest.fixture
def known() -> Ledger:
    made = ledger_of(*(record_of(i, claim, f"{i}.example") for i, claim in CLAIMS.items()))
    made.book.oppose(made.book.records["E4"], made.book.records["E5"])
    return made


def shown(known: Ledger, *said: Statement, most: int = 8) -> list[tuple[str, str]]:
    chosen = summarised_of(Section("A1", said), known, most)
    return [(each.before, each.statement.text) for each in chosen]


def test_the_most_direct_statement_leads_and_the_others_keep_their_order(known: Ledger) -> None:
    told = shown(known, BAKER, NIGHT, GUARDS, HOLDS)
    assert [text for _, text in told] == [HOLDS.text, BAKER.text, NIGHT.text, GUARDS.text]


def test_what_refers_back_is_left_out_without_the_sentence_before_it(known: Ledger) -> None:
    told = shown(known, HOLDS, LESS, NIGHT, GUARDS, DOG, most=2)
    assert [text for _, text in told] == [HOLDS.text, GUARDS.text]
    assert shown(known, LESS, NIGHT) == [(LESS.text, NIGHT.text)]


def test_both_sides_of_a_dispute_stand_together_behind_what_introduces_it(known: Ledger) -> None:
    told = shown(known, HOLDS, GUARDS, BAKER, LESS, RAIN, FROST, most=4)
    assert told == [
        ("", HOLDS.text),
        ("", GUARDS.text),
        (LESS.text, RAIN.text),
        ("", FROST.text),
    ]


def test_no_dispute_is_left_out_or_shown_by_one_side(known: Ledger) -> None:
    told = shown(known, HOLDS, RAIN, FROST, GUARDS, BAKER, most=3)
    assert [text for _, text in told] == [HOLDS.text, RAIN.text, FROST.text, GUARDS.text]
    known.began = Form.REPAIRED
    assert [text for _, text in shown(known, HOLDS, RAIN, FROST, most=3)] == [HOLDS.text]


def test_what_turns_back_behind_its_first_word_stands_behind_the_sentence_before(
    known: Ledger,
) -> None:
    without = Statement("Without it the guards have no dog.", ("E6",))
    told = shown(known, HOLDS, LESS, without, BAKER, most=3)
    assert [text for _, text in told] == [HOLDS.text, BAKER.text]
    told = shown(known, HOLDS, without, BAKER, most=3)
    assert [text for _, text in told] == [HOLDS.text, without.text, BAKER.text]


def test_a_summary_cites_an_earlier_value_only_where_it_gives_it() -> None:
    now, was = "The fee is 30 marks.", "The fee was 20 marks."
    made = ledger_of(record_of("E1", now, "a.example"), record_of("E2", was, "b.example"))
    made.relations = Relations(replaced={"E2": "E1"})
    rise = "The fee is 30 marks, 50% {= (30 - 20) / 20} more than the 20 marks of before. [E1, E2]"
    told = [cite_ids(rise, made)]
    said = summary_statement("The fee is 30 marks. [1]", told, made)
    assert said and (said.evidence, said.formulas) == (("E1",), ())
    grown = summary_statement("The fee has grown by 50% to 30 marks. [1]", told, made)
    assert grown and set(grown.evidence) == {"E1", "E2"} and grown.formulas == told[0].formulas


@pytest.mark.parametrize("form, cited", [(Form.COMPUTED, 1), (Form.EDITED, 2)])
def test_a_summary_that_compares_without_figures_cites_both_values(form: Form, cited: int) -> None:
    now, was = "In 2026 the fee is 30 marks.", "In 2019 the fee was 20 marks."
    made = ledger_of(record_of("E1", now, "a.example"), record_of("E2", was, "b.example"))
    made.relations, made.began = Relations(replaced={"E2": "E1"}), form
    told = [cite_ids("The fee is 30 marks, and was 20 marks before. [E1, E2]", made)]
    compared = summary_statement("Visitors pay more today than before. [1]", told, made)
    assert compared and compared.evidence == ("E1", "E2")[:cited]
    plain = summary_statement("Visitors pay 30 marks. [1]", told, made)
    assert plain and plain.evidence == ("E1",)
