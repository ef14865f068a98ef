import string

from hypothesis import given
from hypothesis import strategies as st

from research.engine.text.sentences import split_sentences, with_parent_heading
from research.engine.text.tokens import normalise_space


def told(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


WORDS = st.text(string.ascii_letters + "äß中文", min_size=1, max_size=8)
ENDS = st.sampled_from([".", "!", "?", "…", ".”", "。", ":", ""])
SENTENCES = st.builds(lambda words, end: " ".join(words) + end, st.lists(WORDS, max_size=6), ENDS)
PARAGRAPHS = st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join)
BLOCKS = st.one_of(
    PARAGRAPHS,
    st.builds("{} {}".format, st.sampled_from(["#", "##", "######"]), SENTENCES),
    st.lists(SENTENCES, max_size=4).map(lambda items: "\n".join(f"- {i}" for i in items)),
    st.lists(SENTENCES, max_size=4).map(
        lambda items: "\n".join(f"{n}. {i}" for n, i in enumerate(items, 1))
    ),
    st.lists(SENTENCES, max_size=3).map(lambda lines: "\n".join(f"    {i}" for i in lines)),
    st.lists(SENTENCES, max_size=3).map(lambda cells: "\t".join(cells)),
    st.lists(SENTENCES, max_size=3).map(lambda lines: "```\n" + "\n".join(lines) + "\n```"),
    st.text(max_size=40),
)
PAGES = st.lists(BLOCKS, max_size=6).map("\n\n".join)


@given(PAGES)
def test_a_sentence_is_the_page_s_own_text_at_its_place(text: str) -> None:
    found = split_sentences(text)
    assert [sentence.number for sentence in found] == list(range(len(found)))
    reached = 0
    for sentence in found:
        assert reached <= sentence.start < sentence.end <= len(text)
        assert normalise_space(text[sentence.start : sentence.end]) == sentence.text != ""
        reached = sentence.end
        if sentence.label:
            start, end = sentence.label
            assert sentence.section.endswith(normalise_space(text[start:end]))


@given(st.lists(PARAGRAPHS, min_size=1, max_size=4))
def test_no_word_of_prose_is_lost(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs)
    assert " ".join(told(text)).split() == text.split()


def test_prose_is_cut_at_full_stops_and_stays_whole_within_abbreviations() -> None:
    text = "Dr. Ines Vale, e.g. in No. 4, took 3.5 hours. She wrote it down. J. R. Hart read it!"
    assert told(text) == [
        "Dr. Ines Vale, e.g. in No. 4, took 3.5 hours.",
        "She wrote it down.",
        "J. R. Hart read it!",
    ]


def test_a_german_ordinal_ends_no_sentence() -> None:
    text = "Am 8. Januar 2016 sank sie. Im 19. Jahrhundert fuhr Nr. 3 für ca. 5 Mark. Er war 9. Ja."
    assert told(text) == [
        "Am 8. Januar 2016 sank sie.",
        "Im 19. Jahrhundert fuhr Nr. 3 für ca. 5 Mark.",
        "Er war 9.",
        "Ja.",
    ]


def test_a_full_stop_before_a_small_letter_ends_nothing() -> None:
    assert told("The file os. path is read. It ends.") == ["The file os. path is read.", "It ends."]


def test_quotes_and_brackets_belong_to_the_sentence_they_close() -> None:
    assert told("He said “Go.” (They went.) Then rain fell.") == [
        "He said “Go.”",
        "(They went.)",
        "Then rain fell.",
    ]


def test_each_list_item_is_a_sentence_without_its_mark() -> None:
    text = "Steps:\n\n1. Beat the eggs.\n2. Melt the butter\n   in a pan.\n- Serve."
    found = split_sentences(text)
    assert [(s.kind, s.text) for s in found] == [
        ("prose", "Steps:"),
        ("item", "Beat the eggs."),
        ("item", "Melt the butter in a pan."),
        ("item", "Serve."),
    ]
    assert len({s.block for s in found}) == 4


def test_headings_are_sections_and_terms_are_labels() -> None:
    text = "# Guide\n\nFirst.\n\n###### timeout\n\nSeconds to wait.\n\n## Next\n\nLast."
    first, defined, last = split_sentences(text)
    assert (first.section, defined.section, last.section) == ("Guide", "Guide › timeout", "Next")
    assert first.label is None and last.label is None
    assert defined.label is not None
    assert text[slice(*defined.label)] == "timeout"


def test_code_and_rows_are_not_cut() -> None:
    text = "    x = 1. Y\n    z. W\n\nName. A\tValue. B\n\nProse. More."
    assert [(s.kind, s.text) for s in split_sentences(text)] == [
        ("code", "x = 1. Y z. W"),
        ("row", "Name. A Value. B"),
        ("prose", "Prose."),
        ("prose", "More."),
    ]


def test_what_stands_between_fences_is_code_and_no_heading() -> None:
    text = "Before.\n\n```\n# not a heading\nrun. now\n```\n\nAfter."
    assert [(s.kind, s.section) for s in split_sentences(text)] == [
        ("prose", ""),
        ("code", ""),
        ("prose", ""),
    ]


def test_ideographic_full_stops_need_no_space() -> None:
    assert told("灯台は白い。塔は高い。「行く。」と言った。") == [
        "灯台は白い。",
        "塔は高い。",
        "「行く。」",
        "と言った。",
    ]


def test_an_empty_page_has_no_sentences() -> None:
    assert split_sentences("") == () == split_sentences("\n\n# Heading\n")


def test_a_section_stands_behind_the_heading_that_it_is_part_of() -> None:
    text = (
        "# Manual\n\n## Chat\n\nTalk.\n\n### Ports\n\nOpen 5222.\n\n###### port\n\nThe port.\n\n"
        "## Mail\n\n### Ports\n\nOpen 25.\n\n#### Ports\n\nNone."
    )
    told = [with_parent_heading(text, each.start, each.section) for each in split_sentences(text)]
    assert told == [
        "Chat", "Chat › Ports", "Chat › Ports › port", "Mail › Ports", "Ports",
    ]  # fmt: skip
    assert with_parent_heading("No heading.", 0, "") == ""
