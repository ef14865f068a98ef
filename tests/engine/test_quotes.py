import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine import quotes
from research.engine.text import normalise, sentences

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


# --- differences ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim, quote, flags",
    [
        ("It was lit in 1887.", "The tower was lit in 1887.", ()),
        ("It was lit in 1889.", "The tower was lit in 1887.", ("number_differs",)),
        ("It has three lamps.", "The tower has 3 lamps.", ()),
        ("It was lit.", "The tower was lit in 1887.", ()),
        ("It cost 5 million.", "The tower cost 5 billion.", ("number_differs",)),
        ("It cost 5 million.", "The tower cost 5 Million.", ()),
        ("Ruth Ansel lit it.", "Edda Marlow lit it.", ("name_differs",)),
        ("Marlow lit it.", "Edda Marlow lit it.", ()),
        ("It was lit.", "It was never lit.", ("negation_differs",)),
        ("It was not lit.", "It was lit.", ("negation_differs",)),
        ("Prices rose.", "Prices fell.", ("negation_differs",)),
    ],
)
def test_what_a_claim_adds_to_its_quote_is_flagged(
    claim: str, quote: str, flags: tuple[str, ...]
) -> None:
    assert quotes.differences(claim, quote, "") == flags


def test_the_context_lends_names_but_no_numbers() -> None:
    claim, quote = "Harrow Point was lit in 1887.", "It was lit that year."
    assert quotes.differences(claim, quote, "Harrow Point in 1887") == ("number_differs",)


def test_a_dropped_hedge_makes_a_claim_stronger() -> None:
    assert quotes.stronger("It breaks keys.", "It may break keys.")
    assert not quotes.stronger("It might break keys.", "It may break keys.")
    assert not quotes.stronger("It may break keys.", "It breaks keys.")


def test_support_is_the_share_of_the_claim_s_words() -> None:
    assert quotes.share_supported("blue whales sing", "blue whales swim", "") == pytest.approx(
        2 / 3
    )
    assert quotes.share_supported("blue whales sing", "blue whales swim", "songs to sing") == 1
    assert quotes.share_supported("", "anything", "") == 0


def test_marks_of_lists_are_no_part_of_what_people_read() -> None:
    assert quotes.plain("1. Beat the\n   eggs.\n- Serve.") == "Beat the eggs. Serve."
