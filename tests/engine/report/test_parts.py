"""Paragraphs, lists, repetitions, doubts and the method note of a report."""

from dataclasses import replace

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Relations
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.records import AspectState, Checks, Evidence, Gap, Source
from research.engine.report.draft import Draft, Section, Statement, cite_ids
from research.engine.report.parts.disagreement import holders_of, rival_groups, untold_rivals
from research.engine.report.parts.method_note import method_note
from research.engine.report.parts.paragraphs import MOST_SENTENCES, course_items, render_paragraphs
from research.engine.report.parts.repetitions import (
    cover_parts,
    drop_repetitions,
    merge_repetitions,
    without_summarised,
)
from research.engine.report.parts.sources import doubt_mark, render_source
from research.engine.report.parts.timeline import render_timeline
from research.engine.report.rendering.markdown import USUAL, render_report
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import labels_for
from tests.engine.report.test_comparing import ledger_of, record_of
from tests.engine.scripted import ledger, page, quoted

WORDS = labels_for("en")
OLD = "The tower is 40 metres high."
NEW = "The tower is 60 metres high."


@pytest.fixture
def known() -> Ledger:
    """Two dated sources that disagree."""
    made, _ = ledger("How high is the Harrow Point tower?")
    for number, (text, day) in enumerate(((OLD, "2001-05-06"), (NEW, "2020-01-02"))):
        source = page(f"https://s{number}.example/", text, published=day)
        made.put_page(source)
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    assert made.book.records["E1"].contradicts == ("E2",)
    return made


@pytest.mark.parametrize("count", [1, 5, 6, 11, 23])
def test_no_paragraph_is_longer_than_five_sentences(count: int) -> None:
    shown = [f"Sentence {number}." for number in range(count)]
    parts = render_paragraphs([Statement(text) for text in shown], shown).split("\n\n")
    sizes = [part.count("Sentence") for part in parts]
    assert sum(sizes) == count and max(sizes) <= MOST_SENTENCES
    assert max(sizes) - min(sizes) <= 1


def test_parallel_items_are_a_list_and_one_alone_is_none(known: Ledger) -> None:
    said = [cite_ids(text, known) for text in (f"{OLD} [E1]", "- One. [E1]", "* Two. [E2]")]
    assert [each.is_item for each in said] == [False, True, True]
    assert said[1].text == "One."
    assert render_paragraphs(said, ["A.", "B.", "C."]) == "A.\n\n- B.\n- C."
    assert render_paragraphs(said[:2], ["A.", "B."]) == "A. B."
    for evidence, shown in (((), "B."), (("E1",), "Among others: B.")):
        head = Statement("Among others:", evidence)
        assert render_paragraphs([head, said[1]], ["Among others:", "B."]) == shown


def test_a_repetition_has_the_same_evidence_and_quantities() -> None:
    first = Statement("The tower was finished in 1889 by two men.", ("E1",))
    again = Statement("The tower was finished by two men in 1889.", ("E1",))
    other_year = Statement("The tower was finished in 1890 by two men.", ("E1",))
    other_source = Statement("The tower was finished in 1889 by two men.", ("E2",))
    said = (first, again, other_year, other_source)
    draft = drop_repetitions(Draft((first,), (Section("A1", said),)))
    assert draft.sections[0].statements == (first, other_year, other_source)
    assert draft.short_answer == (first,)


def test_what_two_sections_say_in_the_same_words_stands_once_on_all_its_evidence() -> None:
    here, there = Statement("It opened in 1889.", ("E1", "E2")), Statement("It has two.", ("E4",))
    again = Statement("It opened in 1889.", ("E2", "E3"))
    link = Statement("There are two reasons.")
    sections = (Section("A1", (link, here)), Section("A2", (again,)), Section("A3", (link, there)))
    merged = merge_repetitions(Draft((again,), sections))
    assert merged.sections == (
        Section("A1", (link, Statement("It opened in 1889.", ("E1", "E2", "E3")))),
        Section("A3", (link, there)),
    )
    assert merged.short_answer == (again,)


def test_a_summary_gains_what_it_left_out_but_nothing_that_is_open(known: Ledger) -> None:
    known.set_aspect("A1", state=AspectState.DISPUTED)
    said = Statement("Something else.", ("E9",))
    missing = Statement(OLD, ("E1",))
    sections = [Section("A1", (missing,))]
    assert cover_parts(known, (said,), sections) == (said, missing)
    assert cover_parts(known, (missing,), sections) == (missing,)
    known.set_aspect("A1", state=AspectState.OPEN)
    assert cover_parts(known, (said,), sections) == (said,)


def test_a_quick_report_says_nothing_in_section_and_summary() -> None:
    one, two = Statement("One.", ("E1",)), Statement("Two.", ("E2",))
    draft = without_summarised(Draft((one,), (Section("A1", (one, two)), Section("A2", (one,)))))
    assert [section.statements for section in draft.sections] == [(two,), (one,)]


def test_a_statement_that_a_newer_source_contradicts_says_so(known: Ledger) -> None:
    old, new = Statement(OLD, ("E1",)), Statement(NEW, ("E2",))
    assert doubt_mark(old, known, WORDS) == " (⚠ a source of 2 January 2020 says otherwise)"
    assert doubt_mark(new, known, WORDS) == " (⚠ Sources disagree)"
    assert doubt_mark(Statement("Both.", ("E1", "E2")), known, WORDS) == ""
    assert doubt_mark(replace(old, quoted=True), known, WORDS) == ""


@pytest.mark.parametrize(
    ("layout", "told"),
    [
        (USUAL, "*● 1 of 2 statements confirmed by 2 sites or more · Sources disagree*"),
    ],
)
def test_a_section_with_both_sides_is_not_called_well_established(
    known: Ledger, layout: Layout, told: str
) -> None:
    source = page("https://s2.example/", f"A survey was made by two men of the port. {NEW}")
    known.put_page(source)
    known.book.add(Finding(NEW, "A1", quoted(source, NEW), 0.9), 1)
    known.set_aspect("A1", state=AspectState.ANSWERED)
    for number in range(3):
        known.put_source(Source(f"https://s{number}.example/", "Tower", f"s{number}.example", 1))
    sections = (Section("A1", (Statement(NEW, ("E2",)), Statement(OLD, ("E1",)))),)
    assert told in render_report(known, Draft((), sections), "Stopped.", 0, 0, layout).markdown


def test_a_source_is_shown_with_publisher_kind_and_date(known: Ledger) -> None:
    url = "https://s0.example/"
    known.pages[url] = replace(known.pages[url], site="The *Tower* Trust")
    source = Source(url, "Heights", "s0.example", 1, kind="official", published="2001-05-06")
    shown = render_source(known, source, WORDS)
    assert shown == f"Heights, The \\*Tower\\* Trust, s0.example, official, 6 May 2001: <{url}>"


def test_the_method_note_has_three_lines(known: Ledger) -> None:
    known.queries |= {"tower height": 2, "tower metres": 1}
    for number, status in enumerate(("cited", "read")):
        url = f"https://s{number}.example/"
        known.put_source(Source(url, "Tower", f"s{number}.example", 1, status=status))
    known.put_source(Source("https://no.example/", "No", "no.example", 1, status="failed"))
    note = method_note(known, WORDS, {"https://s0.example/"})
    assert note.split("\n") == [
        "## Method",
        "",
        "- 2 queries · 2 pages read",
        "- published 6 May 2001 to 2 January 2020",
        "- 1 page read but not used · 1 page refused or failed",
    ]
    assert "published" not in method_note(known, WORDS, set(), today="2019-01-01")
    assert method_note(ledger("What?")[0], WORDS, set()) == ""


@pytest.mark.parametrize(
    ("language", "checks", "told"),
    [
        (
            "en",
            Checks(14, 13, by_code=8, by_model=4, planted=6, planted_found=5, verifier="believed"),
            "Every cited statement was compared with the words of its quotes: 8 by code alone; 4 "
            "also by the model acting as checker, which found 5 of 6 errors planted to test it; 1 "
            "is a direct quotation. What was not found there was reworded, quoted or left out; "
            "whether the sources are right is for you to judge.",
        ),
        (
            "de",
            Checks(9, 9, by_code=7, planted=6, verifier="disbelieved"),
            "Jede belegte Aussage wurde mit dem Wortlaut ihrer Zitate verglichen: 7 nur durch Code;"
            " 2 sind wörtliche Zitate. Was dort nicht zu finden war, wurde umformuliert, wörtlich "
            "zitiert oder weggelassen; ob die Quellen recht haben, müssen Sie beurteilen.",
        ),
    ],
)
def test_the_method_note_says_how_statements_were_checked(
    known: Ledger, language: str, checks: Checks, told: str
) -> None:
    note = method_note(known, labels_for(language), set(), checks=checks)
    assert note.endswith(f"\n- {told}")
    without = method_note(known, labels_for(language), set())
    assert method_note(known, labels_for(language), set(), checks=Checks()) == without


def test_dated_statements_make_a_timeline_in_order() -> None:
    days = ("May 1890", "3 April 1889", "June 2001", "1 May 1891", "July 1999")
    said = [Statement(f"A | B changed in {day}.", (f"E{n}",)) for n, day in enumerate(days)]
    other = [Statement("It changed in 1888.", ("E8",)), Statement("March 1800 saw none.")]
    sections = [Section(f"A{n}", tuple(part)) for n, part in enumerate((said[:2], said[2:], other))]
    known, _ = ledger("What changed, as a timeline?")
    first = replace(known.aspects["A1"], text="What changed?")
    known.aspects = {part: replace(first, id=part) for part in ("A0", "A1", "A2")}
    drafted = Draft((), tuple(sections))
    shown = render_timeline(drafted, known, WORDS, lambda ids: f"[{','.join(ids)}]")
    assert shown.split("\n")[2:] == [
        "| Date | Event |",
        "| --- | --- |",
        "| 3 April 1889 | A \\| B changed in 3 April 1889. [E1] |",
        "| May 1890 | A \\| B changed in May 1890. [E0] |",
        "| 1 May 1891 | A \\| B changed in 1 May 1891. [E3] |",
        "| July 1999 | A \\| B changed in July 1999. [E4] |",
        "| June 2001 | A \\| B changed in June 2001. [E2] |",
    ]
    assert render_timeline(Draft((), tuple(sections[:1])), known, WORDS, lambda ids: "") == ""


def test_what_rests_on_forums_alone_says_so(known: Ledger) -> None:
    said = Statement(OLD, ("E1",))
    both = Statement("The tower is high.", ("E1", "E2"))
    draft = Draft((), (Section("A1", (said, both)),))
    for number, kind in enumerate(("forum", "unknown")):
        site = f"s{number}.example"
        known.put_source(Source(f"https://{site}/", "A page", site, 1, status="read", kind=kind))
    for record in known.book.records.values():
        known.book.take_over(replace(record, contradicts=()))
    shown = render_report(known, draft, "", 0, 0).markdown
    assert "The tower is 40 metres high (found in forums only). [1]" in shown
    assert "The tower is high. [1][2]" in shown
    forum = known.sources["https://s0.example/"]
    known.put_source(replace(forum, kind="blog"))
    told = render_report(known, draft, "", 0, 0).markdown
    assert "metres high (found on blogs only). [1]" in told
    known.put_source(forum)
    plain = render_report(known, draft, "", 0, 0, replace(USUAL, names_kinds=False)).markdown
    assert "forums only" not in plain
    quoted_said = replace(said, text=f"“{OLD}”", quoted=True)
    quoting = Draft((), (Section("A1", (quoted_said, both)),))
    shown = render_report(known, quoting, "", 0, 0).markdown
    assert "“The tower is 40 metres high” (s0.example; found in forums only). [1]" in shown


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (
            "Wages come late, and the Audit Office blames the complaints on it.",
            "A baker told the Merrick Post of nine days' warning, and blames that.",
            ["Audit Office"],
        ),
        (
            "Pictures fade, and the Journal of Courts and Society blames a quarrel.",
            "Gruesome pictures are what Kora Holt blames, by the calls in Merrick.",
            ["Journal of Courts and Society", "Kora Holt"],
        ),
        ("Eight sit, says Kora Holt.", "Nine sit, says Ulm Brand.", ["Kora Holt", "Ulm Brand"]),
        ("The Ministry of Mines governs it.", "Donors elect its board.", []),
        ("Nine sit in Merrick.", "Eight sit at Orlec.", []),
        ("Kora Holt blames Pellow.", "Ulm Brand blames Pellow too.", ["Kora Holt", "Ulm Brand"]),
    ],
)  # fmt: skip
def test_the_holder_of_a_view_is_the_name_that_the_other_side_lacks(
    one: str, other: str, told: list[str]
) -> None:
    made, _ = ledger("Why do they complain?")
    for number, site in enumerate(("Morvane Audit Office", "Journal of Courts and Society")):
        made.put_page(page(f"https://p{number}.example/", "A page.", site=site))
    sides = [Statement(one, ("E1",)), Statement(other, ("E2",))]
    assert [*holders_of(sides, made).values()] == told
    made.plan = replace(made.plan, language="de")
    assert holders_of(sides, made) == {}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It is 40 metres high [E1], not 60. [E2]", "It is 40 metres high [1], not 60. [2]"),
        ("It is high [E1; E2], not low. [E2]", "It is high [1], not low. [2]"),
        ("- It is high [E1] (or low) [E2].", "It is high [1] (or low). [2]"),
        ("It is high [E1], they say.", "It is high, they say. [1]"),
        ("It is high, not low. [E1, E2]", "It is high, not low. [1][2]"),
        ("Run `up [E1] down` now. [E2]", "Run `up down` now. [1][2]"),
    ],
)
def test_citations_stand_behind_the_clause_that_the_model_gave_them_to(
    known: Ledger, written: str, shown: str
) -> None:
    for record in known.book.records.values():
        known.book.take_over(replace(record, contradicts=()))
        url = record.sources[0].url
        known.put_source(Source(url, "A page", record.sources[0].domain, 1, status="read"))
    draft = Draft((), (Section("A1", (cite_ids(written, known),)),))
    rendered = render_report(known, draft, "", 0, 0)
    assert f"\n{shown}\n" in rendered.markdown
    said = replace(cite_ids(written, known), text="It is another text.")
    assert said.parts == [("It is another text.", said.evidence)]


def test_what_speaks_for_a_side_that_is_told_is_not_told_again() -> None:
    """A contradicts B and C, and B is cited beside A; where C contradicts B too, it is a third
    side.
    """
    one, other = "b.example", "c.example"
    said = replace(record_of("E1", "It fell in spring.", "a.example"), contradicts=("E2", "E3"))
    told = replace(record_of("E2", "It fell in autumn.", one), contradicts=("E1",))
    draft = Draft((), (Section("A1", (Statement("Spring.", ("E1",)), Statement("No.", ("E2",)))),))
    third = {draft.statements[0]: ["E3"]}
    for site, against, rivals in ((one, (), {}), (other, (), {}), (other, ("E2",), third)):
        again = record_of("E3", "It was autumn when it fell.", site)
        again = replace(again, contradicts=("E1", *against))
        told = replace(told, contradicts=("E1", *(["E3"] if against else [])))
        known = ledger_of(said, told, again)
        assert untold_rivals(draft, known) == rivals


def test_that_there_is_a_dispute_is_said_before_its_box_and_nothing_is_doubted_twice() -> None:
    """The lead rests on both sides; the last statement repeats one of them."""
    said = replace(record_of("E1", "It fell in spring.", "a.example"), contradicts=("E2",))
    told = replace(record_of("E2", "It fell in autumn.", "b.example"), contradicts=("E1",))
    known = ledger_of(said, told)
    statements = (
        Statement("When it fell is disputed.", ("E1", "E2")),
        Statement("One says in spring.", ("E1",)),
        Statement("Another says in autumn.", ("E2",)),
    )
    draft = Draft((), (Section("A1", statements),))
    shown = render_report(known, draft, "", 0, 0).markdown
    lead, _, box = shown.partition("> **⚠ Sources disagree:**")
    assert "When it fell is disputed." in lead and "When it fell" not in box
    assert "One says in spring. [1]" in box and "Another says in autumn. [2]" in box
    assert "otherwise" not in shown


def test_a_side_that_goes_on_stands_in_the_box_whole() -> None:
    said = replace(record_of("E1", "It fell in spring.", "a.example"), contradicts=("E2",))
    told = replace(record_of("E2", "It fell in autumn.", "b.example"), contradicts=("E1",))
    known = ledger_of(said, told, record_of("E3", "It rained.", "c.example"))
    spring, more, autumn = (
        Statement("It fell in spring.", ("E1",)),
        Statement("It had been frosty.", ("E1", "E3")),
        Statement("It fell in autumn.", ("E2",)),
    )
    assert [*rival_groups((spring, more, autumn), known)] == [[spring, more, autumn]]
    rain = Statement("It rained.", ("E3",))
    assert [*rival_groups((spring, rain, autumn), known)] == [[spring], [rain], [autumn]]
    assert [*rival_groups((spring, more), known)] == [[spring], [more]]


def test_a_further_voice_of_a_side_that_is_told_has_no_section_of_its_own() -> None:
    """A contradicts B and C, which are on one side; the report tells A and B."""
    one = replace(record_of("E1", "It fell in spring.", "a.example"), contradicts=("E2", "E3"))
    other = replace(record_of("E2", "It fell in autumn.", "b.example"), contradicts=("E1",))
    again = replace(
        record_of("E3", "It was autumn when it fell.", "c.example"), contradicts=("E1",)
    )
    said = (Statement("It fell in spring.", ("E1",)), Statement("It fell in autumn.", ("E2",)))
    draft = Draft((), (Section("A1", said),))
    told = render_report(
        ledger_of(one, other, again), draft, "", 0, 0, Layout(is_led=True)
    ).markdown
    assert "> **⚠ Sources disagree:**" in told and "## Sources disagree" not in told


def test_a_section_that_words_what_was_before_needs_no_bracket() -> None:
    claim = "Nine jurors sit, where there were 12 jurors."
    known = ledger_of(record_of("E1", claim, "a.example"))
    known.relations = Relations(True, recalled={"E1": frozenset({"12"})})
    draft = Draft((), (Section("A1", (Statement(claim, ("E1",)),)),))
    told = render_report(known, draft, "", 0, 0, Layout()).markdown
    assert "(earlier:" not in told, "a model told it by the claim's words"
    known.began = Form.REPAIRED
    for is_led in (False, True):
        layout = Layout(is_led=is_led, lists_changes=True)
        told = render_report(known, draft, "", 0, 0, layout).markdown
        assert ("(earlier: 12 jurors)" in told) is not is_led


def test_items_with_dates_are_a_table_in_the_order_of_their_author() -> None:
    said = [
        Statement("The fund moved often:"),
        Statement("May 2011: it left | the mill.", ("E1",), is_item=True),
        Statement("**2012:** It came back.", ("E1",), is_item=True),
        Statement("June 2013: it closed.", ("E1",), is_item=True),
    ]
    known = ledger_of(record_of("E1", "It left in May 2011, came in 2012, closed in 2013.", "a.x"))
    told = render_report(known, Draft((), (Section("A1", tuple(said)),)), "", 0, 0).markdown
    rows = [line for line in told.splitlines() if line.startswith("|")]
    assert rows[0] == "| Date | Event |" and rows[2] == r"| May 2011 | It left \| the mill. [1] |"
    assert len(rows) == 5
    for fewer in (said[:-1], [*said[:-1], replace(said[-1], text="In the end: it closed.")]):
        draft = Draft((), (Section("A1", tuple(fewer)),))
        assert "| Date |" not in render_report(known, draft, "", 0, 0).markdown
    known.began = Form.COMPUTED
    assert "\n- **June 2013:** It closed. [1]" in (
        render_report(known, Draft((), (Section("A1", tuple(said)),)), "", 0, 0).markdown
    )


def test_items_of_a_course_of_events_are_no_other_items() -> None:
    dated = [Statement(f"May 20{n}: it moved.", is_item=True) for n in range(11, 14)]
    fruit = [Statement(text, is_item=True) for text in ("Pears.", "May 2011: plums.", "Apples.")]
    said = (Statement("It moved."), *dated, Statement("And it sold:"), *fruit)
    draft = Draft((), (Section("A1", said), Section("A2", tuple(dated[:2]))))
    assert course_items(draft) == dated


def test_a_lone_item_begins_like_a_sentence() -> None:
    known = ledger_of(record_of("E1", "It left the mill.", "a.example"))
    item = Statement("it left the mill", ("E1",), is_item=True)
    for before, begins in ((), "It left"), ((Statement("They say:", ("E1",)),), "it left"):
        section = Section("A1", (*before, item))
        told = render_report(known, Draft((), (section,)), "", 0, 0).markdown
        assert f"{begins} the mill [1]" in told


def test_a_report_lists_what_was_still_missing_in_its_sections() -> None:
    known = ledger_of(record_of("E1", "It fell in spring.", "a.example"))
    known.gaps = {
        "G1": Gap("G1", "the day on which it fell", "A1", False, 1),
        "G2": Gap("G2", "who saw it", "A1", False, 1, closed_round=2),
        "G3": Gap("G3", "another question", "A9", False, 1),
    }
    draft = Draft((), (Section("A1", (Statement("It fell in spring.", ("E1",)),)),))
    for is_led in (True, False):
        told = render_report(known, draft, "", 0, 0, Layout(is_led=is_led)).markdown
        assert ("\n\n*Still open: the day on which it fell.*\n\n" in told) is is_led


def test_a_small_share_of_statements_in_two_documents_is_not_told() -> None:
    records = []
    for n in range(1, 5):
        said, urls = f"Setting {n} is on.", (f"file:///{n}", "file:///b")
        sources = tuple(
            quoted(page(url, said, key=url), said) for url in urls[: 2 if n == 1 else 1]
        )
        records.append(Evidence(f"E{n}", said, "A1", 1, sources, 0.9))
    known = ledger_of(*records)
    known.put_source(Source("file:///b", "b", "manual", 1, status="cited"))
    told = tuple(Statement(record.claim, (record.id,)) for record in records)
    draft = Draft((), (Section("A1", told),))
    shown = render_report(known, draft, "", 0, 0, Layout(is_direct=True)).markdown
    assert "of 4 statements" not in shown


def test_a_statement_is_confirmed_only_where_each_of_its_clauses_is() -> None:
    """Two sites that each say a half of it confirm nothing."""
    one, other = record_of("E1", "The right may be waived.", "a.example"), "Most waive it."
    known = ledger_of(one, record_of("E2", other, "b.example"), record_of("E3", "It holds.", "c"))
    both = record_of("E4", "It is old.", "d.example")
    far = quoted(page("https://e.example/", "It is old."), "It is old.")
    known.book.records["E4"] = replace(both, sources=(*both.sources, far))
    for record in (both, replace(both, sources=(far,))):
        url = record.sources[0].url
        known.put_source(Source(url, url, url, 1, status="cited"))
    said = cite_ids("The right may be waived [E1], and most waive it [E2].", known)
    draft = Draft((), (Section("A1", (said, Statement("It is old.", ("E4",)))),))
    shown = render_report(known, draft, "", 0, 0, Layout(is_direct=True)).markdown
    assert "1 of 2 statements confirmed by 2 sites or more" in shown


def test_the_searches_nearest_to_what_was_not_found_are_named(known: Ledger) -> None:
    for source in (source for record in known.evidence for source in record.sources):
        known.put_source(Source(source.url, source.title, source.domain, 1))
    known.raise_aspect("Who pays for the tower?", "tower payment", "plan", 1)
    known.set_aspect("A1", state=AspectState.ANSWERED)
    known.queries.update({f"height of tower {n}": 1 for n in range(14)})
    known.queries["who pays for the tower"] = 2
    draft = Draft((), (Section("A1", (Statement(NEW, ("E2",)),)),))
    tried = render_report(known, draft, "", 0, 0).markdown.partition("Searches tried: ")[2]
    assert tried.startswith("“who pays for the tower”, “height of tower 0”")
    assert tried.count("“") == 12
