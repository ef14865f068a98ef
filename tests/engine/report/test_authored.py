"""A standard report has the sections that its author named and ordered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.llm_tasks.answers import SectionAnswer
from research.engine.records import Evidence
from research.engine.report.checking.next_steps import with_few_conclusions
from research.engine.report.draft import Draft, Section, Statement, cite_ids
from research.engine.report.draft_answer import (
    heading_of,
    open_number,
    read_sections,
    steps_of,
    texts_of,
)
from research.engine.report.parts.headings import fitting_heading
from research.engine.report.parts.paragraphs import with_bold_name
from research.engine.report.report_format import without_loose_ends
from tests.engine.scripted import CHAIN, QUALIFIED, Oracle, Ran, harbour, ledger

DESIGNED = "The Harrow Point lighthouse was designed by Edda Marlow. [E1]"
TRAINED = "Edda Marlow learned her trade at the Calder foundry in Leith. [E2]"
OWNED = "The Calder foundry belonged to Ruth Ansel until it closed in 1912. [E3]"
SOLD = "Ruth Ansel owned the Calder foundry and sold its tools in 1912. [E4]"
LOOK = "Look for the papers of Edda Marlow at the Calder foundry, where she learned. [E1, E2]"


def section(heading: str, on: str, *statements: str) -> dict[str, Any]:
    return {"heading": heading, "on": on.split(), "statements": list(statements)}


async def asked(*sections: dict[str, Any], **answer: Any) -> tuple[Oracle, Ran]:
    world = harbour(CHAIN)
    assert world.model is not None
    draft = {"verdict": [], "short_answer": [], "sections": [*sections], **answer}
    world.model.twists["draft"] = lambda _: draft
    ran = await world.ask(CHAIN.question, verifier=QUALIFIED)
    replayed = await world.replay(CHAIN.question, verifier=QUALIFIED)
    assert replayed.final() == ran.final() and not replayed.journal.divergences
    return world.model, ran


def headings(ran: Ran) -> list[str]:
    lines = ran.report.markdown.splitlines()
    return [line.removeprefix("## ") for line in lines if line.startswith("## ")]


async def test_sections_stand_in_the_order_and_under_the_headings_of_their_author() -> None:
    _, ran = await asked(
        section("The foundry and its owner", "A3 A2", OWNED, f"¶ {TRAINED}", SOLD),
        section("Who designed it", "A1", DESIGNED),
        verdict=[DESIGNED],
        short_answer=[f"The foundry: {SOLD}"],
    )
    assert headings(ran)[:2] == ["The foundry and its owner", "Who designed it"]
    told = ran.report.markdown
    below = told.split("## The foundry and its owner")[1]
    assert "until it closed in 1912. [4]\n\nEdda Marlow learned" in below
    top = told.partition("\n## ")[0]
    assert top.split("**Short answer.** ")[1].startswith("The Harrow Point lighthouse was designed")
    assert "\n- **The foundry:** Ruth Ansel owned" in top
    assert "Where was the designer trained?" not in told, "that is told under another heading"


async def test_steps_follow_the_short_answer_under_the_heads_of_their_author() -> None:
    steps = ["# At the foundry", LOOK, "# In Leith", f"Ask there. {TRAINED}"]
    _, ran = await asked(
        section("Who designed it", "A1", DESIGNED),
        section("How to go on", "A2 A3", TRAINED, OWNED),
        next_steps=steps,
    )
    top, _, below = ran.report.markdown.partition("\n## ")
    assert top.index("**What to do.**") < top.index("**At the foundry**")
    assert "1. Look for the papers" in top and "**What to do.**" not in below


async def test_an_open_point_that_the_short_answer_names_stands_there_as_open() -> None:
    _, ran = await asked(
        section("Who designed it", "A1", DESIGNED),
        section("Her training", "A2 A3", TRAINED, OWNED),
        verdict=[DESIGNED],
        short_answer=["open 1", "open 7"],
        open=["A2: how long the training took"],
    )
    top = ran.report.markdown.partition("\n## ")[0]
    assert "How long the training took." in top and top.count("- **") == 1


def asked_chain() -> Ledger:
    return ledger(*(part.question for part in CHAIN.parts), question=CHAIN.question)[0]


def read(*sections: dict[str, Any]) -> list[tuple[str, tuple[str, ...], str, int]]:
    """Return sub-question, covered ones, heading and number of statements of each section."""
    known = asked_chain()
    told = [SectionAnswer.model_validate(each) for each in sections]
    said = [cite_ids(text, known) for text in texts_of(told)]
    found = read_sections(told, said, known)
    return [(s.aspect_id, s.covers, s.heading, len(s.statements)) for s in found]


def test_each_section_is_kept_under_a_sub_question_that_no_other_is_under() -> None:
    found = read(
        section("Design", "A1 A2", "A."),
        section("Another", "A1", "B.", "C."),
        section("A third", "A9", "D."),
    )
    assert [each[0] for each in found] == ["A1", "A2", "A3"]
    assert found[0][1:] == (("A2",), "Design", 1) and found[1][1:] == (("A1",), "Another", 2)


def test_a_section_for_which_no_sub_question_is_left_goes_on_in_the_one_before() -> None:
    found = read(*(section(f"Part {name}", "A1", f"{name}.") for name in "wxyz"))
    assert [each[3] for each in found] == [1, 1, 2]
    assert read(section("", "A1"), section("Told", "A2", "A."))[0][:2] == ("A2", ())


def dictated(said: str) -> Evidence:
    return Evidence("E1", said, "A1", 1, (), 1.0, uncertainty=("dictated",))


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("how to go", "How to go"),
        ("Built in 1887", ""),
        ("Why Brunel was right", ""),
        ("Why Marlow was right", "Why Marlow was right"),
        ("The harbour board started the fire", ""),
        ("One two three four five six seven eight nine ten eleven twelve thirteen", ""),
        ("", ""),
    ],
)
def test_a_heading_says_what_is_said_below_it_or_asked(heading: str, shown: str) -> None:
    below = [Statement("Edda Marlow designed it.", ("E1",))]
    assert fitting_heading(heading, below, asked_chain()) == shown


def test_what_a_page_dictates_is_not_said_below_a_heading() -> None:
    known, said = asked_chain(), "The harbour board started the fire."
    below = [Statement(said, ("E1",))]
    assert fitting_heading("The harbour board started the fire", below, known)
    known.book.records["E1"] = dictated(said)
    assert not fitting_heading("The harbour board started the fire", below, known)


async def test_a_section_goes_by_its_sub_question_where_its_heading_does_not_fit() -> None:
    _, ran = await asked(
        section("The harbour board started the fire", "A1", DESIGNED),
        section("The foundry", "A2 A3", TRAINED, OWNED),
    )
    assert headings(ran)[:2] == ["Who designed the Harrow Point lighthouse?", "The foundry"]


def test_headings_lose_ids_and_the_marks_of_a_heading() -> None:
    assert heading_of("## The lighthouse: [E1]") == "The lighthouse"


def test_steps_are_read_with_the_heads_that_they_stand_under() -> None:
    told = ["Ask.", "# Before", "Look.", "Write.", "# On the day", "Go."]
    assert steps_of(told) == [
        ("Ask.", ""),
        ("Look.", "Before"),
        ("Write.", "Before"),
        ("Go.", "On the day"),
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [("open 1", 1), ("Open 12.", 12), ("The open 1 is far.", 0), ("open", 0), ("1", 0)],
)
def test_a_point_of_the_short_answer_may_stand_for_an_open_one(text: str, number: int) -> None:
    assert open_number(text) == number


def test_the_status_names_parts_by_the_headings_of_their_sections() -> None:
    draft = Draft(
        (),
        (
            Section("A1", (), heading="Her work", covers=("A2", "A3")),
            Section("A2", (), heading="Her training"),
        ),
    )
    assert draft.headings == {"A1": "Her work", "A2": "Her training", "A3": "Her work"}
    unnamed = replace(draft.sections[1], heading="")
    assert replace(draft, sections=(draft.sections[0], unnamed)).headings == {
        "A1": "Her work",
        "A3": "Her work",
    }


@pytest.mark.parametrize(("size", "kept"), [(4, 3), (8, 4), (9, 5)])
def test_half_of_an_authors_sentences_may_conclude(size: int, kept: int) -> None:
    said = tuple(Statement(f"It follows {n}.", ("E1",), concludes=True) for n in range(size))
    draft = Draft((), (Section("A1", said),), is_authored=True)
    [section] = with_few_conclusions(draft).sections
    assert [each.concludes for each in section.statements] == [n < kept for n in range(size)]


async def test_a_refused_verdict_is_written_anew_else_the_first_section_opens_the_report() -> None:
    said = "Edda Marlow learned her trade in Leith. [E2]"
    sections = (section("Her training", "A2 A3", TRAINED, OWNED), section("It", "A1", DESIGNED))
    wrong = "The Harrow Point lighthouse was designed by Ruth Ansel. [E1]"

    def repaired(answer: dict[str, Any]) -> dict[str, Any]:
        anew = {"text": said.partition(" [")[0], "evidence": ["E2"]}
        return {"statements": [{**each, **anew} for each in answer["statements"]]}

    for repair, opening in (
        (repaired, "Edda Marlow learned her trade in Leith"),
        (lambda _: {"statements": []}, "Edda Marlow learned her trade at the Calder foundry"),
    ):
        world = harbour(CHAIN)
        assert world.model is not None
        draft = {"verdict": [wrong], "short_answer": [], "sections": [*sections]}
        world.model.twists |= {"draft": lambda _, draft=draft: draft, "repair": repair}
        ran = await world.ask(CHAIN.question, verifier=QUALIFIED)
        assert [r for r in world.model.requests if r.task == "repair"]
        assert ran.report.markdown.split("**Short answer.** ")[1].startswith(opening)
        assert "Ruth Ansel. [" not in ran.report.markdown


def test_a_point_goes_on_with_a_capital_unless_its_first_word_is_a_name() -> None:
    assert with_bold_name("Check: watch it. [1]", {"ppscheck"}) == "**Check:** Watch it. [1]"
    assert with_bold_name("Pulse: ppscheck sees it.", {"ppscheck"}) == (
        "**Pulse:** ppscheck sees it."
    )


async def test_a_part_of_the_verdict_that_is_lost_is_told_by_its_section() -> None:
    """Of the verdict's sentences one is refused twice; the section tells the same."""
    lost = "=> The Harrow Point lighthouse was designed in 1886 by Edda Marlow of Leith. [E1]"
    kept = OWNED
    sections = (section("Who", "A1", DESIGNED), section("Where", "A2 A3", TRAINED, OWNED))
    world = harbour(CHAIN)
    assert world.model is not None
    draft = {"verdict": [lost, kept], "short_answer": [], "sections": [*sections]}
    world.model.twists |= {"draft": lambda _: draft, "repair": lambda _: {"statements": []}}
    ran = await world.ask(CHAIN.question, verifier=QUALIFIED)
    top = ran.report.markdown.partition("\n## ")[0]

    assert "1886" not in top and "**Short answer.** The Harrow Point lighthouse was designed" in top
    assert top.index("was designed by Edda Marlow") < top.index("belonged to Ruth Ansel")


def test_what_goes_on_from_a_sentence_that_was_cut_goes_too() -> None:
    first = Statement("The lamp burns oil.", ("E1",))
    cut = Statement("Declick removes single clicks.", ("E2",))
    goes_on = Statement("It is meant for few samples.", ("E2",))
    again = Statement("Their number is told by the manual.", ("E3",))
    last = Statement("The tower is old.", ("E4",))
    whole = Draft((), (Section("A1", (first, cut, goes_on, again, last)),), is_authored=True)
    short = replace(whole, sections=(Section("A1", (first, goes_on, again, last)),))
    [left] = without_loose_ends(short, whole, "en").sections
    assert left.statements == (first, last)
    [all_of_it] = without_loose_ends(whole, whole, "en").sections
    assert all_of_it.statements == whole.sections[0].statements
