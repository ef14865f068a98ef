"""Sheets: which sentences of the pages a prompt shows."""

import pytest

from research.engine.sheets import number_sentences
from tests.engine.scripted import page

FILLER = "Gulls nest here. Rain falls. Wind blows. "


def shown(*texts: str, wanted: str = "Who built the harbour lighthouse?") -> list[list[str]]:
    pages = [page(f"https://s{n}.example/", text, "Lighthouse") for n, text in enumerate(texts)]
    return [[line.sentence.text for line in s.lines] for s in number_sentences(pages, wanted)]


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
