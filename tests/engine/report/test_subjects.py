"""Sentences of the short answer that don't say what they are on."""

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.records import Aspect, Source
from research.engine.report.draft import Draft, Statement
from research.engine.report.parts.subjects import (
    leans_back,
    opens_with_reference,
    refers_back,
    turns_back_early,
    with_subjects,
)
from research.engine.report.rendering.markdown import render_report
from research.engine.text.tokens import term_set
from tests.engine.scripted import ledger, page, quoted

ASKED = "When was the Gull Rock lighthouse first lit?"
TOWER = Statement("The tower of Harrow Point is built of granite.", ("E1",))
LIT = Statement("It was first lit in 1902.", ("E2",))
KEPT = Statement("They were relieved by boat.", ("E3",))


@pytest.fixture
def known() -> Ledger:
    """Two sub-questions: one page on the tower, one on the rock that gives two answers."""
    made, _ = ledger("What is the tower of Harrow Point built of, and when was Gull Rock lit?")
    made.aspects["A2"] = Aspect("A2", ASKED, ASKED, "plan", 1)
    pages = (
        page("https://point.example/", TOWER.text, "Harrow Point"),
        page("https://rock.example/", f"{LIT.text} {KEPT.text}", "Gull Rock"),
    )
    for source in pages:
        made.put_page(source)
        made.put_source(Source(source.url, source.title, source.url[8:-1], 1))
    for said, aspect, source in ((TOWER, "A1", 0), (LIT, "A2", 1), (KEPT, "A2", 1)):
        made.book.add(Finding(said.text, aspect, quoted(pages[source], said.text), 0.9), 1)
    return made


@pytest.mark.parametrize(
    ("sentence", "language", "leans"),
    [
        ("It was first lit in 1902.", "en", True),
        ("These lamps burn oil.", "en", True),
        ("The method halves the cost.", "en", True),
        ("The tower is of granite.", "en", False),
        ("The Gull Rock light is red.", "en", False),
        ("Item 4 is red.", "en", False),
        ("Das Verfahren halbiert die Kosten.", "de", True),
        ("Sie wurde 1902 gezündet.", "de", True),
        ("Ein Turm steht dort.", "de", False),
        ("Elle fut allumée en 1902.", "fr", True),
    ],
)
def test_a_sentence_leans_back_that_opens_with_a_pronoun_or_an_unknown_thing(
    sentence: str, language: str, leans: bool
) -> None:
    assert leans_back(sentence, language, term_set("the tower")) is leans


@pytest.mark.parametrize(
    ("sentence", "language", "refers"),
    [
        ("Most adults name such a serial.", "en", True),
        ("Land Letters credit it to easy fields.", "en", True),
        ("As a result Gull Rock gets calls.", "en", True),
        ("Gull Rock has lamps such as this one.", "en", True),
        ("Gull Rock has lights such as lamps.", "en", False),
        ("Gull Rock was lit so that ships see it.", "en", False),
        ("Deshalb ist Gull Rock rot.", "de", True),
        ("Gull Rock hat solche Lampen.", "de", True),
        ("Gull Rock hat rote Lampen.", "de", False),
    ],
)
def test_a_sentence_refers_back_that_points_at_what_stood_before(
    sentence: str, language: str, refers: bool
) -> None:
    assert refers_back(sentence, language, term_set("the tower")) is refers


def test_what_leans_on_another_page_stands_behind_its_sub_question(known: Ledger) -> None:
    tower, lit, kept = with_subjects((TOWER, LIT, KEPT), known)
    assert (tower, kept) == (TOWER, KEPT), "the page of the sentence before goes on"
    assert (lit.lead_in, lit.body) == (f"**{ASKED}** ", LIT.text)


def test_where_its_sub_question_was_answered_a_page_is_named(known: Ledger) -> None:
    first = Statement("Gull Rock was lit in 1902.", ("E2",))
    _, _, kept = with_subjects((first, TOWER, KEPT), known)
    assert kept.lead_in == "**Gull Rock:** "
    only, _ = ledger(ASKED)
    source = page("https://rock.example/", LIT.text, "Gull Rock")
    only.put_page(source)
    only.book.add(Finding(LIT.text, "A1", quoted(source, LIT.text), 0.9), 1)
    (said,) = with_subjects((Statement(LIT.text, ("E1",)),), only)
    assert said.text == f"**Gull Rock:** {LIT.text}"


def test_a_labelled_sentence_is_a_paragraph(known: Ledger) -> None:
    draft = Draft((TOWER, LIT), ())
    new = render_report(known, draft, "", 0, 0).markdown.split("\n\n")
    assert new[1:3] == [f"**Short answer.** {TOWER.text} [1]", f"**{ASKED}** {LIT.text} [2]"]


@pytest.mark.parametrize(
    ("sentence", "turns"),
    [
        ("If it fails, it leaves an invalid index.", True),
        ("By default it is -1.", True),
        ("Without them, rows stay.", True),
        ("If Norway says so, it is so.", False),
        ("If the vacuum fails, it is run again.", False),
        ("Vacuum makes it possible.", False),
        ("While order it may.", False),
    ],
)
def test_a_pronoun_behind_the_opening_turns_back(sentence: str, turns: bool) -> None:
    assert turns_back_early(sentence, "en", {"order"}) is turns


@pytest.mark.parametrize(
    ("sentence", "language", "opens"),
    [
        ("These must then be lit by hand.", "en", True),
        ("If this is not done, the lamp goes out.", "en", True),
        ("If it is not done, the lamp goes out.", "en", True),
        ("However, the lamp goes out.", "en", True),
        ("Wird dies unterlassen, erlischt die Lampe.", "de", True),
        ("The lamp of Gull Rock is red to this day.", "en", False),
        ("The lamp goes out.", "en", False),
        ("If the lamp fails, it is lit by hand.", "en", False),
    ],
)
def test_a_sentence_opens_with_a_reference_where_its_first_words_point_back(
    sentence: str, language: str, opens: bool
) -> None:
    assert opens_with_reference(sentence, language, term_set("the tower")) is opens
