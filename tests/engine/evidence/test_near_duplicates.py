"""Rule D5: a page that stands on several sites is one source."""

import tracemalloc

import pytest

from research.engine.text.similarity import NearDuplicates, text_shingles

SENTENCES = [
    f"The {name} lamp of pier {number} was lit by keeper {name}{number} when fog came over the bay."
    for number, name in enumerate(("green", "white", "amber", "blue", "red", "violet"))
]
STORY = " ".join(SENTENCES)


def key(copies: NearDuplicates, sha: str, text: str) -> str:
    copies.add(sha, text, f"{sha}.example")
    return copies.key(sha, f"{sha}.example")


@pytest.mark.requirement("D5")
def test_a_near_copy_counts_as_the_page_that_was_there_first() -> None:
    copies = NearDuplicates()
    assert key(copies, "a", STORY) == "a.example"
    assert key(copies, "b", " ".join(SENTENCES[:5])) == "a.example"
    assert key(copies, "c", f"Our own words stand before it. {STORY} And others behind.") == (
        "a.example"
    )


@pytest.mark.requirement("D5")
def test_a_page_that_repeats_a_sentence_or_two_is_its_own_source() -> None:
    copies = NearDuplicates()
    key(copies, "a", STORY)
    own = " ".join(f"Harbour fee {n} of the town rose for boat {n} in year {n}." for n in range(9))
    assert key(copies, "b", f"{own} {SENTENCES[0]} {SENTENCES[1]}") == "b.example"


@pytest.mark.requirement("D5")
def test_short_pages_are_copies_only_where_they_are_the_same() -> None:
    copies = NearDuplicates()
    assert key(copies, "a", "The lamp was lit in 1887 by the keeper.") == "a.example"
    assert key(copies, "b", "The lamp was lit in 1887 by the keeper, she says.") == "b.example"
    copies.add("a", "The lamp was lit in 1887 by the keeper.", "z.example")
    assert copies.key("a", "z.example") == "a.example"


@pytest.mark.requirement("D5")
def test_which_page_came_first_does_not_depend_on_length() -> None:
    copies = NearDuplicates()
    assert key(copies, "short", " ".join(SENTENCES[:4])) == "short.example"
    assert key(copies, "long", STORY) == "short.example"


@pytest.mark.requirement("D5")
def test_the_same_words_in_another_order_are_another_page() -> None:
    """Four words in a row stand in both, five never do."""
    words = STORY.split()
    fours = [words[at : at + 4] for at in range(0, len(words), 4)]
    turned = " ".join(word for four in reversed(fours) for word in four)
    copies = NearDuplicates()
    key(copies, "a", STORY)
    assert key(copies, "b", turned) == "b.example"


def test_a_page_keeps_a_few_bytes_for_each_of_its_runs_of_words() -> None:
    texts = [" ".join(f"word{page}x{n}" for n in range(2_000)) for page in range(10)]
    copies = NearDuplicates()
    for text in texts:
        text_shingles(text)  # which are remembered for a while
    tracemalloc.start()
    for page, text in enumerate(texts):
        copies.add(f"page {page}", text, f"{page}.example")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 10 * len(texts) * 2_000
