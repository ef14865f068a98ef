"""A dispute as a list: what it is about, and for each side holder, view and who reports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Relations
from research.engine.journal.forms import Form
from research.engine.llm_tasks import sections
from research.engine.llm_tasks.compare import relate_drafted
from research.engine.llm_tasks.compared_findings import matters_of, named_holders
from research.engine.llm_tasks.prompting.ask import TEMPLATES
from research.engine.ports import SourceKind
from research.engine.records import Evidence, Source
from research.engine.report.disputes import disputes_on
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.outline import OutlinePart
from research.engine.report.parts.disagreement import gather_rivals, rival_groups, sides_of
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout
from research.engine.threads.seed import ReportFormat
from tests.engine.report.test_comparing import ledger_of, on_day, record_of
from tests.engine.scripted import page

BOARD = "The Harbour Board blames the winter."
BLAMES = BOARD.removeprefix("The Harbour Board ")
TIDE = "The Daily Tide blames the ferry."


def told(number: int, claim: str, host: str, *against: str) -> Evidence:
    return replace(on_day(record_of(f"E{number}", claim, host), "2026-03-04"), contradicts=against)


def ledger_with(
    *records: Evidence, sites: Sequence[str] = (), kinds: Sequence[SourceKind] = ()
) -> Ledger:
    """Return a ledger in which the records are from pages of these sites and kinds."""
    known = ledger_of(*records)
    for record, site, kind in zip(records, sites, kinds or ["unknown"] * 9, strict=False):
        url = record.sources[0].url
        known.put_page(replace(page(url, record.claim), site=site))
        known.sources[url] = Source(url, "T", "s.example", 1, kind=kind, site=site)
    return known


def box_of(known: Ledger, *said: Statement, layout: Layout | None = None) -> list[str]:
    draft = Draft((), (Section("A1", said),))
    shown = render_report(known, draft, "", 0, 0, layout or Layout()).markdown
    _, _, rest = shown.partition("> **⚠ ")
    return rest.partition("\n\n")[0].replace("> - ", "").splitlines()


def test_beside_a_box_the_short_answer_has_a_mark_alone() -> None:
    records = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known, both = ledger_with(*records), said_of(*records)
    draft = Draft((both[0],), (Section("A1", (both[0],)),))
    layout = Layout(is_led=True)

    def short() -> str:
        shown = render_report(known, draft, "", 0, 0, layout).markdown
        assert "> **⚠ Sources disagree" in shown
        return shown.partition("**Short answer.**")[2].partition("\n\n")[0]

    assert short().strip() == f"{BOARD[:-1]}. [1] (⚠ Sources disagree)"
    known.began = Form.COMPUTED
    assert "blames the ferry" in short()


@pytest.mark.parametrize(
    ("second", "is_boxed"),
    [
        ("Its keeper blames the winter, but the Daily Tide blames the ferry.", False),
        ("The Harbour Board blames the winter, but the Daily Tide the ferry.", True),
    ],
)
def test_a_sentence_that_refers_back_and_gives_both_sides_needs_no_box(
    second: str, is_boxed: bool
) -> None:
    records = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(*records)
    said = [Statement("The pier is shut.", ("E1",)), Statement(second, ("E1", "E2"))]
    draft = Draft((), (Section("A1", tuple(said)),))
    for began, has_box in ((Form.EDITED, is_boxed), (Form.COMPUTED, True)):
        known.began = began
        shown = render_report(known, draft, "", 0, 0, Layout()).markdown
        assert ("> **⚠ Sources disagree" in shown) is has_box
        assert has_box or f"The pier is shut. [1] (⚠ Sources disagree) {second} [1][2]" in shown


def test_a_dispute_that_an_author_tells_in_one_sentence_stays_where_it_is() -> None:
    records = (
        told(1, BOARD, "a.example", "E2"),
        told(2, TIDE, "b.example", "E1"),
        told(3, "The pier was shut in May.", "c.example"),
    )
    known = ledger_with(*records)
    both = "The Harbour Board blames the winter, but the Daily Tide the ferry."
    said = (
        Statement(BOARD, ("E1",)),
        Statement("The pier was shut in May.", ("E3",)),
        Statement(both, ("E1", "E2")),
    )
    draft = Draft((), (Section("A1", said),), is_whole=True)
    assert gather_rivals(draft, known) == draft
    rendered = render_report(known, draft, "", 0, 0, Layout())
    assert rendered.disputes == 1
    told_both = f"{both} [1][3] (⚠ disputed)"
    assert f"{BOARD} [1] The pier was shut in May. [2] {told_both}" in rendered.markdown
    apart = replace(draft, is_whole=False)
    assert gather_rivals(apart, known) != apart
    assert "> **⚠ Sources disagree" in (
        render_report(known, gather_rivals(apart, known), "", 0, 0, Layout()).markdown
    )


def test_a_dispute_that_a_conclusion_weighs_has_no_mark_and_counts_as_none() -> None:
    records = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(*records, told(3, "The pier was shut in May.", "c.example"))
    sides = (Statement(BOARD, ("E1",)), Statement(TIDE, ("E2",)))
    weighs = Statement("So plan for a hard winter.", ("E1", "E2"), concludes=True)
    apart = Section("A1", (*sides, Statement("The pier was shut in May.", ("E3",))))
    draft = Draft(
        (sides[0],), (replace(apart, statements=(*apart.statements, weighs)),), is_whole=True
    )
    shown = render_report(known, draft, "", 0, 0, Layout(is_led=True))
    assert "⚠" not in shown.markdown and shown.disputes == 0
    unweighed = replace(draft, sections=(apart,))
    shown = render_report(known, unweighed, "", 0, 0, Layout(is_led=True))
    assert "⚠" in shown.markdown and shown.disputes == 1


@pytest.mark.parametrize("is_edited", [True, False])
def test_sides_of_one_collection_are_named_by_their_pages(is_edited: bool) -> None:
    records = told(1, BLAMES, "a.example", "E2"), told(2, "The ferry is blamed.", "b.example", "E1")
    others = (told(n, f"Quay {n} is dry.", "a.example") for n in range(3, 9))
    records = tuple(
        replace(each, sources=tuple(replace(
            source, url=f"file:///C/{each.id}.html", domain="C",
            independence_key=f"file:///C/{each.id}.html") for source in each.sources))
        for each in (*records, *others)
    )  # fmt: skip
    known = ledger_with(*records)
    for record, title in zip(records, ("The winter", "The ferry (2)", *"345678"), strict=True):
        url = record.sources[0].url
        known.sources[url] = Source(url, title, "C", 1)
    known.began = Form.EDITED if is_edited else Form.COMPUTED
    box = " ".join(box_of(known, *said_of(*records[:2])))
    assert ("**The winter**" in box and "**The ferry**" in box) is is_edited
    assert ("**C**" in box) is not is_edited


def test_sides_of_one_site_among_several_are_named_by_their_pages() -> None:
    one, other = told(1, BLAMES, "a.example", "E2"), told(2, "The ferry is blamed.", "a.example")
    titled = [
        replace(each, sources=tuple(replace(source, title=name) for source in each.sources))
        for each, name in ((one, "Questions"), (replace(other, contradicts=("E1",)), "Security"))
    ]
    rest = [told(n, f"Quay {n} is dry.", f"{n}.example") for n in range(3, 9)]
    known = ledger_with(*titled, *rest, sites=("The Manual", "The Manual"))
    box = " ".join(box_of(known, *said_of(*titled)))
    assert "**Questions**" in box and "**Security**" in box and "The Manual" not in box


def said_of(*records: Evidence) -> list[Statement]:
    return [Statement(record.claim, (record.id,)) for record in records]


@pytest.mark.parametrize(
    ("site", "kind", "item"),
    [
        ("Harbour Board", "official", f"**Harbour Board** (official, March 2026) {BLAMES} [1]"),
        ("Harbour Board News", "news", f"**Harbour Board** (news, March 2026) {BLAMES} [1]"),
        ("Harbour Board", "unknown", f"**Harbour Board** (March 2026) {BLAMES} [1]"),
        ("Evening Press", "news", "**Harbour Board** blames the winter. [1]"),
    ],
)
def test_a_side_names_its_holder_and_its_view(site: str, kind: SourceKind, item: str) -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, sites=(site, "The Daily Tide"), kinds=(kind, "unknown"))
    head, gap, first, second = box_of(known, *said_of(one, other))
    assert (head, gap) == ("Sources disagree:**", ">") and first == item
    assert second == "**The Daily Tide** (March 2026) blames the ferry. [2]"
    dense = Layout(is_dense=True, is_terse=True)
    assert box_of(known, *said_of(one, other), layout=dense)[2] == item


def test_without_a_named_holder_a_side_is_that_of_its_sites() -> None:
    one, other = told(1, "It fell in spring.", "a.example", "E2", "E3", "E4"), "It fell in autumn."
    rivals = [told(n, other, f"r{n}.example", "E1") for n in (2, 3, 4)]
    known = ledger_with(one, *rivals, sites=("One", "Two", "Three", "Four"))
    both = Statement(other, ("E2", "E3", "E4"))
    *_, first, second = box_of(known, *said_of(one), both)
    assert first == "**One** (March 2026) – It fell in spring. [1]"
    assert second == f"**Two, Three and 1 more** (March 2026) – {other} [2][3][4]"


def test_a_side_stands_once_however_many_statements_it_has() -> None:
    """A third record contradicts both sides; a statement that takes no side joins the last one."""
    spring = told(1, "It fell in spring.", "a.example", "E2", "E4")
    autumn = told(2, "It fell in autumn.", "b.example", "E1", "E3", "E4")
    again = told(3, "Spring it was, by its letters.", "c.example", "E2", "E4")
    third = told(4, "It never fell.", "d.example", "E1", "E2", "E3")
    known = ledger_with(spring, autumn, again, third, sites=("One", "Two", "Three", "Four"))
    more = Statement("There had been frost.", ("E3",))
    said = said_of(spring, autumn, again, third)
    assert sides_of(said, known) == [[said[0], said[2]], [said[1]], [said[3]]]
    assert sides_of([said[0], more, said[1]], known) == [[said[0], more], [said[1]]]
    *_, first, second, last = box_of(known, said[0], said[2], said[1], said[3])
    assert first == (
        "**One** (March 2026) – It fell in spring. [1] "
        "**Three** (March 2026) – Spring it was, by its letters. [2]"
    )
    assert second.startswith("**Two**") and last.startswith("**Four**")


KELLER = "Nobody heard it fall, says Dr. Keller, the surveyor of the town."
COURT = "It fell at night, by what the Court Administration writes."


def test_a_side_names_whom_the_quotes_name() -> None:
    one, other = told(1, KELLER, "a.example", "E2"), told(2, COURT, "b.example", "E1")
    known = ledger_with(one, other, sites=("Evening Press", "Tide"), kinds=("news", "news"))
    known.relations = Relations(
        True, holders={"E1": "Dr. Keller", "E2": "the Court Administration"}
    )
    *_, first, second = box_of(known, Statement("It fell unheard.", ("E1",)))
    assert first == "**Dr. Keller** – It fell unheard. [1]"
    assert second == f"**The Court Administration** – “{COURT}” [2]"
    known.plan = replace(known.plan, language="de")
    *_, first, _ = box_of(known, Statement("Niemand hörte es.", ("E1",)))
    assert first.startswith("**Dr. Keller** – Niemand")


@pytest.mark.parametrize(
    ("names", "held"),
    [
        (("Dr. Keller", "the court administration"), ("Dr. Keller", "the court administration")),
        (("the surveyor of the town", ""), ("the surveyor of the town",)),
        (("Dr. Kell", "Dr. Keller"), ()),
        (("it", "It"), ()),
        (("nobody heard it fall, says Dr. Keller, the surveyor", ""), ()),
        ((), ()),
    ],
)
def test_a_holder_is_one_whom_a_quote_of_the_side_names(
    names: tuple[str, ...], held: tuple[str, ...]
) -> None:
    known = ledger_with(told(1, KELLER, "a.example"), told(2, COURT, "b.example"))
    found = named_holders(known, [["E1", "E2", "how it fell", *names]])
    assert tuple(found.values()) == held
    assert matters_of(known, [["E1", "E2", "it fell", *names]]) == {("E1", "E2"): "it fell"}


def test_what_nobody_disputes_stands_outside_a_side() -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, told(3, "The bridge had nine piers.", "c.example"))
    beside = Statement("The bridge had nine piers and a toll house.", ("E1", "E3"))
    first, second = said_of(one, other)
    assert [*rival_groups([first, beside, second], known)] == [[first, second], [beside]]
    leaning = Statement("It had nine piers and a toll house.", ("E1", "E3"))
    assert [*rival_groups([first, leaning, second], known)] == [[first, leaning, second]]


def test_a_quote_of_a_side_that_the_report_does_not_tell_is_a_side() -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, sites=("Harbour Board", "Tide"), kinds=("official", "news"))
    *_, first, second = box_of(known, *said_of(one))
    assert first.startswith("**Harbour Board** (official, March 2026) blames ")
    assert second == f"**Tide** (news, March 2026) – “{TIDE}” [2]"


def test_what_only_says_that_there_is_a_dispute_is_no_side() -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, sites=("Harbour Board", "The Daily Tide"))
    lead = Statement("Who is to blame is open.", ("E1", "E2"))
    head, _, first, second = box_of(known, lead, *said_of(one))
    assert head == f"Sources disagree:** {lead.text} [1][2]"
    assert first == f"**Harbour Board** (March 2026) {BLAMES} [1]"
    assert second == f"**The Daily Tide** (March 2026) – “{TIDE}” [2]"


@pytest.mark.parametrize(
    ("lead", "is_side"),
    [
        ("The bridge fell at night, and why it did is a matter of dispute.", False),
        ("Why it fell is told in two ways.", False),
        ("Warum sie einstürzte, ist umstritten.", False),
        ("Les causes sont contestées.", False),
        ("Se discute por qué cayó.", False),
        ("Le versioni sono discordanti: due versioni circolano.", False),
        ("As causas são controversas.", False),
        ("Over de oorzaak bestaan twee verklaringen.", False),
        ("倒塌原因有争议。", False),
        ("原因については諸説ある。", False),
        ("The bridge fell at night.", True),
        ("The Harbour Board disputes that the bridge fell at night.", True),
    ],
)
def test_a_sentence_on_one_side_that_says_that_there_is_a_dispute_opens_it(
    lead: str, is_side: bool
) -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, sites=("Evening Press", "The Daily Tide"))
    known.relations = Relations(True, holders={"E1": "the Harbour Board"})
    draft = Draft((), (Section("A1", (Statement(lead, ("E1",)), *said_of(one, other))),))
    shown = render_report(known, draft, "", 0, 0, Layout()).markdown
    before, _, box = shown.partition("> **⚠ ")
    said = lead.removeprefix("The Harbour Board").rstrip(".。")
    assert (said in box, f"{lead} [1]\n" in before) == (is_side, not is_side)


def test_a_lone_statement_on_a_dispute_stays_a_side() -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, sites=("Harbour Board", "The Daily Tide"))
    *_, first, _ = box_of(known, Statement("It is disputed why it fell.", ("E1",)))
    assert first == "**Harbour Board** (March 2026) – It is disputed why it fell. [1]"


def test_a_holder_is_named_once_before_all_of_its_views() -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1", "E3")
    again = told(3, "The Harbour Board blames ice that winter.", "c.example", "E2")
    known = ledger_with(one, other, again, sites=("Evening Press", "The Daily Tide", "Post"))
    known.relations = Relations(
        True, holders={"E1": "the Harbour Board", "E3": "the Harbour Board"}
    )
    first_said, tide, more = said_of(one, other, again)
    *_, side, _ = box_of(known, first_said, more, tide)
    assert side == (
        f"**The Harbour Board** {BLAMES} [1] The Harbour Board blames ice that winter. [2]"
    )


def test_an_author_is_told_each_dispute_with_its_matter_sides_and_holders() -> None:
    board, tide = told(1, BOARD, "a.example", "E2", "E3"), told(2, TIDE, "b.example", "E1")
    third = told(3, "The ferry rammed the pier.", "c.example", "E1")
    odd, even = told(4, "It had nine piers.", "d.example", "E5"), told(5, "Ten.", "e.example", "E4")
    known = ledger_with(board, tide, third, odd, even)
    known.relations = Relations(
        True, matters={("E2", "E1"): "who is to blame"}, holders={"E1": "the Harbour Board"}
    )
    [blame] = disputes_on(known, {"E3"})
    assert blame.matter == "who is to blame"
    assert [([r.id for r in side], who) for side, who in blame.sides] == [
        (["E1"], "The Harbour Board"),
        (["E2", "E3"], ""),
    ]
    [piers] = disputes_on(known, {"E5"})
    assert (piers.matter, len(piers.sides)) == ("", 2)
    assert len(disputes_on(known, {"E1", "E5"})) == 2 and not disputes_on(known, {"E9"})


@pytest.mark.parametrize(
    ("second", "is_one"),
    [
        ("The bridge at Harrow fell in the autumn of 1887.", True),
        ("The bridge at Harrow fell in the autumn of 1889.", False),
        ("In 1887, by its letters, the old bridge at Harrow gave way in autumn rain.", False),
    ],
)
def test_statements_of_one_side_that_say_the_same_are_one(second: str, is_one: bool) -> None:
    """They have mostly the same words and the same numbers."""
    first = "The bridge at Harrow fell in autumn 1887."
    spring = told(1, "The bridge at Harrow fell in spring 1887.", "a.example", "E2", "E3")
    one, other = (
        told(number, claim, f"s{number}.example", "E1")
        for number, claim in ((2, first), (3, second))
    )
    known = ledger_with(spring, one, other, sites=("One", "Two", "Three"))
    draft = Draft((), (Section("A1", tuple(said_of(spring, one, other))),))
    found = gather_rivals(draft, known).sections[0].statements
    assert [each.evidence for each in found] == (
        [("E1",), ("E2", "E3")] if is_one else [("E1",), ("E2",), ("E3",)]
    )


@pytest.mark.parametrize(
    ("matter", "shown"),
    [
        ("who is to blame: winter or ferry.", "who is to blame: winter or ferry"),
        ("what the Harbour Guild blames", None),
        ("what happened in 1887", None),
        ("what is to blame for it by all that is known of it", None),
        ("", None),
    ],
)
async def test_a_box_says_what_a_dispute_is_about_in_words_that_the_claims_have(
    matter: str, shown: str | None
) -> None:
    one, other = told(1, BOARD, "a.example"), told(2, TIDE, "b.example")
    known = ledger_with(one, other, sites=("Harbour Board", "The Daily Tide"))

    async def refresh() -> None:
        pass

    run: Any = SimpleNamespace(
        form=Form.REPAIRED, ledger=known, refresh_aspects=refresh,
        question=SimpleNamespace(text=known.question),
    )  # fmt: skip
    pairs = [["[E1]", "E2", matter] if matter else ["E1", "E2"]]
    assert matters_of(known, pairs) == ({("E1", "E2"): shown} if shown else {})
    await relate_drafted(run, (), pairs)
    head, *_ = box_of(known, *said_of(one, other))
    assert head == f"Sources disagree:** {shown or ''}".rstrip()
    assert known.book.records["E1"].contradicts == ("E2",)


def test_an_address_stays_out_of_what_a_dispute_is_about() -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, sites=("Harbour Board", "The Daily Tide"))
    known.relations = Relations(True, matters={("E1", "E2"): "see evil.example"})
    assert "evil" not in box_of(known, *said_of(one, other))[0]


@pytest.mark.parametrize(
    ("form", "listed", "shown"),
    [
        (
            Form.EDITED,
            "- who is to blame: [E1] (The Harbour Board) against [E2] (The Daily Tide)",
            {"E1": "A2", "E2": "A1"},
        ),
        (Form.COMPUTED, "", {"E2": "A1"}),
    ],
)
def test_a_section_is_shown_each_dispute_that_it_has_a_side_of(
    monkeypatch: pytest.MonkeyPatch, form: Form, listed: str, shown: dict[str, str]
) -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    many = [told(n, f"Pier {n}.", "c.example", f"E{n + 1}") for n in range(3, 40)]
    many.append(told(40, "Pier 40.", "c.example"))
    known = ledger_with(replace(one, aspect_id="A2"), other, *many)
    known.relations = Relations(
        True,
        matters={("E1", "E2"): "who is to blame"},
        holders={"E1": "the Harbour Board", "E2": "The Daily Tide"},
    )
    fence = SimpleNamespace(shown=str)
    monkeypatch.setattr(sections, "fences", lambda _: fence)
    run: Any = SimpleNamespace(
        ledger=known, question=SimpleNamespace(text="Why?", today="2026-12-12"), form=form,
        shape=ReportFormat(), config=SimpleNamespace(research_depth="thorough"), began=form,
    )  # fmt: skip
    part = OutlinePart(known.aspects["A1"], (other,), 80)
    context = sections._section_context(run, [part], 10_000)
    prompt = TEMPLATES.get_template("section.md").render(context)
    assert {r.id: context["owners"][r.id] for r in context["evidence"]} == shown
    assert prompt.partition("# SOURCES DISAGREE\n")[2].strip() == listed
    assert ("stands before them and cites both" in prompt) is bool(listed)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("The Harbour Board blames the ice of that winter, which no crew had tested.", "side"),
        ("The Harbour Board blames the long winter.", "nowhere"),
        ("The Harbour Board sells the timber.", "apart"),
        ("Others blame the winter.", "apart"),
    ],
)
def test_what_a_holder_says_on_the_matter_stands_at_its_side_only(said: str, place: str) -> None:
    one, other = told(1, BOARD, "a.example", "E2"), told(2, TIDE, "b.example", "E1")
    known = ledger_with(one, other, told(3, said, "c.example"), sites=("Press", "Tide", "Post"))
    known.relations = Relations(True, holders={"E1": "the Harbour Board"})
    first = Statement("The bridge is gone.", ("E3",))
    draft = Draft((), (Section("A1", (first, *said_of(one, other), Statement(said, ("E3",)))),))
    shown = render_report(known, gather_rivals(draft, known), "", 0, 0, Layout()).markdown
    _, _, rest = shown.partition("> **⚠ ")
    box, _, behind = rest.partition("\n\n")
    assert (said in box, said in behind) == (place == "side", place == "apart")
