from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.offline.drafting import draft_closest, draft_offline, lead_in, quote_statement
from research.engine.offline.passages.reading import _to_finding, read_pages
from research.engine.offline.passages.shown_passages import standings
from research.engine.ports import Page
from research.engine.records import Source
from research.engine.report.draft import Section
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout
from tests.engine.scripted import ledger, page

RECIPE = page(
    "https://eggs.example/",
    "Scrambled eggs are cooked over low heat.\n\n## How to make scrambled eggs\n\n"
    "1. Crack four eggs into a bowl of medium size.\n"
    "2. Beat the eggs with a fork until they are even.\n"
    "3. Melt the butter in a pan over a low heat.\n"
    "4. Pour the eggs into the pan and wait a moment.\n"
    "5. Stir the eggs slowly until soft curds form there.\n"
    "6. Serve the scrambled eggs at once on warm plates.",
    "How to make scrambled eggs",
)
STORMS = (
    page("https://a.example/", "Storms put out the lamps of lighthouses on every coast. " * 3),
    page("https://b.example/", "The lamps of lighthouses go out when storms are heavy at night."),
)


def read_into(question: str, *pages: Page) -> Ledger:
    made, _ = ledger(question)
    for each in pages:
        made.pages[each.url] = each
        made.sources[each.url] = Source(each.url, each.title, each.url, 1)
    for scored in read_pages(pages, list(made.aspects.values()), 5):
        made.book.add(_to_finding(scored), 1)
    made.refresh_aspects(standings(made))
    made.emit_evidence({})
    return made


def judged(question: str, probability: float, *pages: Page) -> Ledger:
    made = read_into(question, *pages)
    found = made.aspects["A1"].standing
    assert found is not None
    made.refresh_aspects({"A1": replace(found, probability=probability)})
    return made


def test_the_short_answer_is_the_first_passage_whole() -> None:
    made = judged("How to make scrambled eggs?", 0.8, RECIPE)
    found = draft_offline(made)
    [short] = found.short_answer
    assert found.by_code and not found.opening
    assert "Crack four eggs" in short.text and "warm plates." in short.text
    assert short not in found.sections[0].statements
    told = render_report(made, found, "Stopped.", 0, 0)
    assert "**Best passage.**" in told.markdown and "Crack four eggs" in told.short_answer
    assert "Passages that may answer this; no model has judged them." in told.markdown


def test_below_seven_passages_are_shown_and_no_short_answer() -> None:
    made = judged("How to make scrambled eggs?", 0.6, RECIPE)
    told = render_report(made, draft_offline(made), "Stopped.", 0, 0)
    assert not told.short_answer and "Best passage" not in told.markdown
    heading = "Passages that may answer this; no model has judged them."
    assert told.markdown.count(heading) == 1
    assert "four eggs into" in told.markdown and told.citations


def test_below_three_passages_are_folded_under_what_says_so() -> None:
    toast = page("https://toast.example/", "Scrambled eggs are eaten on toast by most people.")
    made = judged("How to make scrambled eggs?", 0.2, RECIPE, toast)
    found = draft_closest(made)
    assert not found.found
    told = render_report(made, found, "Stopped.", 0, 0)
    assert not told.short_answer and "no model has judged" not in told.markdown
    said = told.markdown.index("**Nothing here seems to answer this.**")
    folded = told.markdown.index("\n\n> *Closest passages, may be off topic*\n>\n> **How to make")
    assert said < folded
    assert "> **toast.example:**" in told.markdown


def test_passages_of_a_sub_question_that_nothing_seems_to_answer_are_folded() -> None:
    made = judged("How to make scrambled eggs?", 0.8, RECIPE)
    standing = made.aspects["A1"].standing
    assert standing is not None
    made.raise_aspect("Why are eggs yellow?", "eggs yellow", "plan", 0)
    made.refresh_aspects({"A1": standing, "A2": replace(standing, probability=0.2)})
    told = render_report(made, draft_offline(made), "Stopped.", 0, 0).markdown
    heading = "## Why are eggs yellow?\n\n*Nothing here seems to answer this.*\n\n> *Closest"
    assert heading in told


def test_a_passage_is_quoted_once_and_then_referred_to() -> None:
    made = judged("How to make scrambled eggs?", 0.8, RECIPE)
    found = draft_offline(made)
    again = replace(found, sections=(Section("A1", found.short_answer),))
    told = render_report(made, again, "Stopped.", 0, 0, Layout(is_direct=False)).markdown
    reference = "**How to make scrambled eggs:** quoted above [1]"
    assert told.count("Crack four") == 1 and reference in told


def test_a_report_of_one_passage_has_no_section_that_only_refers_back() -> None:
    made = judged("How to make scrambled eggs?", 0.8, RECIPE)
    found = draft_offline(made)
    again = replace(found, sections=(Section("A1", found.short_answer),))
    told = render_report(made, again, "Stopped.", 0, 0).markdown
    assert told.count("Crack four") == 1 and "quoted above" not in told
    assert [line for line in told.splitlines() if line.startswith("## ")] == [
        "## Sources",
        "## Method",
    ]


def test_quotes_stand_word_for_word_without_weight_on_the_words_asked_for() -> None:
    made = judged("Why does a storm put out a lamp?", 0.8, *STORMS)
    told = render_report(made, draft_offline(made), "Stopped.", 0, 0)
    assert "“Storms put out the lamps of lighthouses" in told.markdown


def test_every_statement_is_a_quotation_behind_its_source() -> None:
    made = read_into("Why are eggs cooked over low heat?", RECIPE)
    for each in draft_offline(made).statements:
        assert each.quoted
        [record] = (made.book.records[i] for i in each.evidence)
        assert each.text.startswith(f"**{lead_in(record.sources[0])}:** “")
        assert each == quote_statement(record)


def test_a_lead_in_says_title_and_section_once() -> None:
    [source, *_] = (r.sources[0] for r in read_into("How to make eggs?", RECIPE).evidence)
    assert lead_in(replace(source, title="Eggs", section="Eggs › Pans")) == "Eggs › Pans"
    assert lead_in(replace(source, title="Eggs", section="")) == "Eggs"
    assert lead_in(replace(source, title="", section="Pans")) == "eggs.example › Pans"


def test_a_sub_question_that_a_page_raised_is_a_heading_with_a_capital() -> None:
    made = read_into("lamps of lighthouses in storms", *STORMS)
    assert (
        "\n## Lamps of lighthouses in storms\n"
        in render_report(made, draft_offline(made), "", 0, 0).markdown
    )
