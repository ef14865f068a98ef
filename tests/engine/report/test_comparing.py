"""Comparing the findings: what code accepts of the model's pairs and cells."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bench.survey.__main__ import research
from bench.survey.measure import rows
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell, KeyFigure, Relations, ToldChange
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import FigureAnswer, RecalledAnswer
from research.engine.llm_tasks.compare import relate_drafted
from research.engine.llm_tasks.compared_findings import (
    carried_over,
    find_disagreements,
    find_replaced,
    settle_suspected_disputes,
)
from research.engine.llm_tasks.draft import earlier_values
from research.engine.records import AspectState, Evidence, Source
from research.engine.report.checking.lacking import explain_faults
from research.engine.report.checking.statement_check import find_faults
from research.engine.report.checking.table_values import find_figures, find_recalled
from research.engine.report.draft import Draft, Fault, Section, Statement
from research.engine.report.outline import (
    with_other_findings,
    with_thin_sections_marked,
)
from research.engine.report.parts.comparison import has_value, render_comparison, render_figures
from research.engine.report.parts.dating import (
    asks_for_changes,
    counts_otherwise,
    date_of_statement,
    earlier_amounts,
    is_alike,
    with_previous_values,
)
from research.engine.report.parts.disagreement import gather_rivals, with_both_sides
from research.engine.report.parts.repetitions import (
    told_once,
    without_recalled,
    without_replaced,
    without_tabled,
)
from research.engine.report.parts.timeline import timeline_of, without_events
from research.engine.report.rendering.markdown import count_words, render_report
from research.engine.report.report_format import (
    TRIES,
    Layout,
    cost_by_words,
    most_words,
    shorten,
)
from research.engine.report.report_i18n import labels_for
from research.engine.run import Question
from research.engine.threads.seed import ReportFormat
from tests.engine.scripted import (
    Answer,
    Oracle,
    Part,
    Ran,
    Script,
    Web,
    World,
    ledger,
    page,
    quoted,
    sections_of,
)


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


def on_day(record: Evidence, day: str) -> Evidence:
    """Return a record whose pages were published on a day."""
    return replace(record, sources=tuple(replace(s, published=day) for s in record.sources))


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Some of us remember figures, and I suspect they have changed.", True),
        ("How large is the fund, compared with about ten years ago?", True),
        ("Give a dated timeline of the fund.", True),
        ("Wie hoch war der Fonds vor zehn Jahren?", True),
        ("What does a fund really change for its owner?", False),
        ("How much does the fund hold?", False),
    ],
)
def test_a_question_asks_for_changes_that_looks_back(question: str, asks: bool) -> None:
    assert asks_for_changes(question) is asks


def test_an_earlier_value_that_the_draft_tells_is_not_told_again() -> None:
    ledger = ledger_of(OLD, NEW)
    ledger.relations = Relations(replaced={"E1": "E2"})
    both = Statement("The fund held 6 million marks in 2024 and 4 in 2019.", ("E2", "E1"))
    one = Statement(NEW.claim, ("E2",))
    silent = Statement(NEW.claim, ("E2", "E1"))

    def earlier(said: Statement) -> tuple[str, ...]:
        draft = Draft((), (Section("A1", (said,)),))
        told = with_previous_values(draft, ledger)
        return told.sections[0].statements[0].earlier

    assert (earlier(one), earlier(both), earlier(silent)) == (("E1",), (), ("E1",))
    told = Statement("It rose from 4 million marks in 2019 to 6 million in 2024.", ("E2", "E1"))
    assert find_faults(Draft((), (Section("A1", (told,)),)), ledger) == []
    assert without_replaced(Draft((told,), ()), ledger.relations).short_answer == (told,)


def test_a_section_is_given_earlier_values_once_only_where_changes_are_asked_for() -> None:
    ledger = ledger_of(OLD, NEW)
    ledger.relations = Relations(replaced={"E1": "E2"})

    def given(question: str) -> dict[str, tuple[Evidence, str]]:
        run: Any = SimpleNamespace(ledger=ledger, question=Question(question, "2026-01-01"))
        return earlier_values(run, [NEW], ["How much is in it?"])

    told = given("How has the fund changed since 2019? I suspect that it has changed.")
    assert told == given("How much does the fund hold?")
    assert told == {"E2": (ledger.book.records["E1"], "2019")}
    ledger.began = Form.REPAIRED
    assert given("How much does the fund hold?") == {}
    assert given("How has the fund changed since 2019? I suspect that it has changed.") == told


def test_an_earlier_value_is_told_where_the_newer_one_is() -> None:
    was = on_day(record_of("E1", "The fine is 900 talers.", "a.example"), "2014-05")
    now = on_day(
        record_of("E2", "The fine is 3,200 talers, and work stops.", "b.example"), "2023-05"
    )
    ledger = ledger_of(was, now)
    ledger.relations = Relations(replaced={"E1": "E2"})
    aside, said = Statement("Work stops.", ("E2",)), Statement("The fine is 3,200 talers.", ("E2",))
    told = with_previous_values(Draft((), (Section("A1", (aside, said)),)), ledger)
    assert [each.earlier for each in told.sections[0].statements] == [(), ("E1",)]
    before = Statement("Until 2023 it was 900 talers.")
    told = with_previous_values(Draft((), (Section("A1", (said, before)),)), ledger)
    assert told.sections[0].statements[0].earlier == (), "the section tells it"


def test_a_later_page_that_repeats_a_replaced_value_does_not_bring_it_back() -> None:
    new = on_day(record_of("E2", "Since July 2023 the salt dose is 22 mg.", "b.example"), "2023-08")
    first = on_day(record_of("E1", "The salt dose is 35 mg.", "a.example"), "2014-02-01")
    late = on_day(record_of("E3", "For salt the dose is 35 mg today.", "c.example"), "2025-04-12")
    other = on_day(record_of("E4", "For salt the dose is 40 mg today.", "d.example"), "2025-04-12")
    ledger = ledger_of(first, new, late, other)
    pairs = [["E1", "E2"], ["E3", "E2"], ["E4", "E2"]]
    assert find_replaced(ledger, pairs) == {"E1": "E2", "E3": "E2"}
    assert find_replaced(ledger, [["E1", "E2"], ["E2", "E3"]]) == {"E1": "E2"}
    both = replace(first, sources=(*first.sources, *late.sources))
    assert find_replaced(ledger_of(both, new), [["E1", "E2"]]) == {"E1": "E2"}
    ledger.relations = Relations(True, {"E1": "E2", "E3": "E2"})
    draft = Draft((), (Section("A1", (Statement(new.claim, ("E2",)),)),))
    late_only = replace(ledger.relations, replaced={"E3": "E2"})
    ledger.relations, both_known = late_only, ledger.relations
    assert with_previous_values(draft, ledger) == draft
    ledger.relations = both_known
    [section] = with_previous_values(draft, ledger).sections
    assert section.statements[0].earlier == ("E1",)


def test_a_third_claim_tells_which_value_was_first_and_its_repetitions_are_outdated() -> None:
    new = record_of("E1", "The soundings of 2010 found mud in 71 percent of the lake.", "a.example")
    old = record_of("E2", "Mud fills 48 percent of the lake.", "b.example")
    again = record_of("E3", "As much as 48 percent of the lake has mud.", "c.example")
    later = record_of("E4", "In 2025 mud filled 48 percent of the lake.", "c.example")
    apart = record_of("E5", "Reeds grow on 48 percent of its bank.", "d.example")
    larch = record_of("E7", "Mud fills 48 percent of Lake Larch.", "e.example")
    birch = record_of("E8", "Mud fills 48 percent of Lake Birch.", "f.example")
    assert is_alike(old, larch) and is_alike(old, birch) and not is_alike(larch, birch)
    told = record_of(
        "E6", "Mud was thought to fill 48 percent of the lake, but filled 71 percent.", "e.example"
    )
    turned = replace(
        told, claim="Mud fills 71 percent of the lake; it was thought to be 48 percent."
    )
    pairs = [["E2", "E1"]]
    assert find_replaced(ledger_of(new, old, again, later, apart), pairs) == {}
    ledger = ledger_of(new, old, again, later, apart, told)
    assert find_replaced(ledger, pairs) == {"E2": "E1", "E3": "E1"}
    assert find_replaced(ledger_of(new, old, again, turned), pairs) == {}


def test_another_number_of_the_same_things_may_be_newer_whatever_else_is_said() -> None:
    old = on_day(record_of("E1", "At present seven stores serve the coast.", "a.example"), "2021")
    new = on_day(record_of("E2", "With Tannholm there are 11 stores.", "b.example"), "2026")
    apart = on_day(record_of("E3", "The fund owns 11 quarries.", "c.example"), "2026")
    ledger, pairs = ledger_of(old, new, apart), [["E1", "E2"], ["E1", "E3"]]
    assert find_replaced(ledger, pairs) == {"E1": "E2"}
    elsewhere = replace(new, aspect_id="A9")
    assert counts_otherwise(old, new) and not counts_otherwise(old, elsewhere)


def test_an_earlier_figure_beside_the_current_one_is_marked() -> None:
    ledger = ledger_of(RECALLED, RECALLING)
    said = Statement("The dose had stood at 35 mg and is now 22 mg.", ("E2",))
    draft = Draft((), (Section("A1", (said,)),))
    layout = Layout(names_sources=True)
    assert "(earlier" not in render_report(ledger, draft, "", 0, 0, layout).markdown
    ledger.relations = Relations(True, {"E1": "E2"})
    shown = render_report(ledger, draft, "", 0, 0, layout).markdown
    assert "is now 22 mg (earlier: 35 mg; b.example, January 2020). [1]" in shown
    plain = replace(layout, is_direct=False)
    assert "(earlier" not in render_report(ledger, draft, "", 0, 0, plain).markdown
    assert earlier_amounts("The dose had stood at 35 mg.", ("E2",), ledger) == []
    ledger.relations = Relations(True, recalled={"E2": frozenset({"35"})})
    assert earlier_amounts(said.body, ("E2",), ledger) == ["35 mg"]


def test_an_earlier_value_must_stand_beside_another_in_its_claim() -> None:
    ledger = ledger_of(RECALLED, RECALLING)

    def found(finding: str, value: str) -> dict[str, frozenset[str]]:
        return find_recalled(ledger, [RecalledAnswer(finding=finding, value=value)])

    assert found("[E2]", "35 mg") == {"E2": frozenset({"35"})}
    for finding, value in (("E1", "35 mg"), ("E2", "36 mg"), ("E2", "much"), ("E9", "35 mg")):
        assert found(finding, value) == {}


RECALLING = on_day(
    record_of("E2", "The salt dose, which had stood at 35 mg, is now 22 mg.", "b.example"),
    "2020-01",
)
RECALLED = on_day(record_of("E1", "The salt dose is 35 mg.", "a.example"), "2025-01-01")


def test_a_value_that_a_newer_claim_recalls_is_replaced_whatever_its_page_is_dated() -> None:
    ledger = ledger_of(RECALLED, RECALLING)
    assert find_replaced(ledger, [["E1", "E2"]]) == {"E1": "E2"}
    assert find_replaced(ledger, [["E2", "E1"]]) == {"E1": "E2"}


def test_a_recalled_value_is_neither_told_nor_shown_as_the_current_one() -> None:
    ledger = ledger_of(RECALLED, RECALLING)
    ledger.relations = Relations(True, {"E1": "E2"})
    now = Statement("The dose is now 22 mg.", ("E2",))
    old = Statement("The dose is 35 mg.", ("E2",))
    dated = Statement("Until 2020 the dose was 35 mg.", ("E2",))
    draft = Draft((old, now), (Section("A1", (now, old, dated)),))
    kept = without_recalled(draft, ledger)
    assert (kept.short_answer, kept.sections[0].statements) == ((now,), (now, dated))
    assert with_previous_values(kept, ledger) == kept
    said = [FigureAnswer(name=f"salt dose {n}", value=v, evidence=["E2"])
            for n, v in enumerate(("22 mg", "35 mg", "22 mg", "22 mg"))]  # fmt: skip
    figures = find_figures(ledger, said, ledger.relations.replaced)
    assert [figure.value for figure in figures] == ["22 mg"] * 3


def test_the_date_of_a_claim_comes_before_that_of_its_page() -> None:
    assert date_of_statement(OLD) == "2019"
    undated = replace(OLD, claim="The fund held 4 million marks.")
    assert date_of_statement(undated) == "2026-01-01"
    accounts = replace(OLD, claim="The accounts for 2019 show 4 million marks.")
    assert date_of_statement(accounts) == "2019"
    sold = replace(OLD, claim="It was sold for 2000 euros.")
    assert date_of_statement(sold) == "2026-01-01"


def test_disagreements_need_independent_sites() -> None:
    ledger = ledger_of(NEW, OTHER, record_of("E5", "The fund held 8 million.", "c.example"))
    [(one, other)] = find_disagreements(ledger, [["E2", "E3"]])
    assert (one.id, other.id) == ("E2", "E3")
    assert find_disagreements(ledger, [["E3", "E5"]]) == []


def test_a_site_that_tells_both_sides_makes_them_no_less_independent() -> None:
    """A page that sets out who holds what is among the sources of both."""
    one, other = (
        replace(record, sources=(*record.sources, *record_of("E9", "", "both.example").sources))
        for record in (NEW, OTHER)
    )
    ledger = ledger_of(one, other)
    assert len(find_disagreements(ledger, [["E2", "E3"]])) == 1
    ledger.began = Form.REPAIRED
    assert find_disagreements(ledger, [["E2", "E3"]]) == []


def test_two_holders_disagree_on_one_site_too() -> None:
    one, other = (replace(record, sources=NEW.sources) for record in (NEW, OTHER))
    ledger = ledger_of(one, other)
    assert find_disagreements(ledger, [["E2", "E3"]]) == []
    for holders, many in (({"E2": "The Court", "E3": "the court"}, 0), ({"E2": "A", "E3": "B"}, 1)):
        ledger.relations = replace(ledger.relations, holders=holders)
        assert len(find_disagreements(ledger, [["E2", "E3"]])) == many


@pytest.mark.parametrize(
    ("pair", "carried"),
    [
        (["[E1]", "E3", "what it held"], [["E2", "E3", "what it held"]]),
        (["E3", "E1"], [["E3", "E2"]]),
        (["E2", "E3"], [["E2", "E3"]]),
        (["E1", "E2"], []),  # the newer value is the other side
        (["E1", "E4"], []),  # the other side has the newer value, too
        (["E1"], []),
    ],
)
def test_a_replaced_record_leaves_its_disputes_to_the_newer_one(
    pair: list[str], carried: list[list[str]]
) -> None:
    same = record_of("E4", "The fund held 6 million marks in 2024.", "d.example")
    ledger = ledger_of(OLD, NEW, OTHER, same)
    assert carried_over(ledger, [pair], {"E1": "E2"}) == carried


async def test_a_dispute_of_a_replaced_record_is_told() -> None:
    for form, rivals in ((Form.COMPUTED, ("E3",)), (Form.REPAIRED, ())):
        known = ledger_of(OLD, NEW, OTHER)

        async def refresh() -> None:
            pass

        run: Any = SimpleNamespace(
            form=form, ledger=known, refresh_aspects=refresh,
            question=SimpleNamespace(text=known.question),
        )  # fmt: skip
        await relate_drafted(run, [["E1", "E2"]], [["E1", "E3", "what the fund held"]])
        assert known.book.records["E2"].contradicts == rivals
        assert (("E2", "E3") in known.relations.matters) == bool(rivals)


def test_a_cell_needs_a_quote_with_its_value_and_its_entity() -> None:
    assert has_value(NEW, "the fund", "6 million marks")
    assert not has_value(NEW, "the fund", "7 million marks")
    assert not has_value(NEW, "Velden bank", "6 million marks")
    assert not has_value(NEW, "the fund", "6 million golden marks")


def test_both_sides_follow_each_other() -> None:
    ledger = ledger_of(NEW, OTHER)
    ledger.book.oppose(NEW, OTHER)
    between = Statement("Something else.", ("E9",))
    one, other = Statement(NEW.claim, ("E2",)), Statement(OTHER.claim, ("E3",))
    joined = gather_rivals(Draft((), (Section("A1", (one, between, other)),)), ledger)
    assert joined.sections[0].statements == (one, other, between)
    inserted = gather_rivals(Draft((), (Section("A1", (one, between)),)), ledger)
    assert inserted.sections[0].statements == (one, other, between)
    assert with_both_sides((one,), joined.sections, ledger) == (one, other)


def test_the_other_side_stays_behind_all_that_is_told_of_the_one() -> None:
    ledger = ledger_of(NEW, OTHER)
    ledger.book.oppose(NEW, OTHER)
    said = (
        Statement("Its size is disputed.", ("E2",)),
        Statement(NEW.claim, ("E2",)),
        Statement(OTHER.claim, ("E3",)),
    )
    joined = gather_rivals(Draft((), (Section("A1", said),)), ledger)
    assert joined.sections[0].statements == said


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
    assert "| bank | – |" in rendered.markdown
    assert rendered.markdown.count("- [1] ") == 1 and "\ue000" not in rendered.markdown


def test_a_superseded_value_is_told_once_with_its_date_and_contradicts_nothing() -> None:
    ledger = ledger_of(OLD, NEW)
    ledger.book.oppose(OLD, NEW)
    ledger.book.reconcile("E1")
    assert not ledger.book.records["E1"].contradicts + ledger.book.records["E2"].contradicts
    ledger.relations = Relations(True, {"E1": "E2"})
    said, old = Statement(NEW.claim, ("E2",)), Statement(OLD.claim, ("E1",))
    both = Statement("It grew from 4 to 6 million marks.", ("E1", "E2"))
    outdated = Draft((old, said), (Section("A1", (old,)), Section("A2", (both, old))))
    kept = without_replaced(outdated, ledger.relations)
    assert (kept.short_answer, kept.sections) == ((said,), (Section("A2", (both,)),))
    draft = Draft((said,), (Section("A1", (said,)), Section("A2", (said,))))
    first, second = with_previous_values(draft, ledger).sections
    folded = replace(said, earlier=("E1",))
    assert (first.statements, second.statements) == ((folded,), (said,))
    shown = render_report(ledger, Draft((said,), (first,)), "", 0, 0).markdown
    assert "held 6 million marks in 2024 (earlier: 4 million marks, 2019). [1][2]" in shown


def test_key_figures_are_few_and_stand_in_quotes() -> None:
    bees = record_of("E4", "The city has 7,340 hives in 2025.", "d.example")
    ledger = ledger_of(OLD, NEW, OTHER, bees)

    def figure(name: str, value: str, *ids: str) -> FigureAnswer:
        return FigureAnswer(name=name, value=value, evidence=[*ids])

    told = [
        figure("money of the fund", "6 million marks", "E2"),
        figure("hives in the city", "7,340 hives", "E4"),
        figure("hives in the city", "7,341 hives", "E4"),
        figure("debt of the fund", "7 million marks", "E3", "E9"),
        figure("old fund", "4 million marks", "E1"),
    ]
    found = find_figures(ledger, told, {"E1": "E2"})
    assert [(each.name, each.date) for each in found] == [
        ("money of the fund", "2024"), ("hives in the city", "2025"), ("debt of the fund", "2024"),
    ]  # fmt: skip
    assert find_figures(ledger, told[:2], {}) == ()
    box = render_figures(Relations(figures=found), labels_for("en"), lambda ids: "[1]")
    assert "| Hives in the city | **7,340 hives** [1] | 2025 |" in box
    assert render_figures(Relations(), labels_for("en"), lambda ids: "[1]") == ""
    undated = Relations(figures=tuple(replace(each, date="") for each in found))
    box = render_figures(undated, labels_for("en"), lambda ids: "[1]")
    assert "| Hives in the city | **7,340 hives** [1] |\n" in box and "As of" not in box


def test_the_extremes_of_a_column_need_one_measure() -> None:
    def table(*values: str, language: str = "en") -> str:
        rows = ("Ash", "Elm", "Oak")
        cells = {(row, "height"): Cell(v, ("E1",)) for row, v in zip(rows, values, strict=False)}
        relations = Relations(True, {}, rows, ("height",), cells)
        return render_comparison(relations, labels_for("en"), lambda ids: "[1]", language)

    told = "- height: highest for Elm (1,200 m [1]), lowest for Ash (30 m [1])"
    assert table("30 m", "1,200 m", "400 m").endswith(told)
    assert table("30 m", "1,200 m").endswith(f"{told} (2 of 3 found)")
    assert "highest" not in table("30 m", "12 kg") + table("tall", "30 m") + table("30 m", "30 m")
    shared = table("50 m", "50 m", "30 m") + table("50 m", "30 m", "30 m")
    assert "highest" not in shared + table("1.200 €", "900 €", "80 €", language="de")
    assert "lowest for Ash (12,5 %" in table("12,5 %", "90 %", "13 %", language="de-AT")


def test_what_alone_answers_a_sub_question_is_left_out_last() -> None:
    first, again, sole, other = (Statement(f"{n}.", (f"E{n}",)) for n in range(4))
    answered = {"0.": {"A1"}, "1.": {"A1"}, "2.": {"A2"}, "3.": {"A3"}}
    draft = Draft((first, again, other), (Section("A2", (again, sole)), Section("A3", (other,))))

    def cut(most: int) -> list[str]:
        def is_short(left: Draft) -> bool:
            return len(left.statements) <= most

        short = shorten(
            draft, is_short, lambda _: False, lambda said: answered[said.text], cost_by_words
        )
        return [said.text for said in short.statements]

    assert cut(4) == ["0.", "1.", "3.", "2."]
    assert cut(3) == ["0.", "3.", "2."]
    assert cut(2) == ["0.", "3."]


def test_a_form_s_own_length_comes_before_that_of_the_depth() -> None:
    forms, depths = ("full", "longer", "memo", "faq"), ("quick", "standard", "thorough")
    assert [[most_words(ReportFormat(f), d) for d in depths] for f in forms] == [
        [400, 1500, None],
        [2500, 2500, None],
        [600, 600, 600],
        [1500, 1500, None],
    ]


def test_words_are_counted_without_headings_markers_and_sources() -> None:
    assert count_words("# A b\n\nOne two. [1][2]\n\n## C\n\n- Three\n\n### Cited\n\n- [1] D") == 3
    assert count_words("灯塔有四十米高。 [1]") == 4
    table = "| a | b |\n| --- | --- |\n| 4 – 5 | – |"
    assert count_words(table) == 4


def test_a_thorough_report_says_who_says_it() -> None:
    ledger = ledger_of(NEW, replace(OTHER, sources=(*OTHER.sources, *NEW.sources)))
    one, both = Statement(NEW.claim, ("E2",)), Statement(OTHER.claim, ("E3",))
    draft = Draft((one,), (Section("A1", (one, both)),))
    plain = render_report(ledger, draft, "", 0, 0).markdown
    named = render_report(ledger, draft, "", 0, 0, Layout(names_sources=True)).markdown
    assert "marks in 2024. [1]" in plain and "(2 sources" not in plain
    assert "6 million marks in 2024 (b.example, 1 January 2026). [1]" in named
    assert "7 million marks in 2024 (2 sources, 2026). [1][2]" in named
    for said, shown in (
        ("高。", "高 (b.example, 1 January 2026)。"),
        ("x", "x (b.example, 1 January 2026)"),
    ):
        draft = Draft((one,), (Section("A1", (Statement(said, ("E2",)),)),))
        named = render_report(ledger, draft, "", 0, 0, Layout(names_sources=True)).markdown
        assert f"{shown} [1]" in named


def test_a_terse_report_has_a_line_on_support_only_where_it_calls_for_doubt() -> None:
    ledger = ledger_of(OLD, NEW)
    draft = Draft((), (Section("A1", (Statement(NEW.claim, ("E2",)),)),))
    usual = render_report(ledger, draft, "", 0, 0).markdown
    terse = render_report(ledger, draft, "", 0, 0, Layout(is_terse=True)).markdown
    assert "*○ Preliminary" in usual and "*○ Preliminary" not in terse
    ledger.set_aspect("A1", state=AspectState.DISPUTED)
    assert "*⚠ " in render_report(ledger, draft, "", 0, 0, Layout(is_terse=True)).markdown


def test_a_dispute_that_a_model_s_report_tells_nothing_of_is_settled() -> None:
    ledger = ledger_of(OLD, NEW)
    ledger.set_aspect("A1", state=AspectState.DISPUTED)
    draft = Draft((), (Section("A1", (Statement(NEW.claim, ("E2",)),)),))
    assert "*⚠ " not in render_report(ledger, draft, "", 0, 0).markdown
    by_code = replace(draft, by_code=True)
    assert "*⚠ " in render_report(ledger, by_code, "", 0, 0).markdown


def test_a_terse_report_quotes_only_the_side_of_a_dispute_that_it_does_not_tell() -> None:
    ledger = ledger_of(NEW, OTHER)
    ledger.book.oppose(NEW, OTHER)
    said = (Statement(NEW.claim, ("E2",)),)
    draft = Draft((), (Section("A1", said),), by_code=True)

    def listed(layout: Layout) -> list[str]:
        told = render_report(ledger, draft, "", 0, 0, layout).markdown
        return [line for line in told.splitlines() if line.startswith("- ") and "“" in line]

    assert len(listed(Layout(is_brief=True))) == 2
    [line] = listed(Layout(is_brief=True, is_terse=True))
    assert OTHER.claim in line


def test_both_sides_of_a_dispute_stand_in_one_box() -> None:
    ledger = ledger_of(NEW, OTHER, OLD)
    ledger.book.oppose(NEW, OTHER)
    one, two, other = (Statement(r.claim, (r.id,)) for r in (NEW, OTHER, OLD))
    draft = Draft((one, two), (Section("A1", (one, two, other)),))
    told = render_report(ledger, draft, "", 0, 0).markdown
    assert f"{NEW.claim} [1] ⚠ Sources disagree: {OTHER.claim} [2]" in told
    _, section = told.split("\n## ", 1)
    head, _, *sides = (line for line in section.splitlines() if line.startswith(">"))
    assert head == "> **⚠ Sources disagree:**" and "(⚠" not in told
    assert [NEW.claim in sides[0], OTHER.claim in sides[1], len(sides)] == [True, True, 2]
    draft = Draft((), (Section("A1", (one, other)),))
    told = render_report(ledger, draft, "", 0, 0).markdown
    assert f"– “{OTHER.claim}” [" in told and "## Sources disagree" not in told


def test_a_dense_report_loses_the_wordiest_of_all_sections_and_fills_what_room_is_left() -> None:
    said = [Statement(" ".join(["word"] * n), (f"E{n}",)) for n in (3, 4, 9, 8)]
    draft = Draft((), (Section("A1", (*said[:2], said[3])), Section("A2", (said[2],))))

    def is_short(less: Draft) -> bool:
        return sum(each.words for each in less.statements) <= 17

    short = shorten(
        draft, is_short, lambda _: False, lambda each: {"A2"} & {str(each.words)}, cost_by_words
    )  # fmt: skip
    assert short.statements == [said[0], said[1], said[2]]
    assert shorten(draft, is_short, lambda _: False, lambda _: set(), cost_by_words).statements == [
        said[0],
        said[1],
        said[2],
    ]
    spared = [replace(said[0], spare=2), replace(said[1], spare=1), *said[2:]]
    own = replace(draft, sections=(Section("A1", tuple(spared)),))
    short = shorten(own, is_short, lambda _: False, lambda _: set(), cost_by_words)
    assert short.statements == [*said[2:]], "its author would miss the first ones least"
    asked = Statement("The fund pays.", ("E1",))
    assert cost_by_words(asked, {"fund"}) < cost_by_words(asked, {"bank"}) == cost_by_words(asked)
    sources = replace(said[2], evidence=("E1", "E2"))
    assert cost_by_words(sources) < cost_by_words(said[3]) < cost_by_words(said[2])


@pytest.mark.parametrize("most", range(1, 41))
def test_a_length_is_found_with_few_reports_and_is_filled(most: int) -> None:
    said = tuple(Statement(" ".join(["word"] * (1 + n % 7)), (f"E{n}",)) for n in range(40))
    draft = Draft((), (Section("A1", said[:25]), Section("A2", said[25:])))
    tried: list[int] = []

    def is_short(less: Draft) -> bool:
        tried.append(len(less.statements))
        return len(less.statements) <= most

    short = shorten(draft, is_short, lambda _: False, lambda _: set(), cost_by_words)
    assert len(short.statements) == most and len(tried) <= 12 + TRIES
    words = sorted(each.words for each in said)
    assert sum(each.words for each in short.statements) <= sum(words[:most]) + 7


def test_a_dense_report_says_nothing_twice() -> None:
    ledger = ledger_of(OLD, NEW, OTHER)
    ledger.relations = Relations(
        True, entities=("a",), properties=("b",), cells={("a", "b"): Cell("4", ("E1",))}
    )
    summed, tabled = Statement(NEW.claim, ("E2",)), Statement(OLD.claim, ("E1",))
    other = Statement(OTHER.claim, ("E3",))
    draft = Draft((summed,), (Section("A1", (summed, tabled, other)), Section("A2", (summed,))))
    [section] = told_once(draft, ledger.relations, has_figures=True).sections
    assert section.statements == (other,)
    figures = Relations(True, figures=(KeyFigure("fund", "7 million", "2024", ("E3",)),))
    for has_figures, left in ((True, (tabled,)), (False, (tabled, other))):
        once = told_once(draft, figures, has_figures)
        assert once.sections[0].statements == left
    whole = told_once(draft, figures, has_figures=True, is_whole=True)
    assert whole.sections == draft.sections, "each section can be read by itself"
    numbered = replace(draft, short_answer=(replace(summed, by_number=True),))
    whole = told_once(numbered, figures, has_figures=True, is_whole=True)
    assert summed not in whole.sections[0].statements, "the author put it into the short answer"
    change = ToldChange("fund", "4", "6", "", ("E1",), ("E3",))
    whole = told_once(draft, Relations(True, changes=(change,)), has_figures=True, is_whole=True)
    assert whole.sections[0].statements == (summed,), "other changes stand in their table"
    whole = told_once(draft, ledger.relations, has_figures=True, is_whole=True)
    assert whole.sections[0].statements == (summed, other)


def test_a_brief_report_lists_the_key_figures_that_its_short_answer_leaves_out() -> None:
    ledger = ledger_of(NEW, OTHER)
    figures = tuple(KeyFigure(f"fund {i}", f"{i} million", "2024", (f"E{i}",)) for i in (2, 3))
    ledger.relations = Relations(True, figures=figures)
    draft = Draft((Statement(NEW.claim, ("E2",)),), ())
    for is_brief in (True, False):
        layout = Layout(is_brief=is_brief, has_figures=True)
        told = render_report(ledger, draft, "", 0, 0, layout).markdown
        assert ("- Fund 3: **3 million** (2024). [" in told) == is_brief
        assert ("| Fund 2 | **2 million** [" in told) != is_brief


def test_a_dense_report_whose_sections_have_all_figures_has_no_table_of_them() -> None:
    ledger = ledger_of(OLD, NEW, OTHER)
    figures = tuple(KeyFigure(f"fund {n}", f"{n} million", "2024", (f"E{n}",)) for n in (1, 2, 3))
    ledger.relations = Relations(True, figures=figures)
    for is_led in (False, True):
        layout = Layout(is_dense=True, has_figures=True, is_led=is_led)
        text = render_report(ledger, Draft((Statement(OLD.claim, ("E1",)),), ()), "", 0, 0, layout)
        assert ("| Fund 2 |" in text.markdown) is not is_led


def test_what_is_dated_after_the_report_is_called_so_and_is_not_its_newest_source() -> None:
    ledger = ledger_of(on_day(OLD, "2026-03-01"), on_day(NEW, "2026-12-09"))
    for record in ledger.evidence:
        source = ledger.sources[record.sources[0].url]
        ledger.put_source(replace(source, published=record.sources[0].published))
    draft = Draft((Statement(OLD.claim, ("E1",)), Statement(NEW.claim, ("E2",))), ())
    for today, newest in (("2026-11-27", "newest 1 March 2026"), ("", "newest 9 December 2026")):
        told = render_report(ledger, draft, "", 0, 0, Layout(today=today)).markdown
        assert newest in told
        assert ("9 December 2026, after the day of this report" in told) == bool(today)


async def test_a_quick_report_chooses_among_all_findings() -> None:
    [question] = [row for row in rows("questions.jsonl") if row["id"] == "s17"]
    found = await research(question, "quick")
    assert "## Key figures" in found.report.markdown
    assert count_words(found.report.markdown) <= 400
    per_page = Counter(source.url for record in found.evidence for source in record.sources)
    assert max(per_page.values()) > ResearchConfig().max_evidence_claims_per_research_unit


def test_other_findings_follow_what_the_draft_says_of_a_sub_question() -> None:
    drafted = record_of("E1", "The fund held 4 million marks in 2024.", "a.example")
    claims = (
        "A council of nine elects the treasurer.",
        "In 2024 the fund held 4 million marks, again.",
        "It is audited in May.",
        "Der Rat wählt den Schatzmeister und die Prüfer.",
        "The council meets in Harrow twice a year.",
    )
    others = [record_of(f"E{n}", claim, f"b{n}.example") for n, claim in enumerate(claims, 2)]
    ledger = ledger_of(drafted, *others)
    ledger.relations = Relations(True, replaced={"E6": "E2"})
    draft = Draft((), (Section("A1", (Statement(drafted.claim, ("E1",)),)),))
    [section] = with_other_findings(draft, ledger).sections
    assert [said.evidence for said in section.statements] == [("E1",), ("E2",)]


def test_a_dense_report_has_its_ending_at_the_end() -> None:
    ledger = ledger_of(NEW, OTHER)
    ledger.book.oppose(NEW, OTHER)
    ledger.relations = Relations(
        True, entities=("a", "c"), properties=("b",), cells={("a", "b"): Cell("4", ("E2",))}
    )
    quoted_one = Statement(
        f"**A page › A part:** “{OTHER.claim}”", ("E3",), True, "**A page › A part:** "
    )
    draft = Draft((), (Section("A1", (Statement(NEW.claim, ("E2",)), quoted_one)),))
    usual = render_report(ledger, draft, "Stopped", 0, 0).markdown
    dense = render_report(ledger, draft, "Stopped", 0, 0, Layout(is_dense=True)).markdown
    assert "| c | – |" in usual and "| c | – |" in dense
    assert usual.index("Stopped") < usual.index("## Sources") < dense.index("Stopped")
    assert f"– “{OTHER.claim}” [" in dense
    assert "A page" not in dense.partition("## Sources")[0]


def test_a_timeline_is_told_once_in_a_dense_report() -> None:
    known = ledger_of(NEW)
    known.question = "Give a timeline of the fund."
    known.aspects |= {part: replace(known.aspects["A1"], id=part) for part in ("A2", "A3")}
    events = tuple(Statement(f"The fund moved in May 201{n}.", ("E2",)) for n in range(5))
    rest = Statement(NEW.claim, ("E2",))
    draft = Draft((), (Section("A1", (*events, rest)), Section("A2", (rest,)), Section("A3", ())))
    told = without_events(draft, known)
    assert [each.statements for each in told.sections] == [(rest,), (rest,), ()]
    few = replace(draft, sections=(Section("A1", (*events[:2], rest)), *draft.sections[1:]))
    assert without_events(few, known) == few


def test_what_refers_back_or_has_the_date_of_its_page_is_no_event() -> None:
    known = ledger_of(NEW)
    known.question = "Give a timeline of the fund."
    known.aspects |= {part: replace(known.aspects["A1"], id=part) for part in ("A0", "A2")}
    days = [f"May 201{n}" for n in range(5)]
    events = [Statement(f"The fund moved in {day}.", ("E2",)) for day in days]
    others = [
        Statement("It was moved by nobody in June 2020.", ("E2",)),
        Statement("The fund, says an article of January 2026, still holds too much.", ("E2",)),
    ]
    draft = Draft((), tuple(Section(f"A{n}", (*events, *others)) for n in range(3)))
    assert [said for _, said in timeline_of(draft, known)] == events


CHOICE = Script(
    "Which is better, Alto or Corsair, by price and weight?",
    (
        Part("What do Alto and Corsair cost?", "Alto Corsair price", ("costs",)),
        Part("What do Alto and Corsair weigh?", "Alto Corsair weight", ("weighs",)),
    ),
)
SOLD = ("The Alto costs 400 marks.", "The Corsair costs 300 marks.")
WEIGHED = ("The Alto weighs 20 kilograms.", "The Corsair weighs 30 kilograms.")


async def _choose(*told: tuple[str, str, str]) -> tuple[World, Ran]:
    """Return a run of few findings whose draft has a cell for each opening of a statement."""
    pages = [
        page(f"https://{host}.example/", " ".join(facts), f"Alto and Corsair: {name}")
        for facts, name in ((SOLD, "price"), (WEIGHED, "weight"))
        for host in (f"{name}-one", f"{name}-two")
    ]

    def with_cells(answer: Answer) -> Answer:
        cells = [
            {"entity": thing, "property": name, "value": value,
             "evidence": re.findall(r"E\d+", " ".join(
                 s for s in answer["statements"] if thing in s and value in s))}
            for thing, name, value in told
        ]  # fmt: skip
        return {**answer, "cells": cells}

    model = Oracle(CHOICE)
    model.twists["draft"] = with_cells
    world = World(Web(pages), model)
    return world, await world.ask(CHOICE.question)


async def test_a_choice_with_few_findings_has_a_table_from_its_draft() -> None:
    world, ran = await _choose(
        ("Alto", "price", "400 marks"), ("Corsair", "price", "300 marks"),
        ("Alto", "weight", "20 kilograms"), ("Corsair", "weight", "999 kilograms"),
        ("Corsair", "weight", "30 kilograms"),
    )  # fmt: skip
    assert world.model and "compare" not in world.model.tasks
    asked = next(r for r in world.model.requests if r.task == "draft")
    assert sections_of(asked.prompt)["THINGS COMPARED"] == "Alto, Corsair"
    rows = [line for line in ran.report.markdown.splitlines() if line.startswith("| ")]
    told = [re.sub(r" ?\[\d+\]", "", row) for row in rows]
    assert told == [
        "|  | Price | Weight |", "| --- | --- | --- |",
        "| Alto | 400 marks | 20 kilograms |", "| Corsair | 300 marks | 30 kilograms |",
    ]  # fmt: skip
    again = await world.replay(CHOICE.question)
    assert again.report == ran.report


async def test_one_property_makes_no_table_of_a_draft() -> None:
    _, ran = await _choose(("Alto", "price", "400 marks"), ("Corsair", "price", "300 marks"))
    assert "| Alto" not in ran.report.markdown


@pytest.mark.parametrize(
    "one, other, compared, left",
    [
        (
            "The jars do not react to a detector.",
            "The jars go unnoticed by a detector.",
            "E1 E2",
            False,
        ),
        (
            "The jars do not react to a detector.",
            "The jars go unnoticed by a detector.",
            "E1",
            True,
        ),
        ("The jars react to a detector.", "The jars do not react to a detector.", "E1 E2", True),
        ("The jars weigh 4 kilograms.", "The jars weigh 9 kilograms.", "E1 E2", False),
    ],
)
def test_a_suspected_dispute_ends_where_a_comparison_of_both_finds_none(
    one: str, other: str, compared: str, left: bool
) -> None:
    ledger = ledger_of(record_of("E1", one, "a.example"), record_of("E2", other, "b.example"))
    ledger.book.oppose(*ledger.book.records.values())
    settle_suspected_disputes(ledger, compared.split())
    assert [each.contradicts for each in ledger.book.records.values()] == (
        [("E2",), ("E1",)] if left else [(), ()]
    )


def test_a_thin_section_says_that_no_more_was_found_where_nothing_was_left_out() -> None:
    claims = ("The fund lends boats in May.", "A clerk counts the oars.", "A bell calls at noon.")
    records = [record_of(f"E{n}", claim, f"{n}.example") for n, claim in enumerate(claims)]
    said = [Statement(each.claim, (each.id,)) for each in records]
    known = ledger_of(*records)
    for statements, is_whole in ((said, True), (said[:2], False), (said * 2, False)):
        draft = Draft((), (Section("A1", tuple(statements)),))
        [section] = with_thin_sections_marked(draft, known).sections
        assert (section.statements, section.all_found) == (tuple(statements), is_whole)
        told = render_report(known, Draft((), (section,)), "", 0, 0).markdown
        assert ("no more was found on this*" in told) is is_whole


def test_what_only_a_forum_says_is_no_key_figure() -> None:
    ledger = ledger_of(NEW, OTHER)
    url = OTHER.sources[0].url
    ledger.put_source(replace(ledger.sources[url], kind="forum"))
    figures = tuple(KeyFigure(f"fund {i}", f"{i} million", "2024", (f"E{i}",)) for i in (2, 3))
    ledger.relations = Relations(True, figures=figures)
    draft = Draft((), (Section("A1", (Statement(NEW.claim, ("E2",)),)),))
    shown = render_report(ledger, draft, "", 0, 0, Layout(has_figures=True)).markdown
    assert "2 million" in shown and "3 million" not in shown


def test_words_that_a_source_spells_otherwise_are_not_told_as_lacking() -> None:
    told = "Single board computers need 8GB, preferably on SSDs."
    made = ledger_of(replace(record_of("E1", told, "a.example"), claim="It prefers hard disks."))
    said = Statement("A cheap single-board computer needs 8 GB on an SSD or hard disk.", ("E1",))
    [fault] = explain_faults([Fault(1, said, "adds")], made, frozenset({"adds"}))
    assert fault.reason == "adds: 'cheap' is in none of its quotes"
