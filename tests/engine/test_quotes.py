import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine import quotes
from research.engine.sentences import sentences
from research.engine.text import normalise

TEXT = (
    "The café — “Zum Anker” — opened in 1887.\n\nIts owner paid 1,200 crowns for the house, "
    "and he did not sell it to\nthe harbour board."
)


def at(quote: str, text: str = TEXT) -> str | None:
    place = quotes.locate(quote, text)
    return text[slice(*place)] if place else None


# --- locate ---------------------------------------------------------------------------------


@given(st.integers(0, len(TEXT)), st.integers(1, 80))
def test_every_part_of_a_page_is_found_in_it(start: int, length: int) -> None:
    part = TEXT[start : start + length].strip()
    if any(character.isalnum() for character in part):  # a lone mark stands at many places
        assert normalise(at(part) or "") == normalise(part)


@pytest.mark.parametrize(
    "quote",
    [
        'The café - "Zum Anker" - opened in 1887.',
        "The  café —\n“Zum Anker” — opened in 1887.",
        unicodedata.normalize("NFD", "The café — “Zum Anker” — opened in 1887."),
        "The café — “Zum\u00a0Anker” — opened in 1887.",
    ],
)
def test_typography_and_white_space_make_no_difference(quote: str) -> None:
    assert at(quote) == "The café — “Zum Anker” — opened in 1887."


def test_a_decomposed_page_holds_a_composed_quote() -> None:
    page = unicodedata.normalize("NFD", TEXT)
    found = at("The café — “Zum Anker” — opened", page)
    assert found is not None
    assert unicodedata.normalize("NFC", found) == "The café — “Zum Anker” — opened"


def test_a_few_wrong_letters_give_the_page_s_own_words() -> None:
    quote = "and he did not sel it to the harbour boards"
    assert at(quote) == "and he did not sell it to\nthe harbour board."


@pytest.mark.requirement("F1")
@pytest.mark.parametrize(
    "quote",
    [
        "Its owner paid 1,300 crowns for the house, and he did not sell it to the harbour board.",
        "Its owner paid 1,200 crowns for the house, and he did now sell it to the harbour board.",
        "Its owner burned the house down and fled to the hills beyond.",
        "",
        "   ",
    ],
)
def test_another_number_a_lost_negation_or_other_words_are_refused(quote: str) -> None:
    assert at(quote) is None


# --- span -----------------------------------------------------------------------------------

PROSE = st.lists(st.text("ab ", min_size=1, max_size=300).map(lambda s: s + "."), min_size=1)


@given(PROSE, st.lists(st.integers(0, 9), max_size=5))
def test_a_quote_is_never_longer_than_400_characters(parts: list[str], picked: list[int]) -> None:
    text = " ".join(parts)
    found = sentences(text)
    chosen = [found[n] for n in picked if n < len(found)]
    place = quotes.span(chosen, text)
    if place is None:
        return
    start, end = place
    assert 0 < end - start <= quotes.MAX_QUOTE
    assert start == chosen[0].start
    assert not text[start:end].endswith(" ")


def test_neighbouring_sentences_make_one_quote_and_others_do_not() -> None:
    text = "One is here. Two is here. Three is here."
    one, two, three = sentences(text)
    assert quotes.span([one, two], text) == (one.start, two.end)
    assert quotes.span([one, three], text) == (one.start, one.end)
    assert quotes.span([two, one], text) == (two.start, two.end)
    assert quotes.span([], text) is None


def test_a_list_item_is_a_quote_of_its_own() -> None:
    text = "- Beat the eggs.\n- Melt the butter."
    one, two = sentences(text)
    assert quotes.span([one, two], text) == (one.start, one.end)


def test_a_long_sentence_is_cut_at_a_word() -> None:
    text = "word " * 200 + "end."
    place = quotes.span(sentences(text), text)
    assert place is not None
    assert text[slice(*place)].endswith("word")
    assert place[1] - place[0] > quotes.MAX_QUOTE - 10


# --- plain ---------------------------------------------------------------------------------


def test_marks_of_lists_are_no_part_of_what_people_read() -> None:
    assert quotes.plain("1. Beat the\n   eggs.\n- Serve.") == "Beat the eggs. Serve."
