"""Timelines of reports on a course of events."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.offline.questions.question import asks_for_course
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.key_claims import landmarks, lead_with_findings
from research.engine.report.parts.timeline import (
    merged_events,
    timeline_of,
    with_course_of_events,
    with_one_landmark,
    without_events,
    without_told_events,
)
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout
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
    assert asks_for_course(question, Form.COMPUTED) == asks


def test_where_one_author_wrote_all_sections_code_tells_no_course_of_events() -> None:
    known = known_of(*MOVES)
    told = tuple(Statement(each.claim, (each.id,)) for each in MOVES)
    for is_whole in (True, False):
        draft = Draft((), (Section("A1", told),), is_whole=is_whole)
        assert bool(timeline_of(draft, known)) is not is_whole
        fewer = replace(draft, sections=(Section("A1", told[:1]),))
        assert (with_course_of_events(fewer, known) == fewer) is is_whole
        assert (without_events(draft, known) == draft) is is_whole


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is the history of the Vastrel dam?", True),
        ("A brief history of the strike, please.", True),
        ("How did the strike come about?", True),
        ("Erzähl die Geschichte des Deichbaus.", True),
        ("Wie war der Hergang des Unglücks?", True),
        ("Quelle est l'histoire du barrage ?", True),
        ("¿Cuál es la historia de la presa?", True),
        ("Qual è la storia della diga?", True),
        ("Qual é a história da barragem?", True),
        ("Wat is de geschiedenis van de dam?", True),
        ("Which was the largest strike in the history of the mill?", False),
        ("How long does psql keep the history of commands?", False),
        ("Are patients with a history of cancer admitted?", False),
        ("Does the browser keep its history?", False),
        ("Wer war der älteste Müller in der Geschichte der Stadt?", False),
        ("Wer schrieb eine Geschichte von zwei Mühlen?", False),
        ("Quel fut le plus grand barrage dans l'histoire du pays ?", False),
        ("¿Cuál fue la mayor huelga en la historia del país?", False),
        ("Qual è stata la diga più alta nella storia del paese?", False),
        ("Qual foi a maior greve na história do país?", False),
        ("Wat was de grootste dam in de geschiedenis van het land?", False),
    ],
)
def test_the_history_of_something_is_its_course_of_events(question: str, asks: bool) -> None:
    assert asks_for_course(question, Form.EDITED) == asks
    assert not asks_for_course(question, Form.COMPUTED)


def test_dated_findings_that_were_left_out_answer_a_question_on_the_course_of_events() -> None:
    known = known_of(*MOVES)
    told = Statement(MOVES[0].claim, ("E0",))
    draft = Draft((), (Section("A1", (told,)),))
    added = with_course_of_events(draft, known)
    [section] = added.sections
    assert [said.evidence for said in section.statements] == [(f"E{n}",) for n in range(6)]
    known.aspects["A1"] = replace(known.aspects["A1"], text="How much does the fund hold?")
    assert with_course_of_events(draft, known) == draft


def test_the_line_of_the_section_counts_what_its_table_rests_on() -> None:
    elsewhere = replace(MOVES[1].sources[0], independence_key="9.example")
    known = known_of(*MOVES)
    known.book.take_over(replace(MOVES[1], sources=(*MOVES[1].sources, elsewhere)))
    told = Statement("The fund is old.", ("E0",))
    others = tuple(Statement(each.claim, (each.id,)) for each in MOVES[1:])
    known.aspects["A2"] = replace(known.aspects["A1"], id="A2", text="Where is the fund?")
    draft = Draft((), (Section("A1", (told,)), Section("A2", others)))
    shown = render_report(known, draft, "", 0, 0, Layout()).markdown
    _, _, course = shown.partition("## What is the course")
    assert "*◐ 1 of 6 statements confirmed by 2 sites or more*" in course.partition("| Date")[0]


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


def in_three_sections(known: Ledger, *said: Statement) -> Draft:
    """Return a draft with these statements in the section on the course of events, and two more."""
    rest = Statement("The fund is old.", ("E0",))
    for part in ("A2", "A3"):
        known.aspects[part] = replace(known.aspects["A1"], id=part, text=f"What is {part}?")
    return Draft((), (Section("A1", said), Section("A2", (rest,)), Section("A3", (rest,))))


def told_of(records: list[Evidence]) -> list[Statement]:
    return [Statement(each.claim, (each.id,)) for each in records]


def test_two_statements_on_one_event_are_one_row() -> None:
    again = record_of("E9", "The register enters the house number 3 under May 2013.", "9.example")
    other = record_of("E8", "A cook was hired in May 2013.", "8.example")
    known = known_of(*MOVES, again, other)
    draft = in_three_sections(known, *told_of([*MOVES, again, other]))
    rows = merged_events(timeline_of(draft, known), known)
    assert [event.evidence for event, _ in rows][3:5] == [("E3", "E9"), ("E8",)]


def test_a_timeline_that_nobody_asked_for_needs_more_events() -> None:
    known = known_of(*MOVES)
    draft = in_three_sections(known, *told_of(MOVES))
    assert len(timeline_of(draft, known)) == len(MOVES)
    known.aspects["A1"] = replace(known.aspects["A1"], text="Where was the fund?")
    assert timeline_of(draft, known) == []
    known.plan = replace(known.plan, output_format="A timeline, then the reasons.")
    assert len(timeline_of(draft, known)) == len(MOVES)


def test_few_events_are_a_timeline_where_the_question_asks_for_one() -> None:
    known = known_of(*MOVES)
    draft = Draft((), (Section("A1", tuple(told_of(MOVES[:3]))),))
    assert len(timeline_of(draft, known)) == 3
    known.began = Form.REPAIRED
    assert timeline_of(draft, known) == []


def test_a_year_dates_an_event_in_the_section_on_the_course_of_events() -> None:
    years = [
        record_of("E7", "The fund was closed in 1994.", "7.example"),
        record_of("E8", "The fund was at war with the bank from 1996 to 1998.", "8.example"),
    ]
    known = known_of(*MOVES[:2], *years)
    draft = Draft((), (Section("A1", tuple(told_of([*MOVES[:2], *years]))),))
    told = render_report(known, draft, "", 0, 0).markdown
    rows = [row.partition(" | ")[0] for row in told.splitlines() if row.startswith("| ")]
    assert rows[-4:] == ["| 1994", "| 1996 – 1998", "| May 2010", "| May 2011"]
    elsewhere = in_three_sections(known, *told_of(MOVES[:3]))
    elsewhere = replace(
        elsewhere, sections=(*elsewhere.sections, Section("A2", tuple(told_of(years))))
    )
    assert len(timeline_of(elsewhere, known)) == 3


def test_a_claim_is_an_event_though_it_opens_with_a_pronoun() -> None:
    act = record_of("E9", "It was in June 2012 that the Fund Act was passed.", "9.example")
    known = known_of(*MOVES, act)
    loose = Statement("It burnt down in June 2014.", ("E4",))
    events = timeline_of(in_three_sections(known, *told_of([*MOVES, act]), loose), known)
    assert act.claim in [said.body for _, said in events]
    assert loose not in [said for _, said in events]


def test_the_short_answer_has_the_first_the_weightiest_and_the_latest_event() -> None:
    claims = (
        "A baker founded the fund in May 2010.",
        "Two guards were hired in June 2011.",
        "The flood ruined the cellar in July 2012.",
        "A dentist chaired the fund from March 2013 on.",
        "The fund was closed in May 2014.",
        "After the flood the cellar was dry again.",
    )
    events = [record_of(f"E{n}", claim, f"{n}.example") for n, claim in enumerate(claims)]
    known = known_of(*events)
    draft = in_three_sections(known, *told_of(events))
    found = landmarks(draft, known)
    assert [said.evidence for said in found] == [("E0",), ("E2",), ("E4",)]
    assert {said.part for said in found} == {"A1"}
    chosen = [Statement("A dentist came next.", ("E3",))]
    assert [said.evidence for said in landmarks(draft, known, chosen)][1] == ("E3",)
    assert [said.evidence for said in with_one_landmark((*chosen, *found))] == [("E3",), ("E2",)]
    short = lead_with_findings(known, (), draft.sections, 200, {}, found)
    assert short[:3] == tuple(found)


@pytest.mark.parametrize("is_dense", [False, True])
def test_the_short_answer_says_where_all_events_stand(is_dense: bool) -> None:
    known = known_of(*MOVES)
    draft = in_three_sections(known, *told_of(MOVES))
    parts = (replace(draft.sections[at].statements[0], part=f"A{at + 1}") for at in range(1, 3))
    draft = replace(draft, short_answer=(*landmarks(draft, known), *parts))
    layout = Layout(is_led=True, is_dense=is_dense)
    told = render_report(known, draft, "", 0, 0, layout).markdown
    item = next(line for line in told.splitlines() if "6 events from" in line)
    assert item.endswith("6 events from May 2010 to May 2015 follow below in their order.")
    assert item.startswith("- **What is the course of events")
    assert ("\n| May 2013 | " in told) != is_dense
    assert ("\n- The fund moved to its house number 3" in told) == is_dense


TWO = record_of(
    "E9", "The fund bought a mill in March 2016, and in April 2017 the barn was sold.", "9.example"
)


def rows_of(told: str) -> list[str]:
    return [line for line in told.splitlines() if line.startswith("| ") and "201" in line]


def test_a_sentence_with_two_dates_has_a_row_for_each() -> None:
    known = known_of(*MOVES, TWO)
    told = render_report(known, in_three_sections(known, *told_of([*MOVES, TWO])), "", 0, 0)
    rows = rows_of(told.markdown)
    assert len(rows) == len(MOVES) + 2
    assert rows[-2].startswith("| March 2016 | The fund bought a mill in March 2016. [")
    assert rows[-1].startswith("| April 2017 | The barn was sold. [")
    known.began = Form.REPAIRED
    before = render_report(known, in_three_sections(known, *told_of([*MOVES, TWO])), "", 0, 0)
    assert len(rows_of(before.markdown)) == len(MOVES)


def test_a_sentence_of_which_the_timeline_tells_a_part_stays_in_its_section() -> None:
    known = known_of(*MOVES, TWO)
    day = "2017-04-03"  # of the page, too, so that the second date may be that of the page
    dated = replace(
        TWO, sources=tuple(replace(s, published=day, quote="Sold.") for s in TWO.sources)
    )
    known.book.records["E9"] = dated
    said = Statement("A mill was bought in March 2016, and in April 2017 a barn was sold.", ("E9",))
    draft = in_three_sections(known, *told_of(MOVES), said)
    events = timeline_of(draft, known)
    assert [date for date, each in events if each == said] == [(2016, 3, None)]
    assert said in [
        each for part in without_events(draft, known).sections for each in part.statements
    ]


def test_a_span_is_told_by_both_of_its_ends() -> None:
    strike = record_of("E9", "The strike lasted from March 2016 to April 2017.", "9.example")
    known = known_of(*MOVES, strike)
    told = render_report(known, in_three_sections(known, *told_of([*MOVES, strike])), "", 0, 0)
    assert rows_of(told.markdown)[-1].startswith("| March 2016 – April 2017 | The strike lasted")


def test_what_a_section_tells_in_full_is_brief_in_the_timeline() -> None:
    long = record_of(
        "E9",
        "However, in March 2016 the old house of the fund was sold, so that its clerks moved to a "
        "barn.",
        "9.example",
    )
    known = known_of(*MOVES, long)
    known.aspects["A1"] = replace(known.aspects["A1"], text="Where is the fund?")
    known.question = COURSE
    told = render_report(known, in_three_sections(known, *told_of([*MOVES, long])), "", 0, 0)
    assert "| March 2016 | The old house of the fund was sold. [" in told.markdown
    assert long.claim in told.markdown, "in its section"


def rows_below(known: Ledger, draft: Draft, **form: bool) -> list[str]:
    """Return the rows of a draft's timeline, or the items of a dense one."""
    told = render_report(known, draft, "", 0, 0, Layout(**form)).markdown
    body = re.sub(r" (?:\[\d+\])+", "", told.partition("## Sources")[0])
    return [line for line in body.splitlines() if line.startswith(("| ", "- ")) and "201" in line]


LABEL = Statement("June 2013: the fund elected its board on 3 June 2013.", ("E3",), is_item=True)


@pytest.mark.parametrize(
    "rough",
    [
        "The fund elected its first board in June 2013.",
        "June 2013: the fund elected its board.",
        "The fund elected its board in 2013.",
    ],
)
def test_an_event_whose_month_and_day_are_told_is_one_row(rough: str) -> None:
    known = known_of(*MOVES)
    day = Statement("On 3 June 2013 the fund elected its board.", ("E4",))
    cook = Statement("A cook was hired on 2 June 2013.", ("E5",))
    draft = in_three_sections(known, *told_of(MOVES[:3]), day, Statement(rough, ("E3",)), cook)
    assert rows_below(known, draft)[3:] == [
        "| 2 June 2013 | A cook was hired on 2 June 2013. |",
        "| 3 June 2013 | The fund elected its board. |",
    ]
    rows = merged_events(timeline_of(draft, known), known)
    assert [said for _, said in rows][3:] == [cook, day]
    assert rows[-1][0].evidence == ("E4", "E3")
    known.began = Form.REPAIRED
    assert sum("elected" in row for row in rows_below(known, draft)) == 1 + ("June" in rough)


def test_other_events_of_a_month_have_rows_of_their_own() -> None:
    known = known_of(*MOVES)
    cook = Statement("A cook was hired in June 2013.", ("E5",))
    draft = in_three_sections(known, *told_of(MOVES[:3]), cook, LABEL)
    assert [row[:14] for row in rows_below(known, draft)][3:] == [
        "| June 2013 | ",
        "| 3 June 2013 ",
    ]


@pytest.mark.parametrize("is_dense", [False, True])
def test_a_row_does_not_begin_with_its_date(is_dense: bool) -> None:
    known = known_of(*MOVES)
    bare = Statement("June 2014: the fund bought a mill.", ("E4",))
    draft = in_three_sections(known, *told_of(MOVES[:3]), LABEL, bare)
    rows = rows_below(known, draft, is_dense=is_dense)
    assert rows[-2:] == (
        [
            "- The fund elected its board on 3 June 2013.",
            "- June 2014: the fund bought a mill.",
        ]
        if is_dense
        else [
            "| 3 June 2013 | The fund elected its board on 3 June 2013. |",
            "| June 2014 | The fund bought a mill. |",
        ]
    )


def test_a_row_cites_what_gives_its_own_date() -> None:
    mill = record_of("E8", "The fund bought a mill in March 2016.", "8.example")
    barn = record_of("E9", "In April 2017 the barn was sold.", "9.example")
    known = known_of(*MOVES, mill, barn)
    both = Statement(TWO.claim, ("E8", "E9"))
    rows = merged_events(timeline_of(in_three_sections(known, *told_of(MOVES), both), known), known)
    assert [event.evidence for event, _ in rows][-2:] == [("E8",), ("E9",)]


def test_a_list_that_goes_into_the_table_takes_its_introduction_along() -> None:
    known = known_of(*MOVES)
    opening = Statement("The turning points were these:")
    items = [replace(said, is_item=True) for said in told_of(MOVES)]
    other = Statement("A cook is paid well.", ("E5",), is_item=True)
    rest = Statement("The moves were cheap.", ("E4",))
    draft = in_three_sections(known, opening, *items, other, rest)
    assert without_events(draft, known, only="A1").sections[0].statements == (other, rest)
    cited = replace(opening, evidence=("E1",))
    whole = in_three_sections(known, cited, *items, other)
    first, *_ = without_events(whole, known, only="A1").sections[0].statements
    assert first == replace(cited, text="The turning points were these.")
    apart = in_three_sections(known, *items, opening, other, rest)
    kept = without_events(apart, known, only="A1").sections[0].statements
    assert kept == (opening, other, rest)
    known.began = Form.REPAIRED
    assert opening in without_events(draft, known, only="A1").sections[0].statements


def test_a_brief_quotation_is_a_row_of_the_course_of_events() -> None:
    known = known_of(*MOVES)
    said = Statement("“On 3 June 2013 came the first board.”", ("E3",), quoted=True)
    long = replace(said, text=f"“On 4 July 2013 came {'the second and ' * 20}last board.”")
    draft = in_three_sections(known, *told_of(MOVES), said, long)
    row = "| 3 June 2013 | “On 3 June 2013 came the first board.” |"
    assert row in rows_below(known, draft)
    assert without_events(draft, known, only="A1").sections[0].statements == (long,)
    first = in_three_sections(
        known, replace(said, text="“May 2009 saw a board.”"), *draft.sections[0].statements
    )
    assert landmarks(first, known)[0].evidence == ("E0",)
    stated = Statement("The first board came on 3 June 2013.", ("E4",))
    both = in_three_sections(known, *told_of(MOVES), said, stated)
    assert row not in rows_below(known, both)
    assert "| 3 June 2013 | The first board came on 3 June 2013. |" in rows_below(known, both)
    elsewhere = replace(
        draft, sections=(Section("A1", tuple(told_of(MOVES))), Section("A2", (said,)))
    )
    assert row not in rows_below(known, elsewhere)
    known.began = Form.REPAIRED
    assert row not in rows_below(known, draft)
