import pytest

from research.engine.extractive.matching import (
    DERIVED,
    SYNONYM,
    Question,
    Vocabulary,
    share_held,
    summed,
    synonyms,
)
from research.engine.text import term_set, terms

TEXTS = [
    term_set("The keeper removes the lamp."),
    term_set("A serialized form of the harbour register."),
    term_set("The lamp burns whale oil."),
]


def question(text: str) -> Question:
    return Question(terms(text), frozenset(), Vocabulary(TEXTS))


def test_a_word_stands_for_itself_a_derivation_in_part_and_a_synonym_for_half() -> None:
    vocabulary = Vocabulary(TEXTS)
    assert vocabulary.standing_for("lamp") == {"lamp": 1.0}
    assert vocabulary.standing_for("serializ") == {"serial": DERIVED}
    assert vocabulary.standing_for("delet") == {"remov": SYNONYM}


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    asked = question("lamp harbour")
    assert asked.weights[1] > asked.weights[0]


def test_the_share_of_a_question_is_whole_where_all_of_it_stands() -> None:
    asked = question("oil of the lamp")
    assert asked.share(asked.held(TEXTS[2])) == pytest.approx(1.0)
    assert 0 < asked.share(asked.held(TEXTS[0])) < 1
    assert asked.share(asked.held(TEXTS[1])) == 0


def test_a_subject_that_no_page_speaks_of_lowers_what_is_known() -> None:
    assert question("lamp oil").known_share == 1
    assert question("lamp zebra").known_share < question("lamp oil").known_share
    assert question("zebra giraffe").known_share == 0


def test_bm25_prefers_the_shorter_of_two_texts_with_the_same_words() -> None:
    asked = question("lamp")
    counts = asked.counted(["lamp"])
    assert asked.bm25(counts, 5, 10) > asked.bm25(counts, 40, 10)


def test_word_for_word_neither_derivations_nor_synonyms_count() -> None:
    asked = question("delete the lamp")
    assert asked.share(asked.held(TEXTS[0])) > 0.5
    assert asked.word_for_word(TEXTS[0]) == 1.0
    assert question("delete the zebra").word_for_word(TEXTS[0]) == 0.0


def test_the_sum_of_several() -> None:
    assert summed(({0: 1.0}, {0: 2.0, 3: 1.0})) == {0: 3.0, 3: 1.0}


def test_synonyms_go_both_ways() -> None:
    found = synonyms()
    assert all(word in found[other] for word, others in found.items() for other in others)


def test_a_compound_of_the_question_counts_as_one_word() -> None:
    asked = "Who sets the wind-up lamp?"
    assert share_held(asked, "The wind-up clock") == 1 / 3
    assert share_held(asked, "She sets the wind-up lamp.") == 1.0
    assert share_held("What is it?", "A lamp.") == 1.0
