"""What a review leaves of a ledger, and the shapes that code gives a report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.ports import Page
from research.engine.records import Complexity, Evidence, Plan, QuoteSource, Source
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import (
    Layout,
    apply_format,
    wanted_form,
    wanted_length,
)
from research.engine.threads.seed import IdsUsed, ReportFormat, Seed, apply_review, is_rejected
from tests.engine.scripted import ledger, page, quoted

TEXT = "Oaks live for 600 years. Yews live for 2,000 years. Both are slow to grow."
OAKS = "Oaks live for 600 years."
YEWS = "Yews live for 2,000 years."
TREES = page("https://trees.example/ages", TEXT)
COPY = page("https://copy.example/ages", f"As others say: {OAKS} That is all.")


def record(number: int, *sources: QuoteSource, **more: object) -> Evidence:
    made = Evidence(f"E{number}", sources[0].quote, "A1", 1, sources, 0.9)
    return replace(made, **more)


def seed(*evidence: Evidence, **more: object) -> Seed:
    plan = Plan("", Complexity.SIMPLE, "en", ())
    return replace(Seed("revise", "How old?", plan, evidence=evidence), **more)


def labels(given: Seed) -> list[str]:
    return [each.id for each in given.evidence]


def test_a_rejected_record_goes_and_its_passage_with_it() -> None:
    shared = record(2, quoted(TREES, f"{OAKS} Yews"), quoted(COPY, "That is all."))
    left = apply_review(seed(record(1, quoted(TREES, OAKS)), shared), ["E1"])
    assert labels(left) == ["E2"]
    assert [source.url for source in left.evidence[0].sources] == [COPY.url]
    assert [source.quote for source in left.rejected] == [OAKS]
    assert left.left_out == 1


def test_the_same_words_on_another_page_are_rejected_too() -> None:
    left = apply_review(seed(record(1, quoted(TREES, OAKS)), record(2, quoted(COPY, OAKS))), ["E1"])
    assert labels(left) == []
    assert left.left_out == 2


def test_a_record_that_was_accepted_keeps_the_passage_of_a_rejected_one() -> None:
    records = record(1, quoted(TREES, OAKS)), record(2, quoted(TREES, OAKS))
    left = apply_review(seed(*records), ["E1"], ["E2"])
    assert labels(left) == ["E2"] and left.evidence[0].sources == records[1].sources
    assert is_rejected(quoted(TREES, OAKS), left.rejected)


def test_another_passage_of_the_page_stays() -> None:
    rival = record(2, quoted(TREES, YEWS), contradicts=("E1",))
    left = apply_review(seed(record(1, quoted(TREES, OAKS)), rival), ["E1"])
    assert labels(left) == ["E2"]
    assert left.evidence[0].contradicts == ()


def test_what_was_rejected_before_stays_rejected() -> None:
    before = (quoted(TREES, OAKS),)
    left = apply_review(seed(record(3, quoted(COPY, OAKS)), rejected=before), [])
    assert labels(left) == []
    assert is_rejected(quoted(TREES, f"{OAKS} Yews"), left.rejected)
    assert not is_rejected(quoted(TREES, YEWS), left.rejected)


def test_ids_go_on_where_the_earlier_run_s_ended() -> None:
    empty, _ = ledger("How old do yews get?")
    made = Ledger(
        empty.question, empty.plan, lambda record: None, empty.book, ids_used=IdsUsed(4, 7, 2)
    )
    made.book.last = 7
    assert made.raise_aspect("Why?", "why", "plan", 0).id == "A5"
    assert made.next_gap_id() == "G3"
    made.book.take_over(record(3, quoted(TREES, OAKS)))
    found, _ = made.book.add(Finding(YEWS, "A5", quoted(TREES, YEWS), 1.0), 1)
    assert found.id == "E8"


def report(*said: Statement) -> Draft:
    return Draft(said[:1], (Section("A1", said),))


@pytest.mark.parametrize(
    ("form", "kept"), [("shorter", 1), ("table", 2), ("longer", 3), ("memo", 3)]
)
def test_a_section_has_as_many_statements_as_the_shape_has_room_for(form: str, kept: int) -> None:
    said = [Statement(f"One {number}.", ("E1",)) for number in range(3)]
    draft = apply_format(report(*said), ReportFormat(form))  # type: ignore[arg-type]
    assert len(draft.sections[0].statements) == kept


def test_a_model_is_told_the_shape_beside_the_plan_s_own_form() -> None:
    shape = ReportFormat("reader", "a manager")
    assert wanted_form(shape, "A list.").startswith("A list.\n")
    assert wanted_form(shape, "").endswith("a manager")
    assert wanted_form(ReportFormat(), "A list.") == "A list."
    assert wanted_length(ReportFormat("shorter"), "600 to 900") == "at most 200"
    memo = wanted_form(ReportFormat("memo", "the board"), "").splitlines()
    assert memo[0].startswith("A memo") and memo[1].endswith("the board")
    assert wanted_length(shape, "600 to 900") == "600 to 900"


def test_a_table_has_room_for_a_statement_on_each_sub_question() -> None:
    table = ReportFormat("table")
    lengths = [wanted_length(table, "600 to 900", parts) for parts in (0, 7, 14)]
    assert lengths == ["at most 300", "at most 300", "at most 560"]
    assert wanted_length(ReportFormat("shorter"), "600 to 900", 14) == "at most 200"


def test_a_table_keeps_its_cells_whatever_a_page_says() -> None:
    odd: Page = page("https://odd.example/", "A | B holds.\nFor all.")
    made, _ = ledger("Does A | B hold?")
    made.put_page(odd)
    made.put_source(Source(odd.url, "Odd", odd.domain, 1, status="read"))
    found, _ = made.book.add(Finding("A | B holds.", "A1", quoted(odd, "A | B holds."), 1.0), 1)
    made.refresh_aspects()
    text = render_report(
        made, report(Statement("A | B\nholds.", (found.id,))), "", 0, 0, Layout(as_table=True)
    ).markdown
    [row] = [line for line in text.splitlines() if line.startswith("| Does")]
    assert row == "| Does A \\| B hold? | A \\| B holds. [1] | 1 source |"
