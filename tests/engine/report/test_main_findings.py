"""The short answer of a broad report: which finding opens it, in which order, and how it looks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.survey.__main__ import research
from bench.survey.measure import rows
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell, Relations
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.records import AspectState, Criterion, GateResult, Source
from research.engine.report.draft import Draft, Section, Statement, cite_ids
from research.engine.report.parts.comparison import told_columns
from research.engine.report.parts.main_findings import (
    MainFindings,
    first_clause,
    lead_with_findings,
    most_direct,
)
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout, cost_by_words
from research.engine.report.report_gate import LEFT_OUT, as_delivered
from research.engine.report.report_i18n import labels_for
from tests.engine.scripted import ledger, page, quoted

WHY, COST, NATURE = (
    "Why was the Vastrel dam removed?",
    "What did the removal of the Vastrel dam cost?",
    "What became of the fish behind the Vastrel dam?",
)
OPENED = "The exhibition on the Vastrel dam was opened on 4 May 2021."
CRACKED = "The Vastrel dam was removed because its foundation had cracked."
WORRIED = "Critics say that the Vastrel dam should have stayed."
PAID = "The removal of the Vastrel dam cost 41 million marks."
LONG_AGO = "The removal of the Vastrel dam cost 12 million marks in 2009."
RETURNED = "Salmon returned to the river above the Vastrel dam."
IT = "It took them two years to pass the dam."
FOUND = (
    ("A1", OPENED), ("A1", CRACKED), ("A1", WORRIED), ("A2", LONG_AGO), ("A2", PAID),
    ("A3", IT), ("A3", RETURNED),
)  # fmt: skip


@pytest.fixture
def known() -> Ledger:
    made, _ = ledger(WHY, COST, NATURE, question="Survey the removal of the Vastrel dam.")
    for number, (aspect, text) in enumerate(FOUND):
        source = page(f"https://s{number}.example/", text, published="2024-01-02")
        made.put_page(source)
        made.put_source(Source(source.url, source.title, source.domain, 1, status="cited"))
        made.book.add(Finding(text, aspect, quoted(source, text), 0.9), 1)
    for aspect in ("A1", "A2", "A3"):
        made.set_aspect(aspect, state=AspectState.ANSWERED)
    return made


def said(text: str) -> Statement:
    number = next(n for n, (_, claim) in enumerate(FOUND, 1) if claim == text)
    return Statement(text, (f"E{number}",))


SECTIONS = tuple(
    Section(part, tuple(said(text) for aspect, text in FOUND if aspect == part))
    for part in ("A1", "A2", "A3")
)


def led(known: Ledger, *given: Statement, most: int = 200) -> list[str]:
    return [each.text for each in lead_with_findings(known, given, SECTIONS, most, {})]


def test_findings_come_before_events_opinions_old_figures_and_what_leans_back(
    known: Ledger,
) -> None:
    best = [MainFindings(known).ranked(section)[0].text for section in SECTIONS]
    assert best == [CRACKED, PAID, RETURNED]
    main = MainFindings(known)
    asides = [text for part, text in FOUND if main.is_aside(said(text), part)]
    assert asides == [OPENED, WORRIED, IT]


def test_the_key_claim_of_a_sub_question_is_what_answers_it_most_directly(known: Ledger) -> None:
    for record in known.evidence:  # by relevance alone an event would come first
        if record.claim in {OPENED, IT}:
            known.book.records[record.id] = replace(record, relevance=1.0)
    assert [known.supporting(part)[0].claim for part in ("A1", "A3")] == [OPENED, IT]
    leading = most_direct(known)
    assert leading == {part: said(text).evidence for part, text in zip(
        ("A1", "A2", "A3"), (CRACKED, PAID, RETURNED), strict=True)}  # fmt: skip
    known.refresh_aspects(leading=leading)
    assert known.aspects["A1"].evidence_ids[0] == said(CRACKED).evidence[0]


@pytest.mark.parametrize(
    ("text", "is_aside"),
    [
        ("Since July 2023 all water has to be filtered.", False),
        ("In July 2023 a water filter was stolen.", True),
        ("My uncle lost his boat.", True),
        ("According to the 2020 census 40 people fish there.", False),
        ("Experts believe that fish avoid turbines.", True),
    ],
)
def test_what_holds_since_a_day_is_no_event_and_a_memory_no_finding(
    known: Ledger, text: str, is_aside: bool
) -> None:
    assert MainFindings(known).is_aside(Statement(text, ("E2",)), "A2") is is_aside


def test_an_event_is_no_aside_where_it_is_asked_for(known: Ledger) -> None:
    known.set_aspect("A1", text="When was the exhibition on the dam opened?")
    assert not MainFindings(known).is_aside(said(OPENED), "A1")


def test_more_sites_and_the_words_of_the_sub_question_count(known: Ledger) -> None:
    both = Statement("Salmon and trout are back.", ("E7", "E2"))
    section = Section("A3", (said(RETURNED), both))
    assert MainFindings(known).ranked(Section("A3", (both, said(RETURNED))))[0] == said(RETURNED)
    plain = replace(section, statements=(Statement("Trout are back.", ("E7",)), both))
    assert MainFindings(known).ranked(plain)[0] == both


def test_the_short_answer_follows_the_plan_and_leaves_no_part_out(known: Ledger) -> None:
    assert led(known, said(RETURNED), said(OPENED)) == [CRACKED, PAID, RETURNED]
    assert led(known) == [CRACKED, PAID, RETURNED]


def test_an_event_is_told_once_under_whichever_sub_question(known: Ledger) -> None:
    again = Statement(
        "The opening of the exhibition on the Vastrel dam was on 4 May 2021, say those who came.",
        ("E7",),
    )
    known.set_aspect("A1", text="When was the exhibition opened?")
    assert led(known, said(OPENED), again) == [OPENED, PAID, RETURNED]


def test_what_the_model_words_itself_stays_behind_a_finding(known: Ledger) -> None:
    own = Statement("An exhibition opened on 4 May 2021.", ("E1",))
    assert led(known, own) == [CRACKED, own.text, PAID, RETURNED]
    words = sum(len(text.split()) for text in (CRACKED, PAID, RETURNED))
    assert led(known, own, most=words) == [CRACKED, PAID, RETURNED]


def test_a_sentence_on_all_parts_opens_it(known: Ledger) -> None:
    whole = Statement("The cracked dam went for 41 million marks.", ("E2", "E5", "E7"))
    assert led(known, whole, said(PAID))[0] == whole.text


def test_each_part_is_an_item_and_two_are_none(known: Ledger) -> None:
    draft = Draft(tuple(map(said, (CRACKED, PAID, RETURNED))), SECTIONS)
    told = render_report(known, draft, "", 0, 0).markdown
    assert f"**Short answer.**\n\n- {CRACKED} [1]\n- {PAID} [2] (" in told
    assert f"\n- {RETURNED} [3]\n\n*" in told
    earlier = render_report(known, draft, "", 0, 0, Layout(is_direct=False)).markdown
    assert f"**Short answer.** {CRACKED} [1] {PAID} [2]" in earlier
    few = render_report(known, replace(draft, short_answer=draft.short_answer[:2]), "", 0, 0)
    assert f"**Short answer.** {CRACKED} [1] {PAID} [2]" in few.markdown


@pytest.mark.parametrize("form", [Form.COMPUTED, Form.EDITED])
def test_each_part_is_answered_before_the_steps_without_repeating_them(
    known: Ledger, form: Form
) -> None:
    known.began = form
    whole = replace(said(CRACKED), is_verdict=True)
    again = replace(said(CRACKED), about="A1")
    step = replace(said(RETURNED), text="Let salmon return to the river above the Vastrel dam.")
    short = (whole, again, replace(said(PAID), about="A2"), replace(said(RETURNED), about="A3"))
    draft = Draft(short, SECTIONS, next_steps=(step,))
    layout = Layout(is_led=True)
    top = render_report(known, draft, "", 0, 0, layout).markdown.partition("## ")[0]
    assert top.count(CRACKED) == 1 and top.count("1. Let salmon return") == 1
    if form < Form.EDITED:
        assert "\n- " not in top
        return
    assert RETURNED not in top, "the step says it"
    places = [top.index(text) for text in (CRACKED, "**What did the removal of the", "1. Let")]
    assert places == sorted(places)


def test_a_report_that_was_cut_names_the_parts_on_which_it_says_nothing(known: Ledger) -> None:
    draft = Draft((said(CRACKED),), SECTIONS[:1])
    told = render_report(known, draft, "", 0, 0).markdown
    assert f"*Found, but left out for length: {COST}; {NATURE}*" in told
    whole = render_report(known, replace(draft, sections=SECTIONS), "", 0, 0).markdown
    assert "left out for length" not in whole


def test_a_cell_of_the_comparison_gives_way_to_its_column(known: Ledger) -> None:
    cells = {
        ("Vastrel", "cost"): Cell("41 million marks", ("E5",)),
        ("Tressay", "cost"): Cell("12 million marks", ("E4",)),
        ("Vastrel", "fish"): Cell("salmon", ("E7",)),
    }
    relations = Relations(True, {}, ("Vastrel", "Tressay"), ("cost", "fish"), cells)
    columns = told_columns(relations, labels_for("en"), "en")
    text = (
        "**Cost:** highest for Vastrel (41 million marks), lowest for Tressay (12 million marks)."
    )
    assert {i: each.text for i, each in columns.items()} == {"E5": text, "E4": text}
    short = lead_with_findings(known, [said(PAID)], SECTIONS, 200, columns)
    assert [each.text for each in short] == [CRACKED, text, RETURNED]
    names = {place: Cell("free", cell.evidence) for place, cell in cells.items()}
    listed = replace(relations, cells=names)
    labelled = told_columns(listed, labels_for("en"), "en")["E5"]
    assert labelled.text == "**Cost:** Vastrel: free; Tressay: free."
    assert labelled.body == "Vastrel: free; Tressay: free."


def test_of_what_a_length_cuts_off_no_more_is_to_be_had() -> None:
    met, short = Criterion("share", 1, 0.9), Criterion("share", 0.4, 0.9)
    assert as_delivered((met, short), (short, short)) == (
        replace(short, unavailable=LEFT_OUT),
        short,
    )
    assert as_delivered((met,), (met,)) == (met,)


async def test_the_gate_is_that_of_the_delivered_report_and_reopens_nothing() -> None:
    """A quick report of the survey loses key claims to its length."""
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s15")
    found = await research(question, "quick")
    gate = [each for each in found.of(GateResult) if each.gate == "draft"][-1]
    cited = {i for citation in found.report.citations for i in citation.evidence_ids}
    keys = [each for each in found.evidence if each.key]
    share = next(each for each in gate.criteria if each.name.startswith("share of key claims"))
    assert share.value == pytest.approx(sum(each.id in cited for each in keys) / len(keys))
    assert share.value < share.minimum and share.unavailable == LEFT_OUT
    assert gate.decision == "not_to_be_had"


def test_a_lead_stands_in_the_short_answer_with_its_first_clause(known: Ledger) -> None:
    said = cite_ids("Jurors get 145 talers for each day [E1], and meals are free [E2].", known)
    assert (first_clause(said).text, first_clause(said).evidence) == (
        "Jurors get 145 talers for each day.",
        ("E1",),
    )
    for whole in (
        "Jurors get it [E1], and meals are free [E2].",
        "Jurors get 145 talers for each day [E1], unless they come late [E2].",
        "Meals are free. [E1, E2]",
    ):
        assert first_clause(cite_ids(whole, known)).text == cite_ids(whole, known).text


def test_a_statement_costs_its_words_for_each_clause_with_evidence(known: Ledger) -> None:
    one = cite_ids("The jury sits at ten and rises for lunch and goes home. [E1]", known)
    two = cite_ids("The jury sits at ten [E1] and rises for lunch and goes home. [E2]", known)
    assert two.words == one.words and cost_by_words(two) < cost_by_words(one) / 2
