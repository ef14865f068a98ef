import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.evidence import quotes
from research.engine.text.sentences import split_sentences

# --- span -----------------------------------------------------------------------------------

PROSE = st.lists(st.text("ab ", min_size=1, max_size=300).map(lambda s: s + "."), min_size=1)


@pytest.mark.requirement("F1")
@given(PROSE, st.lists(st.integers(0, 9), max_size=5))
def test_a_quote_is_never_longer_than_400_characters(parts: list[str], picked: list[int]) -> None:
    text = " ".join(parts)
    found = split_sentences(text)
    chosen = [found[n] for n in picked if n < len(found)]
    place = quotes.quote_span(chosen, text)
    if place is None:
        return
    start, end = place
    assert 0 < end - start <= quotes.MAX_QUOTE
    assert start == chosen[0].start
    assert not text[start:end].endswith(" ")


def test_neighbouring_sentences_make_one_quote_and_others_do_not() -> None:
    text = "One is here. Two is here. Three is here."
    one, two, three = split_sentences(text)
    assert quotes.quote_span([one, two], text) == (one.start, two.end)
    assert quotes.quote_span([one, three], text) == (one.start, one.end)
    assert quotes.quote_span([two, one], text) == (two.start, two.end)
    assert quotes.quote_span([], text) is None


def test_sentences_that_stand_apart_make_several_quotes() -> None:
    text = "One is here. Two is here. Three is here. Four is here. Five is here."
    one, two, three, four, five = split_sentences(text)
    apart = [one, two, four, one]
    spans = [(one.start, two.end), (four.start, four.end)]
    assert quotes.quote_spans(apart, text, 3) == spans
    assert quotes.quote_spans(apart, text, 1) == spans[:1]
    assert len(quotes.quote_spans([one, three, five], text, 2)) == 2
    claim = text[slice(*spans[-1])]
    assert quotes.quote_spans(apart, text, 1, claim=claim) == spans[-1:], "what tells the claim"
    assert quotes.quote_spans(apart, text, 3, claim=claim) == spans[-1:], "the others tell nothing"
    mills = "Mills are old. Barns are new. Mills have barns."
    mill, _, barn = split_sentences(mills)
    assert len(quotes.quote_spans([mill, barn], mills, 3, claim="Old mills have barns.")) == 2
    assert quotes.quote_spans([], text, 3) == []


def test_a_quote_by_section_ends_with_its_section() -> None:
    text = "# One\n\nOne is here.\n\n# Two\n\nTwo is here. Three is here."
    one, two, three = split_sentences(text)
    assert quotes.quote_spans([one, two, three], text, 3) == [(one.start, three.end)]
    spans = quotes.quote_spans([one, two, three], text, 3, by_section=True)
    assert spans == [(one.start, one.end), (two.start, three.end)]


def test_a_list_item_is_a_quote_of_its_own() -> None:
    text = "- Beat the eggs.\n- Melt the butter."
    one, two = split_sentences(text)
    assert quotes.quote_span([one, two], text) == (one.start, one.end)


def test_by_section_a_quote_has_the_items_of_a_list_with_what_leads_to_them() -> None:
    text = "They may:\n\n- Beat the eggs.\n- Melt the butter.\n\nThat is all.\n\n- Or so."
    lead, one, two, end, last = split_sentences(text)
    for chosen, until in (([lead, one, two], two), ([one, two], two), ([end, last], end)):
        assert quotes.quote_span(chosen, text, by_section=True) == (chosen[0].start, until.end)
    assert quotes.quote_span([one, last], text, by_section=True) == (one.start, one.end)


def test_a_long_sentence_is_cut_at_a_word() -> None:
    text = "word " * 200 + "end."
    place = quotes.quote_span(split_sentences(text), text)
    assert place is not None
    assert text[slice(*place)].endswith("word")
    assert place[1] - place[0] > quotes.MAX_QUOTE - 10


# --- plain ---------------------------------------------------------------------------------


def test_marks_of_lists_are_no_part_of_what_people_read() -> None:
    assert quotes.plain_quote("1. Beat the\n   eggs.\n- Serve.") == "Beat the eggs. Serve."


MANUAL = f"""NAME

       Both kinds of backup sets have the same format. {"They are kept in one folder. " * 14}
       When restoring, it applies patches in order, so deleting a full
       backup set may make later sets unusable.
"""


def test_a_passage_that_is_too_long_is_cut_to_what_tells_the_claim() -> None:
    [_, block] = split_sentences(MANUAL)
    assert block.end - block.start > quotes.MAX_QUOTE, "indented prose is one passage"
    claim = "Later sets may become unusable where a full backup set is deleted."
    [(start, end)] = quotes.quote_spans([block], MANUAL, 3, claim=claim)
    assert MANUAL[start:end].startswith("When restoring, it applies")
    assert MANUAL[start:end].endswith("may make later sets unusable.")
    [(start, end)] = quotes.quote_spans([block], MANUAL, 3)
    assert start == block.start and end - start <= quotes.MAX_QUOTE


@given(PROSE, st.lists(st.integers(0, 9), max_size=5), st.text("ab ", max_size=20))
def test_quotes_that_tell_a_claim_are_slices_of_their_sentences(
    parts: list[str], picked: list[int], claim: str
) -> None:
    text = " ".join(part.capitalize() for part in parts)
    found = split_sentences(text)
    chosen = [found[n] for n in picked if n < len(found)]
    for start, end in quotes.quote_spans(chosen, text, 3, claim=claim):
        assert 0 < end - start <= quotes.MAX_QUOTE
        assert any(each.start <= start < each.end for each in chosen)
        assert text[start:end] == text[start:end].strip()
