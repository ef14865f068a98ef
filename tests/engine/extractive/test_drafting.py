from dataclasses import replace

from research.engine.draft import Draft, Section
from research.engine.extractive.answering import direct
from research.engine.extractive.drafting import draft, is_step, lead_in, statement
from research.engine.extractive.question import read_question
from research.engine.extractive.reading import read_pages
from research.engine.ledger import Ledger
from research.engine.markdown import render
from research.engine.records import Source
from research.engine.tasks.passages import _finding
from research.engine.tools import Page
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
OTHER = page(
    "https://more.example/",
    "Another method for scrambled eggs exists.\n\n## Scrambled eggs in the oven\n\n"
    "1. Heat the oven well before you crack any eggs.\n"
    "2. Butter a deep dish and break the eggs into it.\n"
    "3. Bake the eggs and scramble them from time to time.",
    "Scrambled eggs, baked",
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
        made.book.add(_finding(scored), 1)
    made.refresh_aspects()
    made.emit_evidence({})
    return made


def test_a_how_to_gives_one_source_s_list_whole_and_in_order() -> None:
    made = read_into("How to make scrambled eggs?", RECIPE, OTHER)
    found = draft(made)
    steps = [line.split(". ", 1)[1] for line in RECIPE.text.splitlines() if line[:1].isdigit()]
    for statements in (found.short_answer, found.sections[0].statements):
        assert [s.text.split("“")[1].rstrip("”") for s in statements] == steps
    assert {made.book.records[i].sources[0].url for s in found.statements for i in s.evidence} == {
        RECIPE.url
    }


def test_steps_are_told_whole_or_not_at_all_in_the_short_answer() -> None:
    manual = page(
        "https://manual.example/",
        "# The signing key of Gantry\n\nRotate the signing key at least once a year.\n\n"
        "## Steps\n\n"
        "1. Halt the publisher with gantry publisher stop.\n"
        "2. Create a new key with gantry key new --purpose signing.\n"
        "3. Add the new key to the trust file before you remove the old one.\n"
        "4. Launch the publisher and check gantry key list.",
        "The signing key - Gantry manual",
    )
    advice = page(
        "https://forum.example/",
        "# How do I rotate the Gantry signing key without downtime?\n\n"
        "Since Gantry 3.4 the publisher needs no restart when the signing key is rotated. "
        "Before that you had to stop the publisher first.",
        "How do I rotate the Gantry signing key",
    )
    found = draft(read_into("How do I rotate the Gantry signing key?", advice, manual))
    steps = {s.text for s in found.sections[0].statements}
    said = {s.text for s in found.short_answer}
    assert len(steps) == 4
    assert "Since Gantry 3.4" in found.short_answer[0].text
    assert not steps & said


PUMP = page(
    "https://pump.example/",
    "# Orwell pump manual\n\nThe Orwell pump needs a seal of rubber.\n\n"
    "## Replacing the seal\n\n"
    "1. Pull the plug.\n"
    "2. Loosen the four screws of the housing\n"
    "3. Then lift out the worn seal. It may stick to the groove, in which case a blunt blade of"
    " wood helps to part it from the housing.\n"
    "4. Click the new seal in place.\n"
    "5. Wait.\n\n"
    "Worn seals may be sent back to the factory of the Orwell pump to replace them.",
    "Orwell pump manual",
)


def test_short_steps_are_told_whole_and_lead_the_short_answer() -> None:
    found = draft(read_into("How do I replace the seal of the Orwell pump?", PUMP))
    assert found.opening == ""
    for statements in (found.short_answer, found.sections[0].statements):
        told = [s.text.split("“")[1].rstrip("”") for s in statements]
        assert [quote[:13] for quote in told] == [
            "Pull the plug",
            "Loosen the fo",
            "Then lift out",
            "Click the new",
            "Wait.",
        ]
        assert told[2].endswith("part it from the housing.")


def test_steps_for_another_part_are_no_direct_answer() -> None:
    found = draft(read_into("How do I replace the filter of the Orwell pump?", PUMP))
    assert found.short_answer and found.opening


def test_a_section_holds_the_best_passage_though_it_reads_ill() -> None:
    rules = page(
        "https://site.example/",
        "# Site rules\n\n## Evacuation\n\n"
        "Evacuation drills (those with the siren take place every six weeks.\n\n"
        "The scaffold may carry at most 150 kg per square metre of its floor.",
        "Site rules",
    )
    [section] = draft(read_into("How often do evacuation drills take place?", rules)).sections
    assert "Evacuation drills" in section.statements[0].text


def test_a_short_whole_sentence_stands_in_its_section() -> None:
    pens = page(
        "https://pens.example/",
        "# Pens\n\n## Ink\n\nThe pen holds 1.4 ml of ink. Ink of the pen is sold in bottles of"
        " glass that hold 30 ml, and in larger ones.",
        "Pens",
    )
    [section] = draft(read_into("How much ink does the pen hold?", pens)).sections
    assert any("1.4 ml" in each.text for each in section.statements)


def test_every_statement_is_a_quotation_behind_its_source() -> None:
    made = read_into("Why are eggs cooked over low heat?", RECIPE)
    for each in draft(made).statements:
        assert each.quoted
        [record] = (made.book.records[i] for i in each.evidence)
        assert each.text.startswith(f"**{lead_in(record.sources[0])}:** “")
        assert each == statement(record)


def test_a_lead_in_says_title_and_section_once() -> None:
    [source, *_] = (r.sources[0] for r in read_into("How to make eggs?", RECIPE).evidence)
    assert lead_in(replace(source, title="Eggs", section="Eggs › Pans")) == "Eggs › Pans"
    assert lead_in(replace(source, title="Eggs", section="")) == "Eggs"
    assert lead_in(replace(source, title="", section="Pans")) == "eggs.example › Pans"


def test_two_sources_are_shown_where_there_are_two() -> None:
    made = read_into("Why do storms put out the lamps of lighthouses?", *STORMS)
    shown = {
        made.book.records[i].sources[0].domain
        for s in draft(made).sections[0].statements
        for i in s.evidence
    }
    assert shown == {"a.example", "b.example"}


def test_where_nothing_answers_directly_it_says_so() -> None:
    far = page("https://a.example/", "Storms are frequent on the northern coast in the autumn.")
    made = read_into("Why do storms put out the lamps of lighthouses?", far)
    assert draft(made).opening == "No passage answers this directly; the closest:"
    near = page(
        "https://a.example/", "Storms put out the lamps of lighthouses because the glass breaks."
    )
    assert draft(read_into("Why do storms put out the lamps of lighthouses?", near)).opening == ""


def test_words_of_the_question_that_stand_apart_are_no_direct_answer() -> None:
    question = "How can keepers clean glass lamps?"
    apart = page(
        "https://a.example/",
        "Keepers live in the tower with their families. Lamps burn oil through the whole night.",
        "Keepers of glass lamps",
    )
    assert draft(read_into(question, apart)).opening
    whole = page(
        "https://a.example/",
        "Keepers clean the glass of their lamps with vinegar every morning.",
        "Keepers of glass lamps",
    )
    assert draft(read_into(question, whole)).opening == ""


def test_only_the_head_of_a_list_item_is_a_step() -> None:
    text = "Text.\n1. Beat it.\n- Stir it. Go on."
    assert is_step(text, text.index("Beat")) and is_step(text, text.index("Stir"))
    assert not is_step(text, text.index("Go")) and not is_step(text, 0)


def test_a_section_of_one_source_tells_of_the_others_that_were_found() -> None:
    made = read_into("Why do storms put out the lamps of lighthouses?", *STORMS)
    quoted = [record for record in made.evidence if record.keys == {"a.example"}][:1]
    assert quoted and len(made.keys_of("A1")) == 2
    said = tuple(statement(record) for record in quoted)
    written = render(made, Draft(said, (Section("A1", said),)), "Stopped.", 0, 0).markdown
    assert "Preliminary: quoted from one of 2 sources" in written


def test_a_sub_question_that_a_page_raised_is_a_heading_with_a_capital() -> None:
    made = read_into("lamps of lighthouses in storms", *STORMS)
    assert "\n## Lamps of lighthouses in storms\n" in render(made, draft(made), "", 0, 0).markdown


def test_a_list_of_things_is_no_list_of_steps() -> None:
    contents = page(
        "https://manual.example/",
        "# Trimming the lamp of Gantry\n\nTrim the lamp of Gantry at dusk with sharp scissors.\n\n"
        "## Trimming the lamp of Gantry: contents\n\n"
        "1. Wicks and other parts of the lamp of Gantry.\n"
        "2. The scissors with which keepers trim the lamp.\n"
        "3. Faults of a trimmed lamp and their causes.",
    )
    found = draft(read_into("How do I trim the lamp of Gantry?", contents))
    [section] = found.sections
    assert any("at dusk" in each.text for each in section.statements)


def test_none_is_direct_where_the_best_passage_is_not() -> None:
    question = "What puts out the lamps of lighthouses on every coast?"
    made = read_into(question, *STORMS)
    records = list(made.book.records.values())
    assert direct(records, read_question(question))
    beside = replace(records[0], sources=(replace(records[0].sources[0], quote="Gulls nest."),))
    best = replace(beside, relevance=0.99)
    assert not direct([*records, best], read_question(question))
