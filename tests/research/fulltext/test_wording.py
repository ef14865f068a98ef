from research.fulltext.wording import NEIGHBOURS, SYNONYMS, TOGETHER, Wording

RARITY = {"page": 2.0, "cache": 4.0, "terminate": 3.0}


def worth(query: str, *passages: str) -> float:
    return Wording.of(query, RARITY).worth(passages)


def test_neighbours_that_stand_together_count_by_the_commoner_of_the_two():
    assert worth("the page cache", "A cache of pages is kept.") == 2.0 * NEIGHBOURS
    between = " ".join(["word"] * TOGETHER)
    assert worth("the page cache", f"A cache {between} of pages.") == 0


def test_a_synonym_counts_where_the_word_itself_is_missing():
    assert worth("terminate", "Who may abort it?") == 3.0 * SYNONYMS
    assert worth("terminate", "Who may terminate or abort it?") == 0


def test_the_passage_that_comes_nearest_counts():
    far, near = "A page. Nothing else.", "The page cache may be stopped."
    assert worth("terminate the page cache", far, near) == worth("terminate the page cache", near)
    assert worth("terminate the page cache") == 0


def test_words_that_are_not_searched_are_passed_over():
    assert worth("a page of what cache", "Page cache.") == 2.0 * NEIGHBOURS
