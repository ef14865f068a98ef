"""What a report lists as still open, and who names it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from research.engine.evidence.claims.names import adds_nothing_to
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Relations
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import DraftAnswer, OpenDraftAnswer
from research.engine.records import Aspect, AspectState, Gap, OpenPoint, Source
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.draft_answer import read_draft
from research.engine.report.rendering.closing import with_untold_parts
from research.engine.report.rendering.markdown import Rendered, render_report
from research.engine.report.report_format import MOST_OPEN, Layout
from tests.engine.report.test_comparing import record_of
from tests.engine.scripted import CHAIN, SIMPLE, harbour, ledger, page, sections_of

LED = Layout(is_led=True)
FEE = "The Harbour Board charges 40 marks for a berth."


@pytest.fixture
def known() -> Ledger:
    """An answered sub-question, and one without an answer; the last assessment left a gap."""
    made, _ = ledger("What does a berth cost?", "Who may use it?", question="What of the berths?")
    record = record_of("E1", FEE, "board.example")
    url = record.sources[0].url
    made.put_page(page(url, FEE))
    made.put_source(Source(url, "T", "board.example", 1))
    made.book.take_over(record)
    made.book.take_over(record_of("E2", "Ferries pay double in winter.", "tide.example"))
    made.set_aspect("A1", state=AspectState.ANSWERED)
    made.gaps = {"G1": Gap("G1", "the fee in summer", "A1", False, 1)}
    return made


def rendered(known: Ledger, *points: tuple[str, str], layout: Layout = LED) -> Rendered:
    section = Section("A1", (Statement(FEE, ("E1",)),))
    draft = Draft((), (section,), open=tuple(OpenPoint(*each) for each in points))
    return render_report(known, draft, "", 0, 0, layout)


def listed(known: Ledger, *points: tuple[str, str]) -> list[str]:
    """Return the open points of the section, then those that are listed behind all sections."""
    told = rendered(known, *points).markdown
    _, _, here = told.partition("*Still open: ")
    _, _, rest = told.partition("## Still open\n\n")
    within = here.partition(".*\n")[0].split("; ") if here else []
    return [*within, *(line[2:] for line in rest.partition("\n\n")[0].splitlines())]


@pytest.mark.parametrize(
    ("point", "is_listed"),
    [
        (("A1", "whether the fee includes water"), True),
        (("A1", "what the Harbour Board charges for 40 days"), True),
        (("A2", "whether strangers need a pilot"), True),
        (("A9", "whether strangers need a pilot"), False),
        (("A1", "what the Salt Guild pays"), False),
        (("A1", "whether the fee was 30 marks"), False),
        (("A1", "what the Harbour Board charges for a berth"), False),
        (("A1", "whether ferries pay double in winter"), False),
        (("A2", "who may use it"), False),
    ],
)
def test_a_report_lists_what_its_author_calls_open_unless_it_is_told_or_unexplained(
    known: Ledger, point: tuple[str, str], is_listed: bool
) -> None:
    """The second finding isn't cited, and the second sub-question has no section."""
    assert bool(listed(known, point)) is is_listed
    assert len(rendered(known, point).open_points or ()) == is_listed


def test_a_point_is_not_told_by_a_replaced_value_that_the_report_leaves_out(known: Ledger) -> None:
    point = ("A1", "whether ferries pay double in winter")
    known.relations = Relations(True, replaced={"E2": "E1"})
    assert listed(known, point)
    said = Statement(FEE, ("E1",), earlier=("E2",))
    draft = Draft((), (Section("A1", (said,)),), open=(OpenPoint(*point),))
    assert render_report(known, draft, "", 0, 0, LED).open_points == ()
    known.began = Form.REPAIRED
    assert not listed(known, point)


def test_where_the_author_names_nothing_the_report_lists_nothing(known: Ledger) -> None:
    assert listed(known) == [] and rendered(known).open_points == ()
    assert listed(known, *[("A1", "how it is paid")] * 2) == ["how it is paid"]
    many = [("A1", f"how the {thing} is paid") for thing in ("rope", "crane", "light", "pilot")]
    many += [("A1", f"whether {thing} counts") for thing in ("mud", "ice", "tar", "oak")]
    assert len(listed(known, *many)) == MOST_OPEN


def test_a_point_stands_in_its_section_and_behind_all_where_it_has_none(known: Ledger) -> None:
    points = [
        ("A1", "how it is paid."),
        ("A1", "whether water counts"),
        ("A2", "whether strangers may"),
    ]
    told = rendered(known, *points).markdown
    section, _, rest = told.partition("## Still open\n\n")
    assert section.endswith("[1]\n\n*Still open: how it is paid; whether water counts.*\n\n")
    assert rest.startswith("- Whether strangers may\n\n")
    as_table = rendered(known, *points, layout=replace(LED, as_table=True)).markdown
    known.began = Form.COMPUTED
    for before in (as_table, rendered(known, *points).markdown):
        assert "*Still open" not in before and before.count("\n- ") >= len(points)


def test_without_an_author_the_gaps_of_the_last_assessment_are_listed(known: Ledger) -> None:
    draft = Draft((), (Section("A1", (Statement(FEE, ("E1",)),)),))
    told = render_report(known, draft, "", 0, 0, LED)
    assert "\n\n*Still open: the fee in summer.*\n\n## " in told.markdown
    assert told.open_points == (OpenPoint("A1", "the fee in summer"),)
    assert render_report(known, draft, "", 0, 0, Layout()).open_points is None


@pytest.mark.parametrize(
    ("text", "language", "is_known"),
    [
        ("ob die Gebühr auch im Winter gilt", "de", True),
        ("ob die Hansa Linie zahlt", "de", False),
        ("ob die Gebühr seit 1990 gilt", "de", False),
        ("whether the Guild pays", "en", False),
        ("whether the board pays 40 marks", "en", True),
    ],
)
def test_a_german_noun_is_no_name(text: str, language: str, is_known: bool) -> None:
    assert adds_nothing_to(text, "The Harbour Board charges 40 marks.", language) is is_known


def test_what_is_open_stands_under_a_sub_question_and_cites_nothing(known: Ledger) -> None:
    told = {"statements": [f"A1: {FEE} [E1]"], "short_answer": []}
    points = ["A1: how it is paid [E1]", "(A2) : who pays", "A7: nothing", "no sub-question"]
    draft = read_draft(known, OpenDraftAnswer(**told, open=points))
    assert draft.open == (OpenPoint("A1", "how it is paid"), OpenPoint("A2", "who pays"))
    worded = OpenDraftAnswer(**told, open=["A1: how it is paid [E1] | cash,  card | giro"])
    assert read_draft(known, worded).open == (
        OpenPoint("A1", "how it is paid", "cash, card | giro"),
    )
    known.began = Form.REPAIRED
    assert read_draft(known, worded).open == (
        OpenPoint("A1", "how it is paid | cash, card | giro"),
    )
    known.began = Form.COMPUTED
    assert read_draft(known, DraftAnswer(**told)).open is None
    assert replace(draft, open=()).open == ()


ASKED_OF_TWO = "What about the fee of a berth, or a MOORING permit?"


@pytest.mark.parametrize(
    ("asked", "gap", "given", "names"),
    [
        (ASKED_OF_TWO, None, ("whether a MOORING permit is due",),
         ["whether a MOORING permit is due"]),
        ("What does a berth cost, and how is it paid?", Gap("G1", "how it is paid", "A1", True, 1),
         (), ["how it is paid"]),
        ("What does a berth cost, and how is it paid?", Gap("G1", "how it is paid", "A1", False, 1),
         (), []),
        ("What does a berth cost?", Gap("G1", "how it is paid", "A1", True, 1), (),
         ["how it is paid"]),
    ],
    ids=["named by its author", "a gap", "a gap that matters less", "a gap of a single part"],
)  # fmt: skip
def test_the_parts_that_no_finding_tells_are_open(
    known: Ledger, asked: str, gap: Gap | None, given: Sequence[str], names: Sequence[str]
) -> None:
    known.set_aspect("A1", text=asked)
    known.gaps = {"G1": gap} if gap else {}
    section = Section("A1", (Statement(FEE, ("E1",)),))
    draft = Draft((), (section,), open=tuple(OpenPoint("A1", text) for text in given))
    known.began = Form.EDITED
    told = with_untold_parts(draft, known)
    assert [each.text for each in told.open or ()] == names
    shown = render_report(known, told, "", 0, 0, LED)
    assert [each.text for each in shown.open_points or ()] == names
    assert with_untold_parts(replace(draft, open=None), known).open is None
    known.began = Form.COMPUTED
    assert with_untold_parts(draft, known) == draft


@pytest.mark.parametrize(
    ("depth", "task", "script"),
    [("standard", "draft", SIMPLE), ("thorough", "summary", CHAIN), ("quick", "", SIMPLE)],
)
async def test_the_author_of_a_report_is_asked_what_it_leaves_open(
    depth: str, task: str, script: object
) -> None:
    """So is that of the summary, if sections are drafted apart; not that of a quick report."""
    world = harbour(script)  # type: ignore[arg-type]
    assert world.model is not None
    for asked in ("draft", "summary"):
        world.model.twists[asked] = lambda told: {**told, "open": ["A1: who keeps it today"]}
    question = script.question  # type: ignore[attr-defined]
    ran = await world.ask(question, research_depth=depth)
    schemas = {each.task for each in world.model.requests if "open" in each.schema["properties"]}
    assert schemas == ({task} if task else set())
    assert ("\n\n*Still open: who keeps it today.*" in ran.report.markdown) is bool(task)
    assert ran.report.checks.open_points == (1 if task else None)
    assert ran.of(Aspect)[0].open_points == bool(task)
    assert ran.report.checks.left_open == ((("A1", "who keeps it today"),) if task else ())


async def test_the_author_is_shown_what_the_last_assessment_missed() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    gap = {"text": "which colour it has", "sub_question": "A1", "query": "x", "critical": False}
    world.model.twists["assess"] = lambda told: {**told, "gaps": [gap]}
    await world.ask(CHAIN.question, research_depth="standard")
    drafts = [each.prompt for each in world.model.requests if each.task == "draft"]
    assert "- (A1) which colour it has" in sections_of(drafts[-1])["FOUND MISSING BEFORE"]
