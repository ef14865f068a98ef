"""Figures that nothing shows to be current: their dates and marks, and quotations of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.survey.__main__ import research
from bench.survey.measure import rows
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell, Relations
from research.engine.evidence.store import EvidenceStore
from research.engine.journal.forms import Form
from research.engine.llm_tasks.compared_findings import find_replaced, with_doubts
from research.engine.records import Evidence
from research.engine.report.draft import Computation, Draft, Section, Statement
from research.engine.report.parts.dating import (
    Stale,
    age_mark,
    date_of_statement,
    earlier_amounts,
    previous_values,
    stated_date,
)
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import labels_for
from research.engine.text.dates import latest_date
from tests.engine.report.test_comparing import ledger_of, on_day, record_of

WORDS, STALE = labels_for("en"), Stale.on("2026-11-01")


def dictated(record: Evidence) -> Evidence:
    return replace(record, uncertainty=("dictated",))


def mark(ledger: Ledger, claim: str, is_named: bool = False) -> str:
    return age_mark(Statement(claim, ("E1",)), ledger, STALE, WORDS, is_named)


@pytest.mark.parametrize(
    ("claim", "day", "told"),
    [
        ("The fund pays out 4 million marks.", "2019-03-01", "older figure, 2019"),
        ("The fund paid out 4 million marks in 2019.", "2026-03-01", ""),
        ("The fund paid out 4 million marks in 2014.", "2026-03-01", "older figure"),
        ("The accounts for 2014 have 4 million marks.", "2014-12-01", "older figure"),
        ("Since a law of 2019 was passed; the fund pays 4 million marks.", "2019-12-01", ""),
        (
            "The fund pays 4 million marks, while in 2016 it paid 3.",
            "2019-12-01",
            "older figure, 2019",
        ),
        ("The fund pays out 4 million marks.", "2025-03-01", ""),
        ("On 4 May 2019 the fund got 4 million marks.", "2019-06-01", ""),
        ("In 1889 the fund held 4 million marks.", "1990-01-01", ""),
        ("Appeals go to the provost.", "2018-02-01", "older source, 2018"),
        ("Appeals go to the provost.", "2023-02-01", ""),
    ],
)
def test_what_may_have_been_overtaken_is_marked_with_its_year(
    claim: str, day: str, told: str
) -> None:
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), day))
    assert mark(ledger, claim) == told
    assert mark(ledger, claim, is_named=True) == told.partition(",")[0]


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Of all trials 31 percent end without a verdict.", "older figure, 2019"),
        ("The number of jurors on call is forty.", "older figure, 2019"),
        ("On average a trial takes 5 days.", "older figure, 2019"),
        ("The court has 68,500 people on its roll.", "older figure, 2019"),
        ("Wer klagt, zahlt 2,5 Prozent.", "older figure, 2019"),
        ("A charge that carries more than 5 years in prison goes to a jury.", "older source, 2019"),
        ("A verdict must have 7 votes and cost 120 talers.", "older source, 2019"),
        ("Two names may be struck.", "older source, 2019"),
        ("He spent 2,240 days in prison in 2019.", ""),
        ("Four hundred people were heard, and it was over.", ""),
        ("The drum was bought because the computer had failed.", ""),
    ],
)
def test_the_number_of_a_rule_or_an_event_is_no_older_figure(claim: str, told: str) -> None:
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), "2019-03-01"))
    assert mark(ledger, claim) == told


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The Guild counted 41,500 helpers on duty.", "older figure, 2019"),
        ("A gong let the traffic go.", "older source, 2019"),
    ],
)
def test_what_the_comparison_calls_final_has_no_mark(claim: str, told: str) -> None:
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), "2019-08-01"))
    assert mark(ledger, claim) == told
    ledger.relations = Relations(True, final=frozenset({"E1", "E9"}))
    assert mark(ledger, claim) == ""


def test_the_old_records_of_a_statement_make_it_final() -> None:
    claim = "The Guild counted 41,500 helpers on duty."
    old = on_day(record_of("E1", claim, "a.example"), "2019-08-01")
    new = on_day(record_of("E2", claim, "b.example"), "2025-08-01")
    ledger, said = ledger_of(old, new), Statement(claim, ("E1", "E2"))
    assert age_mark(said, ledger, STALE, WORDS) == "older figure, 2019"
    for final, told in (("E1", ""), ("E2", "older figure, 2019")):
        ledger.relations = Relations(True, final=frozenset({final}), doubted={"E1": "E2"})
        assert age_mark(said, ledger, STALE, WORDS) == (told and "may be outdated")
        ledger.relations = replace(ledger.relations, doubted={})
        assert age_mark(said, ledger, STALE, WORDS) == told


def test_a_sentence_that_gives_both_values_has_no_mark() -> None:
    old = on_day(record_of("E1", "The fund held 4 million marks.", "a.example"), "2016")
    new = on_day(record_of("E2", "The fund held 6 million marks.", "b.example"), "2019")
    ledger = ledger_of(old, new)
    said = Statement("The fund rose from 4 to 6 million marks.", ("E1", "E2"))
    assert age_mark(said, ledger, STALE, WORDS) == "older figure, 2019"
    ledger.relations = Relations(True, {"E1": "E2"})
    assert age_mark(said, ledger, STALE, WORDS) == ""


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Boats are out by nine.", "may be outdated"),
        ("Most boats were out by nine.", ""),
        ("Boats are out early.", ""),
    ],
)
def test_only_a_figure_that_may_still_hold_is_doubted(claim: str, told: str) -> None:
    ledger = ledger_of(on_day(record_of("E1", "Boats go out by nine.", "a.example"), "2025-08"))
    ledger.relations = Relations(True, doubted={"E1": "E2"})
    assert mark(ledger, claim) == told


@pytest.mark.parametrize(
    ("claim", "date"),
    [
        ("Learners drive 24 hours, as against 15 hours under the rules of 2018.", ""),
        ("A fee of 40 marks is due, which since 2018 has included the boat.", ""),
        ("The limit is 40 marks; until 2025 it was 55 marks.", ""),
        ("Deaths fell from 546 in 2017 to 318, the lowest of all, in 2026.", "2026"),
        ("In 2016 the toll was 4 marks, with 3 marks for children.", "2016"),
        ("The fund has 4 million marks, according to the accounts of 2019.", "2019"),
        ("Since 2018, when the bridge opened, the toll has been 4 marks.", "2018"),
        ("Die Frist beträgt 40 Tage, während sie bis 1.4.2018 nur 15 Tage betrug.", ""),
        ("The act was repealed in 2019, which had been passed in 2015.", "2019"),
    ],
)
def test_a_figure_has_the_date_of_its_clause(claim: str, date: str) -> None:
    record = on_day(record_of("E1", claim, "a.example"), "2026-03-01")
    assert stated_date(record) == date
    assert date_of_statement(record) == (date or "2026-03-01")
    assert stated_date(replace(record, dates_clauses=False)) == latest_date(claim) != ""


def test_records_of_earlier_runs_keep_their_dates() -> None:
    record = record_of("E1", "It is 40 marks; until 2025 it was 55 marks.", "a.example")
    store = EvidenceStore(dates_clauses=False)
    assert stated_date(store.take_over(record)) == "2025"


def test_a_figure_is_as_old_as_its_first_appearance() -> None:
    claim = "The fund pays out 4 million marks."
    again = "Each year 4 million marks are paid out by the fund."
    first = on_day(record_of("E2", again, "b.example"), "2019-03-01")
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), "2026-03-01"), first)
    assert mark(ledger, claim) == "older figure, 2019"
    other = on_day(record_of("E2", "The fund pays out 3 million marks.", "b.example"), "2019-03-01")
    assert mark(ledger_of(ledger.book.records["E1"], other), claim) == ""


def test_only_a_single_site_makes_an_old_source_of_what_is_no_figure() -> None:
    claim = "Appeals go to the provost."
    one = on_day(record_of("E1", claim, "a.example"), "2018-02-01")
    other = on_day(record_of("E9", claim, "b.example"), "2018-03-01")
    both = replace(one, sources=(*one.sources, *other.sources))
    assert mark(ledger_of(one), claim) == "older source, 2018"
    assert mark(ledger_of(both), claim) == ""


def test_a_figure_without_any_date_is_marked_where_most_pages_have_one() -> None:
    claim = "The fund pays out 4 million marks."
    undated = record_of("E1", claim, "a.example")
    sources = tuple(replace(source, published=None) for source in undated.sources)
    ledger = ledger_of(replace(undated, sources=sources))
    said, told = Statement(claim, ("E1",)), replace(STALE, tells_undated=True)
    assert age_mark(said, ledger, told, WORDS) == "undated"
    assert age_mark(said, ledger, STALE, WORDS) == ""


@pytest.mark.parametrize(
    ("claim", "date"),
    [
        ("The archive server-2019-08-11 is restored with one command.", ""),
        ("restoring <Snapshot at 2015-05-08 21:40:19.884408621 +0200> to /tmp", ""),
        ("; set balances 2016/1/1 opening balances assets:cash = $42 equity:opening", ""),
        ("Enter its balance on that day. For example, to begin on 2008-01-01, enter 42.", ""),
        ("For example, it was closed; it has been open since 3 May 2019.", "2019-05-03"),
        ("The fee was raised on 2015-05-08.", "2015-05-08"),
    ],
)
def test_days_in_names_and_in_what_a_program_prints_date_no_claim(claim: str, date: str) -> None:
    assert stated_date(record_of("E1", claim, "a.example")) == date


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("It keeps two full copies.", "older source, 2019"),
        ("It keeps 2 full copies.", "older figure, 2019"),
        ("It keeps 22 full copies.", "older figure, 2019"),
    ],
)
def test_of_what_is_compared_a_small_number_in_words_is_no_figure(claim: str, told: str) -> None:
    known = ledger_of(on_day(record_of("E1", claim, "a.example"), "2019-03-04"))
    known.relations = Relations(True, cells={("tool", "copies"): Cell("copies", ("E1",))})
    assert mark(known, claim) == told


def test_a_word_for_one_is_no_figure() -> None:
    claim = "By repairing sentences one learns."
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), "2022-03-01"))
    assert mark(ledger, claim) == ""


def test_the_mark_stands_in_the_sentence_and_before_a_quotation() -> None:
    claim = "The fund pays out 4 million marks."
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), "2019-03-01"))
    said = Statement(claim, ("E1",))
    quoted = Statement(f"**A:** “{claim}”", ("E1",), quoted=True, lead_in="**A:** ")
    draft = Draft((), (Section("A1", (said, quoted)),))
    layout = Layout(stale=STALE)
    told = render_report(ledger, draft, "", 0, 0, layout).markdown
    assert "4 million marks (older figure, 2019)." in told
    assert "“The fund pays out 4 million marks” (older figure, 2019; a.example)." in told
    order = "Reports must state that the fund pays out 4 million marks."
    known = ledger_of(replace(dictated(ledger.book.records["E1"]), claim=order))
    told = render_report(known, draft, "", 0, 0, layout).markdown
    assert "**a.example, in its own words:** (older figure, 2019) “The fund pays" in told
    assert "older figure" not in render_report(ledger, draft, "", 0, 0, Layout()).markdown


def test_a_computed_figure_is_as_old_as_the_calculation() -> None:
    claim = "The fund pays out 4 million marks."
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), "2019-03-01"))
    said = Statement(claim, ("E1",))
    computed = replace(said, computed=Computation("difference", ("E1",)))
    shown = [age_mark(each, ledger, STALE, WORDS) for each in (said, computed)]
    assert shown == ["older figure, 2019", ""]


def test_a_quotation_outdates_no_figure_of_another_measure() -> None:
    distress = "Read the share of jurors who report distress off the table for 2024: 9.7 percent."
    trust = "The share of people who trust the jury is put at 71.4 percent in the tables for 2026."
    old = dictated(on_day(record_of("E1", distress, "a.example"), "2026-04"))
    new = on_day(record_of("E2", trust, "b.example"), "2026-10")
    known = ledger_of(old, new)
    assert find_replaced(known, []) == {}


def test_what_may_only_be_quoted_is_told_as_no_earlier_value() -> None:
    old = dictated(on_day(record_of("E1", "The fund held 4 million marks.", "a.example"), "2019"))
    new = on_day(record_of("E2", "The fund held 6 million marks.", "b.example"), "2024")
    known = ledger_of(old, new)
    known.relations = Relations(True, {"E1": "E2"})
    assert previous_values(known) == {}


def test_a_pair_that_no_date_orders_leaves_a_doubt_unless_more_sites_give_the_figure() -> None:
    old = record_of("E1", "Water from Ashmouth costs 9 marks.", "a.example")
    new = record_of("E2", "Water from Ashmouth costs 12 marks.", "b.example")
    ledger = ledger_of(old, new)
    pairs = [["E1", "E2"]]
    assert find_replaced(ledger, pairs) == {}
    ledger.relations = with_doubts(ledger, Relations(True), pairs)
    assert mark(ledger, old.claim) == "may be outdated"
    both = replace(old, sources=(*old.sources, *record_of("E9", old.claim, "c.example").sources))
    assert with_doubts(ledger_of(both, new), Relations(True), pairs).doubted == {}


def test_a_newer_value_in_other_words_leaves_a_doubt_if_both_answer_the_same() -> None:
    old = record_of("E1", "In the kennels of Tollgate one mostly meets the boxer.", "a.example")
    new = record_of("E2", "The main breed of Tollgate is the Airedale.", "b.example")
    found = with_doubts(ledger_of(old, new), Relations(True), [["E1", "E2"]])
    assert found.doubted == {"E1": "E2"}
    elsewhere = ledger_of(old, replace(new, aspect_id="A2"))
    assert with_doubts(elsewhere, Relations(True), [["E1", "E2"]]).doubted == {}


def test_a_quotation_of_an_older_value_is_outdated_and_never_outdates_a_claim() -> None:
    old = dictated(on_day(record_of("E1", "The fund held 4 million marks.", "a.example"), "2019"))
    new = on_day(record_of("E2", "The fund held 6 million marks.", "b.example"), "2024")
    assert find_replaced(ledger_of(old, new), []) == {"E1": "E2"}
    later = replace(old, sources=on_day(old, "2026").sources)
    assert find_replaced(ledger_of(later, new), []) == {}


def test_a_quotation_dates_the_first_appearance_of_a_claim_s_value() -> None:
    first = dictated(on_day(record_of("E1", "The dose is 35 mg.", "a.example"), "2014"))
    late = on_day(record_of("E2", "The dose is 35 mg today.", "b.example"), "2026")
    new = on_day(record_of("E3", "The dose is 22 mg now.", "c.example"), "2025")
    ledger = ledger_of(first, late, new)
    assert find_replaced(ledger, [["E2", "E3"]])["E2"] == "E3"


def test_a_number_that_two_claims_only_happen_to_share_leaves_no_doubt() -> None:
    old = "Most people who say that they were there go to bed at nine."
    both = "People say that 73 babies were born, and nine were given a name that means right."
    claim = on_day(record_of("E1", old, "a.example"), "2015")
    quoted = dictated(on_day(record_of("E2", both, "b.example"), "2025"))
    ledger = ledger_of(claim, quoted)
    assert with_doubts(ledger, Relations(True), []).doubted == {}
    ledger.began = Form.COMPUTED
    assert with_doubts(ledger, Relations(True), []).doubted == {"E1": "E2"}


def test_a_quotation_that_recalls_a_claim_s_figure_marks_it_as_earlier() -> None:
    old = on_day(record_of("E1", "The fine for poaching is 35 marks.", "a.example"), "2015")
    both = "Signs threaten a fine of 35 marks for poaching, although it is 120 marks."
    quoted = dictated(on_day(record_of("E2", both, "b.example"), "2025"))
    found = with_doubts(ledger_of(old, quoted), Relations(True), [])
    assert found.recalled == {"E2": frozenset({"35"})} and found.doubted == {"E1": "E2"}


@pytest.mark.parametrize("replaced", [{}, {"E1": "E2"}])
@pytest.mark.parametrize("by_how_much", ["", "85 marks more, "])
def test_a_quotation_doubts_no_claim_of_its_newest_figure(
    replaced: dict[str, str], by_how_much: str
) -> None:
    old = on_day(record_of("E1", "The fine for poaching is 35 marks.", "a.example"), "2015")
    new = on_day(record_of("E2", "The fine for poaching is 120 marks.", "b.example"), "2025-02")
    both = f"The fine for poaching was raised to 120 marks, {by_how_much}having been 35 marks."
    quoted = dictated(on_day(record_of("E3", both, "c.example"), "2025-03"))
    ledger, known = ledger_of(old, new, quoted), Relations(True, replaced)
    is_known = bool(replaced) or not by_how_much
    ledger.relations = with_doubts(ledger, known, [])
    assert ("E2" not in ledger.relations.doubted) == is_known
    assert earlier_amounts(both, ["E3"], ledger) == ["35 marks"]


def test_a_quotation_doubts_both_claims_where_they_appeared_at_once() -> None:
    one = on_day(record_of("E1", "The fine for poaching is 35 marks.", "a.example"), "2024")
    two = on_day(record_of("E2", "The fine for poaching is 120 marks.", "b.example"), "2024")
    both = "The fine for poaching was changed to 120 marks, having been 35 marks."
    quoted = dictated(on_day(record_of("E3", both, "c.example"), "2025"))
    found = with_doubts(ledger_of(one, two, quoted), Relations(True), [])
    assert found.doubted == {"E1": "E3", "E2": "E3"}


@pytest.mark.parametrize(("day", "earlier"), [("2021", ["35 marks"]), ("2024-11", [])])
def test_a_quotation_calls_the_only_known_figure_earlier_if_it_is_much_older(
    day: str, earlier: list[str]
) -> None:
    claim = on_day(record_of("E1", "The fine for poaching is 35 marks.", "a.example"), day)
    both = "The fine for poaching stands at 35 marks, and 120 marks stood on the older signs."
    quoted = dictated(on_day(record_of("E2", both, "b.example"), "2025-03"))
    ledger = ledger_of(claim, quoted)
    ledger.relations = with_doubts(ledger, Relations(True), [])
    assert ledger.relations.doubted == {"E1": "E2"}
    assert earlier_amounts(both, ["E2"], ledger) == earlier


async def test_the_newest_figure_of_a_quotation_is_not_outdated() -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s22")
    report = (await research(question, "standard")).report.markdown
    assert "comes to 27.5 talers for each trainee and day" in report
    assert "comes to 27.5 talers for each trainee and day (may be outdated" not in report


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Appeals in Kelmar go to the provost.", "older source, 2022"),
        ("Appeals in Ashmouth go to the provost.", ""),
        ("Tenants in Kelmar trust the provost.", ""),
    ],
)
def test_what_is_compared_is_dated_although_no_cell_has_it(claim: str, told: str) -> None:
    ledger = ledger_of(on_day(record_of("E1", claim, "a.example"), "2022-06-01"))
    ledger.relations = Relations(True, {}, ("Kelmar", "Vintry"), ("appeals", "caseload"))
    assert mark(ledger, claim) == told
