"""Comparing the findings: what code accepts of the model's pairs and cells."""

from __future__ import annotations

from dataclasses import replace

from bench.survey.__main__ import research
from bench.survey.measure import rows
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell, Relations
from research.engine.llm_tasks.compare import find_disagreements, find_replaced, has_value
from research.engine.records import AspectState, Evidence, Source
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.markdown import render_report
from research.engine.report.parts.dating import date_of_statement
from research.engine.report.parts.disagreement import join_rivals, with_both_sides
from research.engine.report.parts.repetitions import without_tabled
from tests.engine.scripted import ledger, page, quoted


def record_of(record_id: str, claim: str, host: str) -> Evidence:
    """Return a record whose quote is its claim, on the page of a host."""
    source = page(f"https://{host}/", claim, published="2026-01-01")
    return Evidence(record_id, claim, "A1", 1, (quoted(source, claim),), 0.9)


def ledger_of(*records: Evidence) -> Ledger:
    made, _ = ledger("How much does the fund hold?")
    for record in records:
        source = page(record.sources[0].url, record.claim, published="2026-01-01")
        made.put_page(source)
        made.put_source(Source(source.url, source.title, source.domain, 1, status="cited"))
        made.book.take_over(record)
    made.set_aspect("A1", state=AspectState.ANSWERED)
    return made


OLD = record_of("E1", "The fund held 4 million marks in 2019.", "a.example")
NEW = record_of("E2", "The fund held 6 million marks in 2024.", "b.example")
OTHER = record_of("E3", "The fund held 7 million marks in 2024.", "c.example")


def test_a_newer_value_replaces_an_older_one_and_never_the_reverse() -> None:
    ledger = ledger_of(OLD, NEW)
    assert find_replaced(ledger, [["E1", "E2"]]) == {"E1": "E2"}
    assert find_replaced(ledger, [["E2", "E1"], ["E1", "E9"], ["E1"]]) == {}


def test_a_chain_of_values_ends_with_the_newest() -> None:
    newest = record_of("E4", "The fund held 9 million marks in 2026.", "d.example")
    ledger = ledger_of(OLD, NEW, newest)
    assert find_replaced(ledger, [["E1", "E2"], ["E2", "E4"]]) == {"E1": "E4", "E2": "E4"}


def test_the_date_of_a_claim_comes_before_that_of_its_page() -> None:
    assert date_of_statement(OLD) == "2019"
    undated = replace(OLD, claim="The fund held 4 million marks.")
    assert date_of_statement(undated) == "2026-01-01"


def test_disagreements_need_independent_sources() -> None:
    ledger = ledger_of(NEW, OTHER, record_of("E5", "The fund held 8 million.", "c.example"))
    [(one, other)] = find_disagreements(ledger, [["E2", "E3"]])
    assert (one.id, other.id) == ("E2", "E3")
    assert find_disagreements(ledger, [["E3", "E5"]]) == []


def test_a_cell_needs_a_quote_with_its_value_and_its_entity() -> None:
    ledger = ledger_of(NEW)
    assert has_value(ledger, NEW, "the fund", "6 million marks")
    assert not has_value(ledger, NEW, "the fund", "7 million marks")
    assert not has_value(ledger, NEW, "Velden bank", "6 million marks")
    assert not has_value(ledger, NEW, "the fund", "6 million golden marks")


def test_both_sides_follow_each_other() -> None:
    ledger = ledger_of(NEW, OTHER)
    ledger.book.oppose(NEW, OTHER)
    between = Statement("Something else.", ("E9",))
    one, other = Statement(NEW.claim, ("E2",)), Statement(OTHER.claim, ("E3",))
    joined = join_rivals(Draft((), (Section("A1", (one, between, other)),)), ledger)
    assert joined.sections[0].statements == (one, other, between)
    inserted = join_rivals(Draft((), (Section("A1", (one, between)),)), ledger)
    assert inserted.sections[0].statements == (one, other, between)
    assert with_both_sides((one,), joined.sections, ledger) == (one, other)


def test_a_short_report_does_not_repeat_its_table() -> None:
    cell = Relations(cells={("fund", "sum"): Cell("6 million", ("E2",))})
    one, more = Statement("One.", ("E2",)), Statement("More.", ("E3",))
    draft = Draft((), (Section("A1", (one, more)), Section("A2", (one,))))
    kept = [section.statements for section in without_tabled(draft, cell).sections]
    assert kept == [(more,), (one,)]


def test_a_report_numbers_sources_and_knows_the_records_of_each_place() -> None:
    same_page = record_of("E4", "The fund was founded in Ys.", "b.example")
    ledger = ledger_of(NEW, same_page)
    ledger.relations = Relations(
        True, {}, ("fund", "bank"), ("sum",), {("fund", "sum"): Cell("6 million", ("E2",))}
    )
    one, other = Statement(same_page.claim, ("E4",)), Statement(NEW.claim, ("E2",))
    rendered = render_report(ledger, Draft((one,), (Section("A1", (other,)),)), "", 0, 0)
    [citation] = rendered.citations
    assert citation.evidence_ids == ("E4", "E2")
    assert citation.places == (("E4",), ("E2",), ("E2",))
    assert "| fund | 6 million [1] |" in rendered.markdown
    assert "| bank | not found |" in rendered.markdown
    assert rendered.markdown.count("- [1] ") == 1 and "\ue000" not in rendered.markdown


async def test_a_survey_s_table_has_right_cells_only() -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s2")
    found = await research(question, "quick")
    assert "## Comparison" in found.report.markdown
    assert "not found" in found.report.markdown
