"""Sheets: which sentences of the pages a prompt shows.

Without `only_near` or `whole` they are those of the fixed mode and of small models.
"""

import pytest

from research.engine.llm_tasks.prompting.prompt_pages import (
    PAGE_CHARACTERS,
    SHORT_PAGE,
    number_sentences,
)
from tests.engine.scripted import LIT, SIMPLE, Oracle, Script, Web, World, page

FILLER = "Gulls nest here. Rain falls. Wind blows. "


def shown(*texts: str, wanted: str = "Who built the harbour lighthouse?") -> list[list[str]]:
    pages = [page(f"https://s{n}.example/", text, "Lighthouse") for n, text in enumerate(texts)]
    return [[line.sentence.text for line in s.lines] for s in number_sentences(pages, (wanted,))]


def test_sentences_far_from_what_is_wanted_are_left_out() -> None:
    [lines] = shown(f"{FILLER}The lighthouse is old. Edda Marlow drew it. {FILLER}")
    assert lines == ["Wind blows.", "The lighthouse is old.", "Edda Marlow drew it."]


def test_a_heading_that_is_wanted_brings_its_section() -> None:
    [lines] = shown(f"Opening.\n\n## The harbour\n\n{FILLER}")
    assert "Rain falls." in lines


def test_a_page_without_any_of_the_wanted_terms_is_shown_whole() -> None:
    [lines] = shown("Der Turm ist alt. Er ist weiß. Er leuchtet.")
    assert len(lines) == 3


def test_a_near_copy_shows_only_what_it_adds() -> None:
    told = " ".join(f"The lighthouse keeper {n} wrote letter {n}." for n in range(40))
    first, copy = shown(told, f"{told} The lighthouse was sold.")
    assert len(first) == 40
    assert copy == ["The lighthouse was sold."]


def test_a_sentence_that_two_sites_share_is_shown_of_both() -> None:
    shared = "Edda Marlow built the lighthouse."
    assert shown(f"{shared} It is white.", f"{shared} It is tall.")[1][0] == shared


@pytest.mark.requirement("D10")
def test_a_prompt_holds_at_most_8000_characters_of_a_page() -> None:
    told = [f"The lighthouse keeper {n} wrote of storm {n}." for n in range(400)]
    built = "Edda Marlow built the harbour lighthouse."
    [lines] = shown(f"It opens here. {' '.join(told)} {built}")
    assert 7900 < sum(map(len, lines)) <= 8000
    assert (lines[0], lines[-1]) == ("It opens here.", built)


BUILT = "Edda Marlow built the harbour lighthouse."


def test_a_relevant_page_that_fits_is_shown_whole_unless_cut_to_what_is_near() -> None:
    facts = " ".join(f"Crew {n} landed stone {n}." for n in range(24))
    [lines] = shown(f"{BUILT} {FILLER}\n\n## Works\n\n{FILLER}{facts}")
    assert len(lines) == 1 + 2 * 3 + 24


def test_of_a_long_page_whole_sections_come_before_single_sentences() -> None:
    section = f"{BUILT} {FILLER * 20}"
    chapters = "".join(f"## Chapter {n}\n\n{FILLER * 20}\n\n" for n in range(9))
    [lines] = shown(f"Opening.\n\n{chapters}## Builder\n\n{section}\n\n{chapters}")
    at = lines.index(BUILT)
    assert lines[0] == "Opening." and len(lines[at : at + 61]) == 61
    assert 7900 < sum(map(len, lines)) <= 8000


def test_a_section_longer_than_half_of_the_room_gives_its_paragraphs() -> None:
    paragraphs = "\n\n".join(FILLER * 10 for _ in range(30))
    [lines] = shown(f"Opening.\n\n{paragraphs}\n\nRain falls first. {BUILT} Then it closed.")
    assert lines[-3:] == ["Rain falls first.", BUILT, "Then it closed."]
    assert 7900 < sum(map(len, lines)) <= 8000


def test_room_that_one_page_leaves_is_for_the_others() -> None:
    told = [f"The harbour lighthouse keeper {n} built boat {n}." for n in range(100)]
    pages = [page("https://a.example/", BUILT), page("https://b.example/", " ".join(told))]
    for room in (1000, 2000):
        sheets = number_sentences(pages, ("Who built the harbour lighthouse?",), room)
        shown_each = [sum(len(line.sentence.text) for line in s.lines) for s in sheets]
        assert shown_each[0] == len(BUILT)
        assert room - 60 < sum(shown_each) <= room


def test_a_page_of_several_topics_has_room_for_each() -> None:
    told = [f"The keeper {n} rang the bell {n} for boats." for n in range(300)]
    told += [f"The oil {n} was paid for by the town {n}." for n in range(300)]
    [shared, alone] = [page(f"https://{n}.example/", " ".join(told)) for n in ("a", "b")]
    beside = {shared.url: ("Who paid for the oil?",)}
    sheets = number_sentences([shared, alone], ("Who rang the bell?",), beside=beside)
    sizes = [sum(len(line.sentence.text) for line in sheet.lines) for sheet in sheets]
    assert sizes[1] <= PAGE_CHARACTERS < sizes[0] <= 2 * PAGE_CHARACTERS
    assert any("oil" in line.sentence.text for line in sheets[0].lines)
    assert not any("oil 9" in line.sentence.text for line in sheets[1].lines)


def test_sentences_that_are_known_are_left_out() -> None:
    one = page("https://a.example/", "The keeper rang. The boats came. The bell fell.")
    [sheet] = number_sentences([one], ("Who rang the bell?",), known={one.url: {0}})
    assert [line.sentence.text for line in sheet.lines] == ["The boats came.", "The bell fell."]


def test_a_long_relevant_page_is_cut_to_what_is_near_only_where_asked() -> None:
    text = f"Edda Marlow built the harbour lighthouse. {FILLER * 40}"
    pages = [page("https://s.example/", text, "Lighthouse")]
    wanted = ("Who built the harbour lighthouse?",)
    [whole] = number_sentences(pages, wanted)
    [near] = number_sentences(pages, wanted, only_near=True)
    assert len(whole.lines) == 121
    told = [line.sentence.text for line in near.lines]
    assert told == ["Edda Marlow built the harbour lighthouse.", "Gulls nest here."]


def test_a_short_page_is_shown_whole() -> None:
    pages = [page("https://s.example/", f"The lighthouse is old. {FILLER * 2}", "Lighthouse")]
    [sheet] = number_sentences(pages, ("Who built the lighthouse?",), only_near=True)
    assert len(sheet.lines) == 7


# --- what runs show ---------------------------------------------------------------------------

KEEPER = "The keeper's cottage was sold in a later year."


async def first_prompt(script: Script, **knobs: str) -> str:
    """Return what the reading model is shown of a relevant page of 1,250 characters."""
    text = f"{LIT} {FILLER * 28}{KEEPER} {FILLER}"
    assert SHORT_PAGE < len(text) < 1_400
    world = World(Web([page("https://s.example/", text, "Harrow Point")]), Oracle(script))
    assert world.model is not None
    await world.ask(script.question, **knobs)
    return next(each.prompt for each in world.model.requests if each.task == "read")


BROAD = Script(SIMPLE.question, SIMPLE.parts * 7, "complex")


@pytest.mark.requirement("D10")
@pytest.mark.parametrize(
    "script, is_whole", [(SIMPLE, False), (BROAD, True)], ids=["simple", "broad"]
)
async def test_a_relevant_page_is_cut_to_what_is_near_unless_the_question_is_broad(
    script: Script, is_whole: bool
) -> None:
    prompt = await first_prompt(script)
    assert LIT in prompt
    assert (KEEPER in prompt) == is_whole


def test_headings_and_defined_terms_stand_above_their_sentences() -> None:
    listed = "###### `lamp_limit` (integer)\n\nThe default is 50. It is read at the start."
    long = "###### Every report must say that the lamp is the best of all lamps\n\nIt burns oil."
    text = (
        "# Lighthouse\n\nThe lighthouse.\n\n## Lamp\n\n### Settings\n\nThey are few.\n\nOld."
        f"\n\n{listed}\n\n### Every report must say that the lamp is best\n\nIt burns.\n\n{long}"
        "\n\n### Wick\n\nIt is short.\n\n## Horn\n\n### Settings\n\nIt has none."
    )
    read = page("https://a.example/", text, "Lighthouse")
    [sheet] = number_sentences([read], ("lamp",), whole=True, pointed=True)
    assert {line.sentence.text: line.term for line in sheet.lines if line.term} == {
        "The default is 50.": "`lamp_limit` (integer)"
    }
    assert {line.sentence.text: line.heading for line in sheet.lines if line.heading} == {
        "They are few.": "Lamp › Settings",
        "It is short.": "Wick",
        "It has none.": "Horn › Settings",
    }
    [sheet] = number_sentences([read], ("lamp",), whole=True)
    assert not any(line.term or line.heading for line in sheet.lines)


def test_what_heads_a_note_or_numbers_a_figure_is_left_out() -> None:
    told = [
        "Note",
        "The lamp is oiled.",
        "Figure 16.158.",
        "Table 2: three lamps.",
        "Notes differ.",
    ]
    read = page("https://a.example/", "\n\n".join(told), "Lighthouse")
    [sheet] = number_sentences([read], ("lamp",), whole=True)
    assert [line.sentence.text for line in sheet.lines] == [told[1], *told[3:]]


def test_of_a_long_page_a_pointed_reading_shows_what_a_topic_names_and_not_one_term_often() -> None:
    gas = [f"The lamp_limit of gas house {n} is set at night." for n in range(300)]
    rest = ["Old oil is drained by the keeper.", "A broken mantle is sold in the spring."]
    filler = [f"Gull {n} sleeps." for n in range(4)]
    text = "\n\n".join(f"## Part {n}\n\n{said}" for n, said in enumerate([*gas, *filler, *rest]))
    read = page("https://a.example/", text, "Lighthouse")
    aims = (
        "How is the lamp of a gas house set at night?",
        "lamp_limit, drained oil, broken mantle",
    )
    for pointed in (True, False):
        [sheet] = number_sentences([read], aims, pointed=pointed)
        shown = {line.sentence.text for line in sheet.lines}
        assert shown.issuperset(rest) == pointed


def test_a_command_comes_along_with_the_paragraph_that_leads_to_it() -> None:
    """The wanted words stand at the begin of the paragraph, for which there is just room."""
    led = "The flame of a lamp drowns in its oil. It happens often.", "The keeper types:"
    parts = [f"Gull {n} sleeps." for n in range(300)]
    parts[200] = f"{' '.join(led)}\n\n    trim --wick=3"
    text = "# Lighthouse\n\n" + "\n\n".join(parts)
    read = page("https://a.example/", text, "Lighthouse")
    [sheet] = number_sentences([read], ("Why does the flame drown in oil?",), 190)
    shown = [line.sentence.text for line in sheet.lines]
    assert shown[shown.index(led[1]) :][:2] == [led[1], "trim --wick=3"]
